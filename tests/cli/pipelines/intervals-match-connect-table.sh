# SPDX-License-Identifier: Apache-2.0
# intervals.mk writes the numbers of connect.mk's table with intervals for each pair; a second run does nothing.
set -- PAIRS='1:2 3:4' TRAIN_IMAGES=256 EVAL_FLAGS='--bn-samples 64 --bn-plain'
graph connect "$@"
expect_programs 'mc-bootstrap2 mc-eval4 ' intervals "$@"
expect_programs '' intervals "$@"
py <<'END'
import csv
def rows(name):
    return list(csv.DictReader(open(name), delimiter="\t"))
for pair in "1-2", "3-4":
    table = {r["path"]: r for r in rows(f"out/{pair}/table.tsv")}
    here = [r for r in rows("out/intervals.tsv") if r["pair"] == pair]
    assert len(here) == 12 and all(r["data"] == "test" for r in here)
    for r in here:
        assert abs(float(r["aligned"]) - float(r["unaligned"]) - float(r["difference"])) <= 2e-4
        assert float(r["difference_low"]) <= float(r["difference_high"]), r
        column = {"arc_mean": "arc_mean", "min": "minimum"}.get(r["figure"])
        if r["quantity"] == "accuracy" and column:
            for way in "unaligned", "aligned":
                assert abs(float(r[way]) - float(table["curve-" + way][column])) <= .0051, (r, table)
END
expect_programs 'mc-bootstrap2 ' intervals "$@" BOOTSTRAP_FLAGS='--level .5'

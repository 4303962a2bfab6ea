# SPDX-License-Identifier: Apache-2.0
# connect.mk with several pairs writes mean and deviation over them; adding or removing a pair rebuilds only these tables.

fixture pairs
py <<'P'
import csv, glob, statistics
def rows(name):
    return list(csv.DictReader(open(name), delimiter="\t"))
def check(row, column, values, digits):
    for name, want in (column, statistics.mean(values)), (column + "_sd", statistics.stdev(values)):
        assert abs(float(row[name]) - want) <= 0.5000001 * 10**-digits, (row, name, want)
pairs = ["1-2", "1-3", "2-3"]
table = rows("out/table.tsv")
assert [r["path"] for r in table] == ["line-unaligned", "curve-unaligned", "line-aligned", "curve-aligned"]
varied = 0
for r in table:
    assert (r["network"], r["data"], r["pairs"]) == ("mlp:bn,8", "synth", "3"), r
    summary = [{(s["data"], s["quantity"]): s for s in rows(f"out/{p}/{r['path']}.summary.tsv")} for p in pairs]
    accuracy = [{k: float(v) for k, v in s["test", "accuracy"].items() if k not in ("data", "quantity")} for s in summary]
    for column, name in ("end_a", "first"), ("end_b", "last"), ("arc_mean", "arc_mean"), ("minimum", "min"), ("at_t", "min_t"):
        check(r, column, [a[name] for a in accuracy], 2)
    first, last = ([a[k] for a in accuracy] for k in ("first", "last"))
    assert abs(float(r["ends"]) - statistics.mean(first + last)) <= .00501, r
    assert abs(float(r["ends_sd"]) - (statistics.variance(first) + statistics.variance(last)) ** .5 / 2) <= .00501, r
    for data in "test", "train":
        check(r, f"barrier_{data}_loss", [float(s[data, "loss"]["barrier"]) for s in summary], 4)
    varied += float(r["arc_mean_sd"]) > 0
assert varied == 4
training = {r["training"]: r for r in rows("out/training.tsv")}
logs = {"network": glob.glob("out/net-*.log.json")}
for kind in "curve-unaligned", "curve-aligned":
    logs[kind] = [f"out/{p}/{kind}.log.json" for p in pairs]
assert list(training) == list(logs)
for kind, names in logs.items():
    last = [[e for e in map(json.loads, open(n)) if e["event"] == "epoch"][-1] for n in names]
    assert (training[kind]["runs"], training[kind]["epochs"]) == ("3", "1")
    for column in "objective", "loss", "decay":
        check(training[kind], column, [e[column] for e in last], 4)
P
for f in path signature training; do svg_texts out/$f.svg | grep -q 'n = 3' || die "$f is not of three"; done
svg_texts out/path.svg | grep -q 'seeds 1–2, 1–3, 2–3'
# a pair removed, a pair added: only the tables and pictures of all pairs are rebuilt
cp -R out before
jobs() { { grep -o '^mc-[a-z]*\|^\(env [^>]* \)\?[^ ]*/tables [a-z]*' log || true; } | sed 's,.*/,,' | sort | uniq -c | awk '{ printf "%s ", $1 $2 $3 }'; }
bin=$MC_BUILD/bin # draws the pictures
pairs PAIRS='1:2 1:3'
expect_equal "$(jobs)" '6mc-plot 1tablesjoined 1tablespaths 1tablespointwise 1tablessaved 1tablestraining '
svg_texts out/path.svg | grep -q 'n = 2'
pairs PAIRS='1:2 1:3 2:3'
for f in table.tsv training.tsv path.svg signature.svg; do same before/$f out/$f; done
unset bin
pairs PAIRS='1:2'
expect_equal "$(awk -F '\t' 'NR > 1 { for (i = 6; i <= NF; i += 2) printf "%s", $i; n += NF } END { print n }' out/table.tsv)" 88
pairs PAIRS='1:2'
expect_equal "$(jobs)" ''
# the paper's tables derived from it
"$MC_ROOT/pipelines/paper/pages.py" tables accuracy out >md
expect_equal "$(grep -c '^| \(\*\*mlp:bn,8\*\*\|unaligned\|aligned\) | [0-9.]* |' md)" 3

# SPDX-License-Identifier: Apache-2.0
# pam.mk: the loss in training is that of the last curve epoch; connect.mk leaves the rows, and tables.sh takes them.
fixture pam_graph

py <<'END'
import csv
rows = {r["training"]: r for r in csv.DictReader(open("out/training.tsv"), delimiter="\t")}
assert list(rows) == ["network", "curve-unaligned", "curve-aligned", "curve-pam-unaligned", "curve-pam-aligned"], rows
for name in "unaligned", "aligned":
    log = [json.loads(l) for l in open("out/1-2/curve-pam-%s.log.json" % name)]
    last = [e for e in log if e["event"] == "epoch"][-1]
    row = rows["curve-pam-" + name]
    assert last["epoch"] == 8 and (row["runs"], row["epochs"]) == ("1", "2"), (last, row)
    assert abs(float(row["objective"]) - last["objective"]) <= 0.50001e-4, (last, row)
END
cp out/training.tsv before.tsv
graph connect DATA_FLAGS='--size 8' CURVE_EPOCHS=2
same out/training.tsv before.tsv
for what in accuracy loss; do
    is "$("$MC_ROOT/pipelines/tables.sh" -f tsv $what out | cut -f 3 | paste -sd ' ')" 'curve unaligned pam-unaligned pam-aligned aligned'
done
# a step of permutations alone has no curve epoch
table() { awk -v network=n -v data=d -f "$MC_ROOT/pipelines/spread.awk" -f "$MC_ROOT/pipelines/training.awk" name=x "$@" | sed 1d | cut -f 4-6; }
grep -v iteration out/1-2/curve-pam-aligned.log.json | sed '/permutation/q' >steps.json
is "$(table steps.json)" ''
sed '/iteration/q' out/1-2/curve-pam-aligned.log.json >steps.json
is "$(table steps.json)" "1	2	$(grep '"epoch":4,' steps.json | sed 's/.*"objective":\([0-9.]*\).*/\1/' | awk '{ printf "%.4f", $1 }')"

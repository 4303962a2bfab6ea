# SPDX-License-Identifier: Apache-2.0
# pam.mk adds the objective of each curve's last epoch to training.tsv; connect.mk keeps these rows.
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
# rows that another experiment removed come back
grep -v pam- before.tsv >out/training.tsv
expect_programs '' pam DATA_FLAGS='--size 8' CURVE_EPOCHS=2 PERMUTATION_EPOCHS=2 \
    PAM_FLAGS='--outer 2 --permutation-lr 1 --select-images 256'
same out/training.tsv before.tsv
for what in accuracy loss; do
    expect_equal "$("$MC_ROOT/pipelines/paper/pages.py" tables -f tsv $what out | cut -f 3 | paste -sd ' ')" 'curve unaligned pam-unaligned pam-aligned aligned'
done
# a permutation step alone has no curve epoch
table() { NET=n DATA=d tables training "$@" | sed 1d | cut -f 4-6; }
grep -v iteration out/1-2/curve-pam-aligned.log.json | sed '/permutation/q' >steps.json
expect_equal "$(table steps.json)" ''
sed '/iteration/q' out/1-2/curve-pam-aligned.log.json >steps.json
expect_equal "$(table steps.json)" "1	2	$(grep '"epoch":4,' steps.json | sed 's/.*"objective":\([0-9.]*\).*/\1/' | awk '{ printf "%.4f", $1 }')"

# SPDX-License-Identifier: Apache-2.0
# mc-eval's table, JSON and summary of a curve agree.
fixture three

e="mc-eval -q --data d.mcz --data held=test.mcz --bn-data d.mcz --points 3 -t 2"
$e --summary s.tsv line.mcz -o line.tsv
$e line.mcz | same - line.tsv
expect_equal "$(sed -n 1p line.tsv)" "$(printf 't\ttrain.loss\ttrain.accuracy\theld.loss\theld.accuracy')"
expect_equal "$(column line.tsv t | paste -sd ' ')" '0 0.5 1'
$e --json line.mcz | python3 -c '
import json, sys
o = json.load(sys.stdin)
rows = [l.rstrip("\n").split("\t") for l in open("line.tsv")]
for p, row in zip(o["points"], rows[1:]):
    row = [float(x) for x in row]
    got = [p["t"], p["train"]["loss"], p["train"]["accuracy"], p["held"]["loss"], p["held"]["accuracy"]]
    assert all(abs(a - b) < 1e-4 for a, b in zip(row, got)), (row, got)
    assert p["train"]["images"] == 700 and p["held"]["images"] == 333
s = {tuple(l.split("\t")[:2]): [float(x) for x in l.split("\t")[2:]] for l in list(open("s.tsv"))[1:]}
assert sorted(s) == [(d, q) for d in ("held", "train") for q in ("accuracy", "loss")]
for (data, q), v in s.items():
    j = o["summary"][data][q]
    loss = [p[data][q] for p in o["points"]]
    sign = 1 if q == "loss" else -1
    assert abs(v[0] - loss[0]) < 1e-3 and abs(v[1] - loss[2]) < 1e-3
    assert abs(v[2] - sum(loss) / 3) < 1e-3, (v, loss)
    assert abs(v[3] - (loss[0] / 4 + loss[1] / 2 + loss[2] / 4)) < 1e-3   # a straight line: equal chords
    assert abs(v[4] - min(loss)) < 1e-3 and abs(v[6] - max(loss)) < 1e-3
    assert abs(v[8] - max(0, sign * (loss[1] - (loss[0] + loss[2]) / 2))) < 1e-3
    assert v[9] == (.5 if v[8] > 0 else 0) and j["barrier_t"] == v[9]
    assert abs(j["barrier"] - v[8]) < 1e-3 and abs(j["arc_mean"] - v[3]) < 1e-3
'

# SPDX-License-Identifier: Apache-2.0
# mc-eval --plane of a curve contains its ends and its middle; the JSON equals the table.
fixture three
data="--data d.mcz --data held=test.mcz --bn-data d.mcz -t 2"

e="mc-eval -q --plane --grid 5 $data"
$e curve.mcz --points 5 --marks marks.tsv -o plane.tsv
[ "$(column marks.tsv name | paste -sd ' ')" = 't = 0 t = 1 t = 0.5 0 0.25 0.5 0.75 1' ]
awk -F '\t' '$2 == "t = 0.5" { y = $4; x = $3 } $1 == "path" && $2 == .5 { if ($3 != x || $4 != y || y <= 0) exit 1; n++ }
    NR > 1 && $5 != 0 { exit 1 } END { if (n != 1) exit 1 }' marks.tsv || die "the curve is not in its plane: $(cat marks.tsv)"
$e --x-range 0:1 --y-range 0:1 --grid 2 curve.mcz | sed -n 2,3p | cut -f 3- >ends
mc-eval --points 2 $data curve.mcz | sed 1d | cut -f 2- | same - ends
$e --json curve.mcz --points 5 | python3 -c '
import json, sys
o = json.load(sys.stdin)
rows = [[float(x) for x in l.split("\t")] for l in list(open("plane.tsv"))[1:]]
assert o["kind"] == "plane" and len(o["points"]) == len(rows) == 25
for p, row in zip(o["points"], rows):
    got = [p["x"], p["y"], p["train"]["loss"], p["train"]["accuracy"], p["held"]["loss"], p["held"]["accuracy"]]
    assert all(abs(a - b) < 1e-4 for a, b in zip(row, got)), (row, got)
marks = [l.rstrip("\n").split("\t") for l in list(open("marks.tsv"))[1:]]
assert [[m["mark"], m["name"]] for m in o["marks"]] == [m[:2] for m in marks]
assert all(abs(m["x"] - float(r[2])) < 1e-6 for m, r in zip(o["marks"], marks))
'

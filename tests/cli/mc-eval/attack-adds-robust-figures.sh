# SPDX-License-Identifier: Apache-2.0
# mc-eval --attack adds robust figures, keeps the bytes of the clean ones, and agrees with its JSON and summary.
fixture attacked
e="mc-eval -q --data d.mcz --data held=test.mcz --bn-data d.mcz --points 3 --batch 64 -t 1"

$e line.mcz -o clean.tsv
$e --attack $attack --summary s.tsv line.mcz -o robust.tsv
[ "$(head -n 1 robust.tsv | cut -f 6-)" = \
    "$(printf 'train.robust.loss\ttrain.robust.accuracy\theld.robust.loss\theld.robust.accuracy')" ]
cut -f 1-5 robust.tsv | same - clean.tsv
awk -F '\t' 'NR > 1 && !($6 > $2 && $8 > $4 && $7 <= $3 && $9 <= $5) { exit 1 }' robust.tsv ||
    die "the attack helps: $(cat robust.tsv)"
[ "$(cut -f 1 s.tsv | uniq | paste -sd ' ')" = 'data train held train.robust held.robust' ]
for d in train held; do
    for q in loss accuracy; do
        awk -F '\t' -v d=$d.robust -v q=$q '$1 == d && $2 == q { printf "%.3f %.3f\n", $3, $4 }' s.tsv |
            same - <(column robust.tsv $d.robust.$q | sed '2d' | xargs printf '%.3f %.3f\n')
    done
done
# a point's figures do not depend on other points
$e --points 5 --attack $attack line.mcz | sed -n '2p;4p;6p' | same - <(sed 1d robust.tsv)
$e --json --attack $attack line.mcz | python3 -c '
import json, sys
o = json.load(sys.stdin)
assert o["attack"].startswith("pgd:eps=0.0156862745,step=0.00784313725,steps=2,"), o["attack"]
assert o["bn_attack"] is False
rows = [[float(x) for x in l.split("\t")] for l in list(open("robust.tsv"))[1:]]
for p, row in zip(o["points"], rows):
    got = [p[d][q] for d in ("train", "held", "train.robust", "held.robust") for q in ("loss", "accuracy")]
    assert all(abs(a - b) < 1e-4 for a, b in zip(row[1:], got)), (row, got)
    assert p["held.robust"]["images"] == 150 and p["held.robust"]["loss_se"] > 0
assert set(o["summary"]) == {"train", "held", "train.robust", "held.robust"}
'
mc-plot path --data held.robust robust.tsv -o robust.svg
grep -q 'held.robust' robust.svg

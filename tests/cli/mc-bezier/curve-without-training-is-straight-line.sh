# SPDX-License-Identifier: Apache-2.0
# Without training, curves with and without a control point and chains are the same straight line.
fixture curves

mc-bezier --epochs 0 --control-points 0 n1.mcz n2.mcz -o bare.mcz
mc-bezier --epochs 0 --chain --control-points 3 n1.mcz n2.mcz -o chain.mcz
for c in line bare chain; do
    mc-eval -q --data test.mcz --data d.mcz --bn-data d.mcz -t 2 --points 5 $c.mcz -o $c.tsv
done
for q in test.loss test.accuracy train.loss; do
    paste <(column line.tsv $q) <(column bare.tsv $q) <(column chain.tsv $q)
done | awk '{ a = $1 - $2; b = $1 - $3; if (a * a > 1e-6 || b * b > 1e-6) exit 1 } END { exit NR != 15 }' ||
    die "straight lines differ: $(paste line.tsv bare.tsv chain.tsv)"

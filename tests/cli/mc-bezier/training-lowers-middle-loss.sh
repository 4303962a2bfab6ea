# SPDX-License-Identifier: Apache-2.0
# Training a curve lowers the training loss at its middle; its ends stay the networks.
fixture curves

e="mc-eval -q --data test.mcz --data d.mcz --bn-data d.mcz -t 2"
for c in line curve; do $e --points 3 $c.mcz -o $c.tsv; done
middle_loss() { column "$1" train.loss | sed -n 2p; }
awk -v a="$(middle_loss line.tsv)" -v b="$(middle_loss curve.tsv)" 'BEGIN { exit !(b < a) }' ||
    die "the curve is not better: $(middle_loss line.tsv) $(middle_loss curve.tsv)"
# the networks' own figures, with statistics estimated in the same way
$e n1.mcz n2.mcz >nets.tsv
for c in line curve; do same <(column $c.tsv test.loss | sed -n '1p;3p') <(column nets.tsv test.loss); done

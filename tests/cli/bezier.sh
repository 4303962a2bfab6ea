# SPDX-License-Identifier: Apache-2.0
# mc-bezier: its ends are the networks, its straight line is straight, its points are what they should
# be, and training lowers the loss at the middle.
. "$MC_ROOT/tests/cli/lib.bash"

mc-data synth --samples 768 --seed 3 -o d.mcz
mc-data synth --split test --samples 500 --seed 3 -o test.mcz
for s in 1 2; do
    mc-train --net $net --data d.mcz --epochs 3 --schedule onecycle --seed $s -t 2 -o n$s.mcz
done
mc-bezier --epochs 0 n1.mcz n2.mcz -o line.mcz
mc-bezier --epochs 0 --control-points 0 n1.mcz n2.mcz -o bare.mcz
mc-bezier --epochs 0 --chain --control-points 3 n1.mcz n2.mcz -o chain.mcz
curve() { mc-bezier --data d.mcz --epochs 4 --lr 0.05 --schedule onecycle -t 2 n1.mcz n2.mcz "$@"; }
curve -o curve.mcz
curve >again.mcz
same curve.mcz again.mcz
curve --chain --control-points 2 --seed 9 -o chain2.mcz
mc-info --check line.mcz bare.mcz chain.mcz curve.mcz chain2.mcz

e="mc-eval --data test.mcz --data d.mcz --bn-data d.mcz -t 2"
for c in line bare chain curve; do $e --points 5 --summary $c.summary $c.mcz >$c.tsv; done
# three ways to the straight line
for q in test.loss test.accuracy train.loss; do
    paste <(column line.tsv $q) <(column bare.tsv $q) <(column chain.tsv $q)
done | awk '{ a = $1 - $2; b = $1 - $3; if (a * a > 1e-6 || b * b > 1e-6) exit 1 }' ||
    die "straight lines differ: $(paste line.tsv bare.tsv chain.tsv)"
# training helps at the middle, on the data trained on
mid() { column "$1" train.loss | sed -n 3p; }
awk -v a="$(mid line.tsv)" -v b="$(mid curve.tsv)" 'BEGIN { exit !(b < a) }' ||
    die "the curve is no better: $(mid line.tsv) $(mid curve.tsv)"
# the ends of all are the same, and what the networks give with statistics estimated likewise
$e n1.mcz n2.mcz >nets.tsv
for c in line chain curve; do
    same <(column $c.tsv test.loss | sed -n '1p;5p') <(column nets.tsv test.loss)
done
# a point taken out gives what the curve gave there
mc-bezier --point 1/4 --bn-data d.mcz -t 2 curve.mcz -o quarter.mcz
mc-eval --data test.mcz -t 2 quarter.mcz >quarter.tsv
paste <(column quarter.tsv test.loss) <(column curve.tsv test.loss | sed -n 2p) |
    awk '{ d = ($1 - $2) / $2; exit !(d * d < 1e-8) }' || die 'the point differs from the curve'
mc-bezier --point 0 --bn-data d.mcz -t 2 curve.mcz -o first.mcz
fails 2 'needs --bn-data' mc-bezier --point .5 curve.mcz -o no.mcz
fails 2 'not a number' mc-bezier --point 1.5 --bn-data d.mcz curve.mcz -o no.mcz
fails 2 'has no effect with --point' mc-bezier --point .5 --control-points 2 --bn-data d.mcz curve.mcz -o no.mcz
fails 2 '--bn-data has no effect without --point' mc-bezier --epochs 0 --bn-data d.mcz n1.mcz n2.mcz -o no.mcz
fails 3 'is a weights stream' mc-bezier --point .5 --bn-data d.mcz n1.mcz -o no.mcz
no_temporaries

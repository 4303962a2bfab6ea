# SPDX-License-Identifier: Apache-2.0
# mc-bezier refuses wrong options and inputs that do not fit.
samples=$MC_ROOT/formats/samples
d=$samples/good-dataset.mcz w=$samples/good-weights.mcz

t="mc-train -q --data $d --no-augment --epochs 0"
$t --net mlp:bn,4 -o n.mcz
mc-bezier -q --epochs 0 n.mcz n.mcz -o c.mcz
fails 2 'requires --bn-data FILE.mcz' mc-bezier --point .5 c.mcz
fails 2 'not a number' mc-bezier --point 1.5 --bn-data $d c.mcz
fails 2 'has no effect with --point' mc-bezier --point .5 --control-points 2 --bn-data $d c.mcz
fails 2 '--bn-data has no effect without --point' mc-bezier --epochs 0 --bn-data $d $w $w
fails 3 'expected, got weights' mc-bezier --point .5 --bn-data $d $w
fails 2 'missing: operand B.mcz' mc-bezier --data $d $w
fails 2 'missing: --data FILE.mcz' mc-bezier $w $w
$t --net mlp:8 -o a.mcz
$t --net mlp:9 -o other.mcz
$t --net mlp:8 --no-normalise -o raw.mcz
fails 3 'different networks' mc-bezier --data $d a.mcz other.mcz
fails 3 'a.mcz and raw.mcz: different networks (mlp:8, mlp:8): node "normalise" has a different "mean"' mc-bezier --data $d a.mcz raw.mcz
# data that are named but not needed
mc-bezier --epochs 0 a.mcz a.mcz -o plain.mcz
fails 1 "cannot open 'none.mcz'" mc-bezier --point .5 --bn-data none.mcz plain.mcz
fails 1 "cannot open 'none.mcz'" mc-bezier --epochs 0 --data none.mcz a.mcz a.mcz
# without a control point there is nothing to train
for option in "data=$d" epochs=3 lr=.1 momentum=.5 checkpoint=ck samples=9 attack=pgd; do
    fails 2 "--${option%%=*} has no effect with --control-points 0" mc-bezier --control-points 0 --$option a.mcz a.mcz
done
mc-bezier --control-points 0 --chain --epochs 0 a.mcz a.mcz -o straight.mcz

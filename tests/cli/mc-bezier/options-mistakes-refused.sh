# SPDX-License-Identifier: Apache-2.0
# mc-bezier refuses wrong options and inputs that do not fit. It pins the wording of its messages.
samples=$MC_ROOT/formats/samples
d=$samples/good-dataset.mcz w=$samples/good-weights.mcz

t="mc-train -q --data $d --no-augment --epochs 0"
$t --net mlp:bn,4 -o n.mcz
mc-bezier -q --epochs 0 n.mcz n.mcz -o c.mcz
fails_with 2 '--point of a curve with batch norm requires --bn-data FILE.mcz: it has no statistics' mc-bezier --point .5 c.mcz
fails_with 2 "--point: '1.5' is not a number from 0 to 1" mc-bezier --point 1.5 --bn-data $d c.mcz
fails_with 2 '--control-points has no effect with --point' mc-bezier --point .5 --control-points 2 --bn-data $d c.mcz
fails_with 2 '--bn-data has no effect without --point' mc-bezier --epochs 0 --bn-data $d $w $w
fails_with 3 "$w: curve expected, got weights: run mc-bezier first" mc-bezier --point .5 --bn-data $d $w
fails_with 2 'missing: operand B.mcz (see --help)' mc-bezier --data $d $w
fails_with 2 'missing: --data FILE.mcz (or --epochs 0 for the straight line) (see --help)' mc-bezier $w $w
$t --net mlp:8 -o a.mcz
$t --net mlp:9 -o other.mcz
$t --net mlp:8 --no-normalise -o raw.mcz
fails_with 3 'a.mcz and other.mcz: different networks (mlp:8, mlp:9): node "layers.0.linear" has a different "out"' mc-bezier --data $d a.mcz other.mcz
fails_with 3 'a.mcz and raw.mcz: different networks (mlp:8, mlp:8): node "normalise" has a different "mean"' mc-bezier --data $d a.mcz raw.mcz
# data that are named but not needed
mc-bezier --epochs 0 a.mcz a.mcz -o plain.mcz
fails_with 1 "cannot open 'none.mcz': No such file or directory" mc-bezier --point .5 --bn-data none.mcz plain.mcz
fails_with 1 "cannot open 'none.mcz': No such file or directory" mc-bezier --epochs 0 --data none.mcz a.mcz a.mcz
# without a control point there is nothing to train
for option in "data=$d" epochs=3 lr=.1 momentum=.5 checkpoint=ck samples=9 attack=pgd; do
    fails_with 2 "--${option%%=*} has no effect with --control-points 0" mc-bezier --control-points 0 --$option a.mcz a.mcz
done
mc-bezier --control-points 0 --chain --epochs 0 a.mcz a.mcz -o straight.mcz

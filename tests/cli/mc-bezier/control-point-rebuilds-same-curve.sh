# SPDX-License-Identifier: Apache-2.0
# mc-bezier --inner writes the control point as weights, and --start rebuilds the same curve from it or continues training.
fixture three

mc-bezier --inner curve.mcz -o inner.mcz
mc-bezier --epochs 0 --start inner.mcz n1.mcz n2.mcz -o again.mcz
expect_equal "$(id again.mcz)" "$(id curve.mcz)"
py <<'END'
inner, curve = mcz.read("inner.mcz"), mcz.read("curve.mcz")
for name in curve.tensors:
    if name.startswith("1/"):
        assert (inner.tensors[name[2:]] == curve.tensors[name]).all(), name
END
train="mc-bezier -q --data d.mcz --samples 64 --batch 32 --epochs 2 -t 1 n1.mcz n2.mcz"
$train --start inner.mcz -o on.mcz --checkpoint c
$train -o line.mcz
different_content on.mcz line.mcz
fails 3 'start' $train --start n1.mcz -o other.mcz --checkpoint c --resume
fails 3 'c: ' $train -o other.mcz --checkpoint c --resume

mc-bezier -q --epochs 0 --control-points 0 n1.mcz n2.mcz -o straight.mcz
fails 3 'straight.mcz: --inner requires*bezier curve*3 points*got*bezier curve*2 points' mc-bezier --inner straight.mcz
fails 2 'one control point' mc-bezier --epochs 0 --control-points 2 --start inner.mcz n1.mcz n2.mcz
fails 2 'one control point' mc-bezier --epochs 0 --chain --start inner.mcz n1.mcz n2.mcz
fails 2 '--start*no effect*with --inner' mc-bezier --inner --start inner.mcz curve.mcz
fails 2 '--inner*--point*combined' mc-bezier --inner --point .5 curve.mcz
mc-train -q --net mlp:8 --data d.mcz --epochs 0 -o stranger.mcz
fails 3 'different networks' mc-bezier --epochs 0 --start stranger.mcz n1.mcz n2.mcz

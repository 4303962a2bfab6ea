# SPDX-License-Identifier: Apache-2.0
# A checkpoint stores f16's loss scale and its number of steps, so that a resumed run doubles it after 2,000 steps in
# total. Other precisions have no loss scale.
require_emulation

mc-data synth --samples 128 --size 8 -o d.mcz
t="mc-train -q --net mlp:4 --data d.mcz --batch 2 --epochs 33 --lr 1e-4 --device cuda"
scale() { py <<<"print(*mcz.read('$1').tensors['plan'].tolist())"; }
$t --precision f16 --stop-after 31 --checkpoint c.state -o part.mcz
expect_equal "$(scale c.state)" '1024.0 1984.0'
$t --precision f16 --checkpoint c.state --resume -o resumed.mcz
expect_equal "$(scale c.state)" '2048.0 112.0'
$t --precision f16 -o whole.mcz
same resumed.mcz whole.mcz
$t --precision bf16 --epochs 1 --checkpoint b.state -o b.mcz
py <<<'assert "plan" not in mcz.read("b.state").tensors'

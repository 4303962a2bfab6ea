# SPDX-License-Identifier: Apache-2.0
# By default a rerun writes the same bytes. --deterministic no allows sums in any order, and a checkpoint records it.
require_emulation

mc-data synth --samples 64 -o d.mcz
t="mc-train --net resnet:8,4 --data d.mcz --batch 32 --epochs 1 --device cuda"
for i in 1 2; do
    $t -o default-$i.mcz
    $t --deterministic no -o any-$i.mcz
done
$t --deterministic yes -o yes.mcz
same default-1.mcz default-2.mcz
same default-1.mcz yes.mcz
# the emulated device's order is wrong in the same way in every run
! cmp -s default-1.mcz any-1.mcz || die '--deterministic no changes nothing'
$t -v --deterministic no -o any-3.mcz 2>log
grep -q 'any-order' log || die "$(cat log)"
$t --checkpoint c.state -o x.mcz
fails 3 'c.state:*made without deterministic no*run' $t --deterministic no --checkpoint c.state --resume -o y.mcz

# SPDX-License-Identifier: Apache-2.0
# On a device that cannot repeat captured steps, a program runs them one by one: the same bytes, and one warning. On the
# emulated device.
require_emulation

mc-data synth --samples 64 -o d.mcz
t="mc-train -q --net mlp:8 --data d.mcz --batch 16 --epochs 3 --device cuda"
$t -o repeated.mcz 2>err
[ ! -s err ] || die "$(cat err)"
for where in begin work end instantiate upload; do
    MC_EMULATION_CAPTURE=$where $t -o direct.mcz 2>err
    [ "$(wc -l <err)" = 1 ] && grep -q '^mc-train: warning: slower than possible: .*steps not captured: ' err || die "$where: $(cat err)"
    same direct.mcz repeated.mcz
done

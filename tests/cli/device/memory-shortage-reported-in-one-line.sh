# SPDX-License-Identifier: Apache-2.0
# A device without enough memory: one line that says how much is needed and free, exit status 1, and what was
# there stays as it was, wherever it happens. On the emulated device.
require_emulation

mc-data synth --samples 2000 -o d.mcz
t="mc-train --net mlp:64 --data d.mcz --device cuda --epochs 1 --checkpoint w.checkpoint --log-json w.json -o w.mcz"
echo before >w.mcz
cp w.mcz was.mcz

for mib in 8 {32..64..2}; do
    export MC_EMULATION_MEMORY=$((mib << 20))
    ! $t -q 2>err || break
    fails 1 "of $mib MiB are free" $t
    sed -nE 's/^mc-train: cuda:0: out of memory: (.*) needs [0-9]+ (bytes|MiB), [0-9]+ (bytes|MiB) of [0-9]+ MiB are free/\1/p' \
        err.fails >>happened
    same w.mcz was.mcz
    no_temporaries
    [ ! -e w.checkpoint ] || die 'a checkpoint of a run that did not begin'
    [ ! -e w.json ] || die 'a log of a run that did not begin'
done
# when the device was opened, by the plan, by the images; and not with enough
sort -u happened | tr '\n' , | grep -qx 'a buffer,a plan,cuBLAS,partial sums,' || die "$(cat happened)"
mc-info --check w.mcz

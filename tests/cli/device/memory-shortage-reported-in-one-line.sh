# SPDX-License-Identifier: Apache-2.0
# If device memory runs out anywhere, a program prints one line with the required and free memory, exits with status 1, and
# leaves old files unchanged. On the emulated device.
require_emulation

mc-data synth --samples 2000 -o d.mcz
t="mc-train --net mlp:64 --data d.mcz --device cuda --epochs 1 --checkpoint w.checkpoint --log-json w.json -o w.mcz"
echo before >w.mcz
cp w.mcz was.mcz

for mib in 8 {32..64..2}; do
    export MC_EMULATION_MEMORY=$((mib << 20))
    (fails 1 "$mib MiB*free" $t) >problem || break
    sed -nE 's/^mc-train: cuda:0: out of memory: (.*) needs [0-9]+ (bytes|MiB), [0-9]+ (bytes|MiB) of [0-9]+ MiB are free/\1/p' \
        err.fails >>happened
    same w.mcz was.mcz
    no_temporaries
    [ ! -e w.checkpoint ] || die 'a run that did not start wrote a checkpoint'
    [ ! -e w.json ] || die 'a run that did not start wrote a log'
done
# while opening the device, for the plan, for the images; and with enough memory no failure
sort -u happened | tr '\n' , | grep -qx 'a buffer,a plan,cuBLAS,partial sums,' || die "$(cat happened)"
grep -q 'status 1 expected, got 0:' problem || die "$mib MiB: $(cat problem)"
mc-info --check w.mcz

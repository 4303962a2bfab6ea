# SPDX-License-Identifier: Apache-2.0
# The history of every computation and moments record --precision; moments of different precisions do not merge. On the
# emulated device.
require_emulation

# expect_recorded FILE PROGRAM: the program's last line of the history records bf16 and any order
expect_recorded() {
    mc-info "$1" | grep "^ *[0-9]*  $2 " | tail -n 1 | grep -q ' precision=bf16 deterministic=no' || die "$1: $(mc-info "$1")"
}

half="--device cuda --precision bf16 --deterministic no"
mc-data synth --samples 64 -o d.mcz
t="mc-train -q --net mlp:bn,16 --data d.mcz --batch 16 --epochs 1 --lr .01"
for s in 1 2; do $t --device cuda --seed $s -o n$s.mcz; done
mc-info n1.mcz >info
! grep 'deterministic\|precision' info || die 'a default in the history'
$t $half -o train.mcz
expect_recorded train.mcz mc-train
mc-bezier -q $half --data d.mcz --batch 16 --epochs 1 --lr .01 n1.mcz n2.mcz -o curve.mcz
expect_recorded curve.mcz mc-bezier
mc-bezier -q $half --point .5 --bn-data d.mcz --bn-samples 64 curve.mcz -o point.mcz
expect_recorded point.mcz mc-bezier
mc-pam -q $half --data d.mcz --batch 16 --permutation-epochs 1 --epochs 1 --lr .01 n1.mcz n2.mcz -o pam.mcz
expect_recorded pam.mcz mc-pam
mc-pgd -q $half --data d.mcz --eps 4/255 --steps 1 n1.mcz -o pgd.mcz
expect_recorded pgd.mcz mc-pgd
mc-acts -q $half --data d.mcz --samples 64 --raw n1.mcz -o raw.mcz
expect_recorded raw.mcz mc-acts

for i in 1 2; do
    a="mc-acts -q --data d.mcz --samples 64 --batch 16 --shard $i/2"
    $a $half n1.mcz n2.mcz -o half$i.mcz
    $a --device cuda n1.mcz n2.mcz -o whole$i.mcz
done
expect_recorded half1.mcz mc-acts
mc-info half1.mcz | grep -q '^ *precision.*bf16' || die "$(mc-info half1.mcz)"
mc-info whole1.mcz >info
! grep precision info || die 'float32 is named'
mc-corr half1.mcz half2.mcz -o c.mcz
fails 3 'whole2.mcz: moments*different precisions (bf16 and f32)' mc-corr half1.mcz whole2.mcz
fails 3 'half2.mcz: moments*different precisions (f32 and bf16)' mc-corr whole1.mcz half2.mcz
no_temporaries

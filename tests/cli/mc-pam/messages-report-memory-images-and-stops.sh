# SPDX-License-Identifier: Apache-2.0
# mc-pam reports missing logs of matrices, the number of test images, memory, and that it gave up.
fixture pam

verbose_pam() { mc-pam -t 1 --data d.mcz --batch 32 --seed 5 --permutation-epochs 2 --epochs 1 "$@" n1.mcz n2.mcz -o x.mcz 2>errors; }
verbose_pam --permutation-lr 1e-3 --stop-after 3
grep -qx 'mc-pam: permutation step 1 moved no unit: its matrices stayed near .* --permutation-lr .* may help)' errors || die "$(cat errors)"
verbose_pam -v --permutation-lr 1e-3 --epochs 0
grep -q 'proximal terms 0.0000 and 0.0000: Q did not change' errors || die "$(cat errors)"
verbose_pam --stop-after 1
grep -q 'within a permutation step.* lost ' errors || die "$(cat errors)"
rm -f ck
verbose_pam --stop-after 1 --checkpoint ck
grep -q 'within a permutation step.* only in the checkpoint' errors || die "$(cat errors)"
for epochs in 2 3; do
    verbose_pam --permutation-lr 1 --stop-after $epochs
    expect_lines errors "mc-pam: $epochs epochs"
done
verbose_pam -v --select-images 100 --log-json images.json
grep -q 'permutation step 1: loss on 96 other images .* after$' errors || die "$(cat errors)"
grep -q 'the theorem' errors && die "the theorem does not apply to batch norm: $(cat errors)"
[ "$(grep -c 'on 96 images' errors)" = 2 ] || die "$(cat errors)"
grep -q "memory: .* 16 vectors of the network's size .*, permutation matrices .* MB$" errors || die "$(cat errors)"
mc-pam -v -t 1 --data d.mcz --batch 32 --stage curve --epochs 1 n1.mcz n2.mcz -o x.mcz 2>curve-errors
grep -q "memory: .* 14 vectors of the network's size [0-9.]* MB$" curve-errors || die "$(cat curve-errors)"
[ "$(field images.json permutation judge_images)$(field images.json iteration judge_images)" = 9696 ]

rm -f ck
for again in '' --resume; do
    mc-pam -t 1 --data d.mcz --batch 32 --permutation-epochs 1 --epochs 1 --spectral 100 --huber 3 --checkpoint ck $again \
        plain.mcz plain.mcz -o x.mcz 2>errors
    grep -q 'rejected, the run ends' errors || die "$again: $(cat errors)"
done

# SPDX-License-Identifier: Apache-2.0
# mc-pam --attack attacks images in both steps, and resumes to the same bytes.
fixture pam

attacked() { pam --attack pgd:steps=2 --permutation-epochs 2 --epochs 2 --permutation-lr 1 n1.mcz n2.mcz "$@"; }
attacked --log-json robust.json -o robust.mcz
pam --permutation-epochs 2 --epochs 2 --permutation-lr 1 --log-json clean.json n1.mcz n2.mcz -o clean.mcz
different_content robust.mcz clean.mcz
awk -v r="$(field robust.json permutation loss_before)" -v c="$(field clean.json permutation loss_before)" \
    'BEGIN { exit !(r > c) }' || die "$(cat robust.json clean.json)"
for epochs in 1 3; do
    rm -f ck
    attacked --checkpoint ck --stop-after $epochs -o part.mcz
    attacked --checkpoint ck --resume -o again.mcz
    same robust.mcz again.mcz
done
pam --attack pgd:steps=1 --permutation-epochs 1 --epochs 0 n1.mcz n2.mcz -o x.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-pam --huber also reports the ReLU's own objective, and applies the theorem only if its conditions hold.
fixture pam

bounded() { mc-pam -v -t 1 --data d.mcz --batch 32 --lr .02 --permutation-epochs 2 --epochs 2 "$@" plain.mcz plain2.mcz -o x.mcz 2>errors; }
bounded --huber .1 --log-json huber.json
grep -q 'Q on .* (with exact ReLU [0-9.]* to [0-9.]*)' errors || die "$(cat errors)"
grep -q 'the theorem' errors && die "without a bound on the norms: $(cat errors)"
[ "$(field huber.json iteration q_relu)" != "$(field huber.json iteration q)" ]
batch() { sed -n "s/.*activations and scratch \([0-9.]*\) MB.*/\1/p" "$1"; }
bounded --batch 256 --log-json relu.json
cp errors relu-errors
bounded --batch 256 --huber .1
awk -v one="$(batch relu-errors)" -v two="$(batch errors)" 'BEGIN { exit !(two > 1.5 * one) }' || die "$(cat relu-errors errors)"
[ -z "$(field relu.json iteration q_relu)" ]
bounded --huber 1e-12 --spectral 100 --epochs 6 --nu-permutation 1e6
grep -q 'by more than their sum, as the theorem requires' errors || die "$(cat errors)"

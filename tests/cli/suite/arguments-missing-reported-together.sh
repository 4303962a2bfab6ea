# SPDX-License-Identifier: Apache-2.0
# All options and operands that are missing are reported in one message; mistakes in their order show the right one.
s=$MC_ROOT/formats/samples/good d=$s-dataset.mcz w=$s-weights.mcz p=$s-permutation.mcz
fails 2 'mc-train: missing*--net NAME*--init FILE.mcz*--data FILE.mcz' mc-train
fails 2 'mc-pam: missing*B.mcz*--data FILE.mcz' mc-pam a.mcz
fails 2 'mc-acts: missing*A.mcz*B.mcz*--data FILE.mcz' mc-acts
fails 2 'mc-bezier: missing*--data*--epochs 0*straight line' mc-bezier a.mcz b.mcz
fails 2 'mc-bound: missing*B.mcz*MOMENTS.mcz' mc-bound a.mcz
fails 2 'mc-eval: missing*--data' mc-eval a.mcz
fails 2 'mc-data: missing:*data set: cifar10,' mc-data
fails 2 "mc-train: unexpected argument 'tinyten'" mc-train tinyten --data "$d"
fails 2 'mc-acts:*data set*option, not an operand: --data FILE.mcz' mc-acts "$d" "$w" "$w"
fails 2 "mc-permute --verify DATASET.mcz $p $w" mc-permute --verify "$p" "$w"
fails 3 "weights expected*permutation:*permutation comes first (mc-permute $p $w)" mc-permute "$w" "$p"

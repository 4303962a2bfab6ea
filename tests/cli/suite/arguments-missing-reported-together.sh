# SPDX-License-Identifier: Apache-2.0
# All options and operands that are missing are reported in one message; mistakes in their order show the right one.
s=$MC_ROOT/formats/samples/good d=$s-dataset.mcz w=$s-weights.mcz p=$s-permutation.mcz
fails 2 'mc-train: missing: --net NAME (or --init FILE.mcz), --data FILE.mcz (see --help)' mc-train
fails 2 'mc-pam: missing: operand B.mcz, --data FILE.mcz (see --help)' mc-pam a.mcz
fails 2 'mc-acts: missing: operand A.mcz, operand B.mcz, --data FILE.mcz (see --help)' mc-acts
fails 2 'mc-bezier: missing: --data FILE.mcz (or --epochs 0 for the straight line)' mc-bezier a.mcz b.mcz
fails 2 'mc-bound: missing: operand B.mcz, operand MOMENTS.mcz (see --help)' mc-bound a.mcz
fails 2 'mc-eval: missing: --data FILE.mcz (see --help)' mc-eval a.mcz
fails 2 'mc-data: missing: a data set: cifar10,' mc-data
fails 2 "mc-train: unexpected argument 'tinyten' (see --help)" mc-train tinyten --data "$d"
fails 2 'mc-acts: the data set is an option, not an operand: --data FILE.mcz' mc-acts "$d" "$w" "$w"
fails 2 "mc-permute --verify DATASET.mcz $p $w" mc-permute --verify "$p" "$w"
fails 3 "weights expected, got permutation: the permutation comes first (mc-permute $p $w)" mc-permute "$w" "$p"

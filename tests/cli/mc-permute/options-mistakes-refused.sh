# SPDX-License-Identifier: Apache-2.0
# mc-permute refuses wrong options. It pins the wording of its messages.
samples=$MC_ROOT/formats/samples
a=$samples/good-weights.mcz q=$samples/good-permutation.mcz

fails_with 2 'missing: operand WEIGHTS.mcz (see --help)' mc-permute $a
fails_with 2 "unexpected argument '$a' (expected: WEIGHTS.mcz)" mc-permute --random 7 $q $a
fails_with 2 "--random: '7x' is not a whole number from 0 to 9223372036854775807" mc-permute --random 7x $a
fails_with 2 'missing: operand Q.mcz (see --help)' mc-permute --compose $q
fails_with 2 'only one of --compose, --identity, --join and --random can be given' mc-permute --identity --random 1 $a
fails_with 2 '--samples has no effect without --verify' mc-permute --samples 5 $q $a
fails_with 2 '--device and --precision have no effect without --verify' mc-permute --device cpu --random 3 $a

# SPDX-License-Identifier: Apache-2.0
# mc-permute refuses wrong options.
samples=$MC_ROOT/formats/samples
a=$samples/good-weights.mcz q=$samples/good-permutation.mcz

fails 2 "missing: operand WEIGHTS.mcz" mc-permute $a
fails 2 "unexpected argument" mc-permute --random 7 $q $a
fails 2 "--random" mc-permute --random 7x $a
fails 2 "missing: operand Q.mcz" mc-permute --compose $q
fails 2 "only one of" mc-permute --identity --random 1 $a
fails 2 "--samples" mc-permute --samples 5 $q $a
fails 2 '--device and --precision have no effect without --verify' mc-permute --device cpu --random 3 $a

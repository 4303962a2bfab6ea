# SPDX-License-Identifier: Apache-2.0
# mc-match refuses networks and permutations that do not belong together, and wrong options.
# It pins the wording of its messages.
samples=$MC_ROOT/formats/samples
a=$samples/good-weights.mcz

fails_with 2 'missing: operand B.mcz (see --help)' mc-match "$a"
fails_with 2 "unexpected argument '$a' (expected: A.mcz B.mcz)" mc-match "$a" "$a" "$a"
fails_with 2 'missing: operand A.mcz, operand B.mcz (see --help)' mc-match
fails_with 2 'only one input can be standard input' mc-match --init - "$a" - </dev/null
fails_with 2 "--seed: 'x' is not a whole number from 0 to 9223372036854775807" mc-match --seed x "$a" "$a"
fails_with 3 "$samples/good-dataset.mcz: weights expected, got dataset: train with mc-train first, or check the order of the operands" mc-match "$a" "$samples/good-dataset.mcz" -o x.mcz
mc-data synth --samples 16 -o data.mcz
mc-train -q -t 1 --net mlp:3 --data data.mcz --epochs 0 -o mlp.mcz
mc-train -q -t 1 --net mlp:3,2 --data data.mcz --epochs 0 -o two.mcz
mc-permute --identity two.mcz | cat >two.p && mv two.p two.mcz
fails_with 3 "$a and mlp.mcz: different networks (mlp:bn,3, mlp:3): images of 1x2x2 and 3x32x32" mc-match "$a" mlp.mcz -o x.mcz
fails_with 3 'two.mcz: the permutation is for another network: 1 group expected, got 2' mc-match --init two.mcz mlp.mcz mlp.mcz -o x.mcz
fails_with 3 'mlp.mcz: permutation expected, got weights: run mc-match first, or mc-acts, mc-corr and mc-hungarian' mc-match --init mlp.mcz mlp.mcz mlp.mcz -o x.mcz
head -c -1 mlp.mcz >cut.mcz
fails_unchanged 3 'cut.mcz: *truncated' mc-match mlp.mcz cut.mcz -o x.mcz
fails_with 1 "cannot open 'nothing.mcz': No such file or directory" mc-match mlp.mcz nothing.mcz -o x.mcz
fails_with 1 "cannot write '/nowhere/log': No such file or directory" mc-match --log-json /nowhere/log mlp.mcz mlp.mcz -o x.mcz

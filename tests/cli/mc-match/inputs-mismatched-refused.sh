# SPDX-License-Identifier: Apache-2.0
# mc-match refuses networks and permutations that do not belong together, and wrong options.
samples=$MC_ROOT/formats/samples
a=$samples/good-weights.mcz

usage_error "mc-match: missing: operand B.mcz (see --help)" mc-match "$a"
usage_error "mc-match: unexpected argument" mc-match "$a" "$a" "$a"
usage_error "mc-match: missing: operand A.mcz, operand B.mcz (see --help)" mc-match
usage_error "only one input can be standard input" mc-match --init - "$a" - </dev/null
usage_error "mc-match: --seed: " mc-match --seed x "$a" "$a"
fails_unchanged 3 "good-dataset.mcz: weights expected, got dataset" mc-match "$a" "$samples/good-dataset.mcz" -o x.mcz
mc-data synth --samples 16 -o data.mcz
mc-train -q -t 1 --net mlp:3 --data data.mcz --epochs 0 -o mlp.mcz
mc-train -q -t 1 --net mlp:3,2 --data data.mcz --epochs 0 -o two.mcz
mc-permute --identity two.mcz | cat >two.p && mv two.p two.mcz
fails_unchanged 3 "mlp.mcz" mc-match "$a" mlp.mcz -o x.mcz
fails_unchanged 3 "two.mcz: the permutation is for another network" mc-match --init two.mcz mlp.mcz mlp.mcz -o x.mcz
fails_unchanged 3 "permutation expected, got weights" mc-match --init mlp.mcz mlp.mcz mlp.mcz -o x.mcz
head -c -1 mlp.mcz >cut.mcz
fails_unchanged 3 "cut.mcz: " mc-match mlp.mcz cut.mcz -o x.mcz
fails_unchanged 1 "cannot open 'nothing.mcz'" mc-match mlp.mcz nothing.mcz -o x.mcz
fails_unchanged 1 "cannot write '/nowhere/log'" mc-match --log-json /nowhere/log mlp.mcz mlp.mcz -o x.mcz

# SPDX-License-Identifier: Apache-2.0
# The log that ONEDNN_VERBOSE asks oneDNN for goes to stderr if standard output is a stream, and to standard output otherwise.
mc-data synth -q --samples 8 --seed 1 -o data.mcz
train() { mc-train -q -t 1 --net tinyten --no-augment --epochs 1 --batch 8 --data data.mcz "$@"; }
train -o quiet.mcz
ONEDNN_VERBOSE=1 train >loud.mcz 2>log
grep -q '^onednn_verbose' log
expect_equal "$(mc-info loud.mcz | sed -n 2p | cut -d" " -f2)" "$(mc-info quiet.mcz | sed -n 2p | cut -d" " -f2)"
ONEDNN_VERBOSE=1 mc-eval -q -t 1 --data data.mcz quiet.mcz 2>log | grep -q '^onednn_verbose'

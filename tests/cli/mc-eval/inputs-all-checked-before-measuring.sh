# SPDX-License-Identifier: Apache-2.0
# mc-eval checks all networks before it measures the first.
fixture three

head -c 3000 n2.mcz >cut-n2.mcz
mc-data synth --size 16 --samples 10 -o small.mcz
mc-train -q --net mlp:8 --data small.mcz --epochs 1 -o small-net.mcz
second_fails() { MC_CUDA_LIBRARY=none.so fails "$1" "$2" mc-eval --device cuda --data test.mcz n1.mcz "$3"; }
second_fails 1 "cannot open 'none.mcz'" none.mcz
second_fails 3 cut-n2.mcz cut-n2.mcz
second_fails 3 'expected, got dataset' test.mcz
second_fails 3 "small-net.mcz: test.mcz: images*3x${side}x$side*network expects 3x16x16" small-net.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-train refuses wrong options and inputs that do not fit.
mc-data synth --samples 256 -o d.mcz
mc-data synth --samples 256 --size 16 -o small.mcz
mc-train --net mlp:8 --data d.mcz --epochs 0 -o a.mcz
t="mc-train --data d.mcz --epochs 1"

fails 2 'missing: --net NAME (or --init FILE.mcz)' $t
fails 2 "tinyten" $t --net resnet1000
fails 2 '1x' $t --net tinyten --lr 1x
fails 2 "'-1'" $t --net tinyten --epochs -1
fails 2 'onecycle' $t --net tinyten --schedule quadratic
fails 2 "unexpected argument 'extra'" $t --net tinyten extra
fails 2 'missing: --data FILE.mcz' mc-train --net tinyten
fails 2 'nothing' $t --net tinyten --device nothing
MC_CUDA_LIBRARY=none.so fails 1 'none.so' $t --net tinyten --device cuda
fails 3 'expected, got weights' mc-train --net tinyten --data a.mcz
fails 3 'has 256 images' $t --net tinyten --samples 257
fails 3 'small.mcz' mc-train --data small.mcz --init a.mcz --epochs 1
fails 2 '--no-normalise requires --net NAME' $t --no-normalise --init a.mcz

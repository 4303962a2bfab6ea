# SPDX-License-Identifier: Apache-2.0
# mc-train refuses wrong options and inputs that do not fit. It pins the wording of its messages.
mc-data synth --samples 256 -o d.mcz
mc-data synth --samples 256 --size 16 -o small.mcz
mc-train --net mlp:8 --data d.mcz --epochs 0 -o a.mcz
t="mc-train --data d.mcz --epochs 1"

fails_with 2 'missing: --net NAME (or --init FILE.mcz) (see --help)' $t
fails 2 "unknown network 'resnet1000'*tinyten" $t --net resnet1000
fails_with 2 "--lr: '1x' is not a number from 1e-12 to 1e+06" $t --net tinyten --lr 1x
fails_with 2 "--epochs: '-1' is not a whole number from 0 to 1000000" $t --net tinyten --epochs -1
fails_with 2 "--schedule: unknown value 'quadratic' (one of: step, cosine, onecycle, linear)" $t --net tinyten --schedule quadratic
fails_with 2 "unexpected argument 'extra' (only options are expected; --net NAME --data DATASET.mcz)" $t --net tinyten extra
fails_with 2 'missing: --data FILE.mcz (see --help)' mc-train --net tinyten
fails_with 2 "unknown device 'nothing' (one of: auto, cpu, cuda, cuda:N)" $t --net tinyten --device nothing
MC_CUDA_LIBRARY=none.so fails 1 'none.so' $t --net tinyten --device cuda
fails_with 3 'a.mcz: dataset expected, got weights: make one with mc-data' mc-train --net tinyten --data a.mcz
fails_with 3 'd.mcz: has 256 images, but 257 were requested' $t --net tinyten --samples 257
fails_with 3 'small.mcz: images are 3x16x16, but the network expects 3x32x32' mc-train --data small.mcz --init a.mcz --epochs 1
fails_with 2 '--no-normalise requires --net NAME (--init has its own normalisation)' $t --no-normalise --init a.mcz

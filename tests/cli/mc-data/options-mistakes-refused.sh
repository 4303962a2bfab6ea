# SPDX-License-Identifier: Apache-2.0
# mc-data refuses wrong options.
fails 2 "one of: cifar10, cifar100, tiny-imagenet, folder, npz, idx, synth" mc-data cifar1000 set
fails 2 "missing: a data set: cifar10, " mc-data
fails 2 "cifar10: DIR is required, as in: mc-data cifar10 DIR -o train.mcz" mc-data cifar10
fails 2 "synth: unexpected argument 'set'" mc-data synth set
fails 2 "synth: unknown split 'val', did you mean 'test'? (one of: train, test)" mc-data synth --split val
fails 2 "--samples" mc-data synth --samples 0
fails 2 "--samples" mc-data synth --samples 1e3
fails 2 "--size" mc-data synth --size 7
fails 2 "--size" mc-data synth --size 257
fails 2 "--shuffle" mc-data synth --shuffle -1
fails 2 "--seed has no effect without synth" mc-data cifar10 set --seed 1
fails 2 "--size" mc-data cifar10 set --size 32
fails 2 "--size" mc-data folder set --size 2049
fails 2 "--shuffle and --no-shuffle cannot be combined" mc-data folder set --shuffle 1 --no-shuffle
fails 2 "npz: FILE is required, as in: mc-data npz FILE -o train.mcz" mc-data npz
fails 2 "cifar10: unexpected argument 'set'" mc-data cifar10 set set
fails 2 "--layout and --classes are only for npz and idx" mc-data cifar10 set --layout nchw
fails 2 "--layout and --classes are only for npz and idx" mc-data synth --classes 3
fails 2 "--arrays is only for npz" mc-data idx set --arrays x,y

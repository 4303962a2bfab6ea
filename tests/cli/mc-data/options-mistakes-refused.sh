# SPDX-License-Identifier: Apache-2.0
# mc-data refuses wrong options. It pins the wording of its messages.
fails_with 2 "unknown data set 'cifar1000', did you mean 'cifar100'? (one of: cifar10, cifar100, tiny-imagenet, folder, npz, idx, synth)" mc-data cifar1000 set
fails_with 2 'missing: a data set: cifar10, cifar100, tiny-imagenet or folder with its DIR, npz FILE.npz, idx DIR, or synth (see --help)' mc-data
fails_with 2 'cifar10: DIR is required, as in: mc-data cifar10 DIR -o train.mcz' mc-data cifar10
fails_with 2 "synth: unexpected argument 'set'" mc-data synth set
fails_with 2 "synth: unknown split 'val', did you mean 'test'? (one of: train, test)" mc-data synth --split val
fails_with 2 "--samples: '0' is not a whole number from 1 to 2147483647" mc-data synth --samples 0
fails_with 2 "--samples: '1e3' is not a whole number from 1 to 2147483647" mc-data synth --samples 1e3
fails_with 2 'synth: --size must be 8 to 256 (got 7)' mc-data synth --size 7
fails_with 2 'synth: --size must be 8 to 256 (got 257)' mc-data synth --size 257
fails_with 2 "--shuffle: '-1' is not a whole number from 0 to 9223372036854775807" mc-data synth --shuffle -1
fails_with 2 '--seed has no effect without synth (use --shuffle SEED to shuffle)' mc-data cifar10 set --seed 1
fails_with 2 'cifar10: --size is only for synth, tiny-imagenet and folder' mc-data cifar10 set --size 32
fails_with 2 "--size: '2049' is not a whole number from 1 to 2048" mc-data folder set --size 2049
fails_with 2 '--shuffle and --no-shuffle cannot be combined' mc-data folder set --shuffle 1 --no-shuffle
fails_with 2 'npz: FILE is required, as in: mc-data npz FILE -o train.mcz' mc-data npz
fails_with 2 "cifar10: unexpected argument 'set'" mc-data cifar10 set set
fails_with 2 'cifar10: --layout is only for npz and idx' mc-data cifar10 set --layout nchw
fails_with 2 'synth: --classes is only for npz, idx and folder' mc-data synth --classes 3
fails_with 2 'idx: --arrays is only for npz' mc-data idx set --arrays x,y

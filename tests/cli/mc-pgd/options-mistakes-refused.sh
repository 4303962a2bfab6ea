# SPDX-License-Identifier: Apache-2.0
# mc-pgd refuses wrong options. It pins the wording of its messages.
samples=$MC_ROOT/formats/samples
w=$samples/good-weights.mcz p="mc-pgd --data $samples/good-dataset.mcz"

fails_with 2 'missing: --data FILE.mcz (see --help)' mc-pgd $w
fails_with 2 'missing: operand WEIGHTS.mcz (see --help)' mc-pgd --data - <"$samples/good-dataset.mcz"
fails_with 2 "unexpected argument '$w' (expected: [WEIGHTS.mcz])" $p $w $w
fails_with 2 "--eps: '-1' is not a number from 0 to 1e+06" $p --eps -1 $w
fails_with 2 "--eps: 'nan' is not a number from 0 to 1e+06" $p --eps nan $w
fails_with 2 "--step: '-1/255' is not a number from 0 to 1e+06" $p --step=-1/255 $w
fails_with 2 'attack eps must be at most 1, in pixels of [0,1] (got 8; 8 of 255 levels are 8/255)' $p --eps 8 $w
fails_with 2 'attack step must be at most 1, in pixels of [0,1] (got 2; 8 of 255 levels are 8/255)' $p --step 2 $w
fails_with 2 "--eps: '8/0' is not a number from 0 to 1e+06" $p --eps 8/0 $w
fails_with 2 "--steps: '0' is not a whole number from 1 to 100000" $p --steps 0 $w
fails_with 2 "--restarts: '0' is not a whole number from 1 to 256" $p --restarts 0 $w
fails_with 2 "--restarts: '257' is not a whole number from 1 to 256" $p --restarts 257 $w
fails_with 2 "--norm: unknown value 'l1' (one of: linf, l2)" $p --norm l1 $w
fails_with 2 "--start: unknown value 'middle' (one of: random, clean)" $p --start middle $w
fails_with 2 'attack target 10 is not a class: tiny has 2' $p --target 10 $w
fails_with 2 "--target: '0' is not a whole number from 1 to 1000000" $p --target=+0 $w
fails_with 2 "--target: 'cat' is not a whole number from 0 to 1000000" $p --target cat $w
fails_with 2 "--samples: '0' is not a whole number from 1 to 2147483647" $p --samples 0 $w
fails 1 "write*'/dev/full': No space left" $p -q --log-json /dev/full $w -o x.mcz

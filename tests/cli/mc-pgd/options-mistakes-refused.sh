# SPDX-License-Identifier: Apache-2.0
# mc-pgd refuses wrong options.
samples=$MC_ROOT/formats/samples
w=$samples/good-weights.mcz p="mc-pgd --data $samples/good-dataset.mcz"

fails 2 'missing: --data FILE.mcz (see --help)' mc-pgd $w
fails 2 'missing: operand WEIGHTS.mcz (see --help)' mc-pgd --data - <"$samples/good-dataset.mcz"
fails 2 'unexpected argument' $p $w $w
fails 2 "--eps: '-1'" $p --eps -1 $w
fails 2 "--eps: 'nan'" $p --eps nan $w
fails 2 "--step: '-1/255'" $p --step=-1/255 $w
fails 2 "eps must be at most 1, in pixels of [0,1] (got 8; 8 of 255 levels are 8/255)" $p --eps 8 $w
fails 2 'step must be at most 1' $p --step 2 $w
fails 2 "--eps: '8/0' is not a number" $p --eps 8/0 $w
fails 2 "--steps: '0'" $p --steps 0 $w
fails 2 '--restarts' $p --restarts 0 $w
fails 2 '--restarts' $p --restarts 257 $w
fails 2 "unknown value 'l1' (one of: linf, l2)" $p --norm l1 $w
fails 2 "unknown value 'middle' (one of: random, clean)" $p --start middle $w
fails 2 "attack target 10 is not a class" $p --target 10 $w
fails 2 '--target' $p --target=+0 $w
fails 2 '--target' $p --target cat $w
fails 2 '--samples' $p --samples 0 $w
fails 1 'No space left on device' $p -q --log-json /dev/full $w -o x.mcz

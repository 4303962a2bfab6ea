# SPDX-License-Identifier: Apache-2.0
# mc-acts refuses wrong options. It pins the wording of its messages.
samples=$MC_ROOT/formats/samples
acts() { mc-acts --data "$samples/good-dataset.mcz" "$@"; }
w=$samples/good-weights.mcz

fails_with 2 'missing: --data FILE.mcz (see --help)' mc-acts $w $w
fails_with 2 'missing: operand B.mcz (see --help)' acts $w
fails_with 2 "unexpected argument '$w' (expected: A.mcz)" acts --raw $w $w
fails_with 2 '--shard cannot be combined with --raw' acts --raw --shard 1/2 $w
fails_with 2 "--at: unknown value 'middle' (one of: post, pre)" acts --at middle $w $w
for shard in 0/2 3/2 1 1/ /2 1/x 1/2/3 -1/2; do
    fails 2 "--shard: " acts --shard=$shard $w $w
done
fails_with 2 "--samples: '0' is not a whole number from 1 to 9223372036854775807" acts --samples 0 $w $w
acts -q --shard 1/3 --samples 2 -o s1.mcz $w $w 2>errors
expect_words errors 'mc-acts: warning: shard 1 of 3*empty*images*shards'

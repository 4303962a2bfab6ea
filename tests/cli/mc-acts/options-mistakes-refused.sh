# SPDX-License-Identifier: Apache-2.0
# mc-acts refuses wrong options.
samples=$MC_ROOT/formats/samples
acts() { mc-acts --data "$samples/good-dataset.mcz" "$@"; }
w=$samples/good-weights.mcz

fails 2 "missing: --data FILE.mcz (see --help)" mc-acts $w $w
fails 2 "missing: operand B.mcz (see --help)" acts $w
fails 2 "unexpected argument" acts --raw $w $w
fails 2 "--shard cannot be combined with --raw" acts --raw --shard 1/2 $w
fails 2 "unknown value 'middle' (one of: post, pre)" acts --at middle $w $w
for shard in 0/2 3/2 1 1/ /2 1/x 1/2/3 -1/2; do
    fails 2 "--shard: " acts --shard=$shard $w $w
done
fails 2 "--samples" acts --samples 0 $w $w
acts -q --shard 1/3 --samples 2 -o s1.mcz $w $w 2>errors
grep -q '^mc-acts: warning: shard 1 of 3 is empty: there are fewer batches of [0-9]* images than shards$' errors || die "$(cat errors)"

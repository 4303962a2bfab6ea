# SPDX-License-Identifier: Apache-2.0
# mc-acts refuses wrong options.
samples=$MC_ROOT/formats/samples
acts() { mc-acts --data "$samples/good-dataset.mcz" "$@"; }
w=$samples/good-weights.mcz

fails 2 "--data is needed" mc-acts $w $w
fails 2 "two networks are needed, 1 are given" acts $w
fails 2 "--raw takes one network, 2 are given" acts --raw $w $w
fails 2 "--raw has no shards" acts --raw --shard 1/2 $w
fails 2 "there is no 'middle' (there are: post, pre)" acts --at middle $w $w
for shard in 0/2 3/2 1 1/ /2 1/x 1/2/3 -1/2; do
    fails 2 "--shard: " acts --shard=$shard $w $w
done
fails 2 "--samples" acts --samples 0 $w $w

# SPDX-License-Identifier: Apache-2.0
# mc-permute --verify finds only rounding, and no changed prediction.
fixture stranger

mc-permute --verify data.mcz q.mcz a.mcz >table
head -n 1 table | grep -qx 'images	changed	largest_difference	largest_logit	loss_difference'
awk 'NR == 2 && $1 == 300 && $2 == 0 && $3 < 1e-5 * $4 && $4 > .1 && $5 < 1e-5 * $4 { ok = 1 } END { exit !ok }' table
mc-permute --verify data.mcz --samples 130 --random 3 a.mcz -o verified.mcz | grep -q '^130	0	'
same_content verified.mcz <(mc-permute --random 3 a.mcz)
fails 3 "q.mcz" mc-permute --verify q.mcz q.mcz a.mcz
fails 3 "data.mcz:*300 images*301*requested" mc-permute --verify data.mcz --samples 301 q.mcz a.mcz
for p in tf32 bf16 f16; do
    fails 2 "--verify requires --precision f32 (got $p" mc-permute --precision $p --verify data.mcz q.mcz a.mcz
done

# SPDX-License-Identifier: Apache-2.0
# mc-corr merges only shards of the same images, batches and count, whatever their total of images.
fixture pair
acts() { mc-acts -q -t 1 --data data.mcz a.mcz b.mcz "$@"; }
# in each case more images in total than the whole, fewer, and as many
for i in 1 2 3; do acts --samples 24 --batch 4 --shard $i/3 -o s$i.mcz; done
acts --samples 12 --batch 4 --shard 2/3 -o fewer.mcz
acts --samples 28 --batch 4 --shard 2/3 -o more.mcz
acts --samples 24 --batch 8 --shard 2/3 -o batch.mcz
acts --samples 24 --batch 4 --shard 2/4 -o count.mcz
acts --samples 24 --batch 4 -o whole.mcz
refuses() { fails 3 "$1" mc-corr s1.mcz "$2" s3.mcz; }
refuses "fewer.mcz: shards*runs over 24*over 12 images" fewer.mcz
refuses "more.mcz: shards*runs over 24*over 28 images" more.mcz
refuses "batch.mcz: shards*different batch sizes (4 and 8)" batch.mcz
refuses "count.mcz:*shard*3*added*shard*4" count.mcz
refuses "whole.mcz:*shard*3*added*shard*1" whole.mcz
mc-corr -q s3.mcz s1.mcz s2.mcz -o merged.mcz
mc-corr -q whole.mcz -o c.mcz
agree 1e-10 c.mcz merged.mcz

py <<'END'
m = mcz.read("s2.mcz")
for name, more in ("later", {"version": 3}), ("short", {"total": 12}), ("long", {"total": 2000}):
    mcz.write(name + ".mcz", m.kind, {**m.meta, **more}, m.tensors)
END
fails 3 "later.mcz: moments*version 3*program reads 2" mc-corr later.mcz
fails 3 'short.mcz: "images"*4*shards*12 (got 8)' mc-corr s1.mcz short.mcz
fails 3 'long.mcz: "images" must be ' mc-info --check long.mcz

# with more shards than batches some are empty, and merge as well
for i in {1..8}; do acts --samples 24 --batch 4 --shard $i/8 -o e$i.mcz; done
mc-corr -q e{8..1}.mcz -o merged.mcz
agree 1e-10 c.mcz merged.mcz
fails 3 "shards 1, 3, 4, 5, 6, 7, 8 of 8*missing" mc-corr e2.mcz
fails 3 "e5.mcz: shard 5 of 8*repeated" mc-corr e5.mcz e1.mcz e5.mcz
fails 2 "--shard: " acts --shard 1/65537

# SPDX-License-Identifier: Apache-2.0
# mc-acts refuses another architecture, other images, too few images, and data truncated after the required images.
fixture pair

mc-train -q -t 1 --net mlp:8 --data data.mcz --samples 16 --epochs 1 -o mlp.mcz
mc-data synth --samples 20 --size 8 -o small.mcz
fails 3 "a.mcz*mlp.mcz: different networks" collect a.mcz mlp.mcz
fails 3 "small.mcz: images*3x8x8" mc-acts --data small.mcz a.mcz b.mcz
fails 3 "data.mcz:*$total images*$((total + 1))*requested" collect --samples $((total + 1)) a.mcz b.mcz
fails 3 "weights expected*dataset" collect a.mcz data.mcz
mc-bezier -q --epochs 0 a.mcz a.mcz -o curve.mcz
fails 3 "weights expected*curve*mc-bezier --point" collect a.mcz curve.mcz
fails 3 "dataset expected*weights*mc-data" mc-acts --data a.mcz a.mcz b.mcz
# truncated after the last required image
head -c -7 data.mcz >cut.mcz
fails 3 "cut.mcz: " mc-acts --data cut.mcz --samples 3 a.mcz b.mcz
mc-acts --data cut.mcz --samples 3 --raw a.mcz 2>err | mc-info --check >out 2>&1 && die "truncated data pass"
grep -q 'cut.mcz: ' err

# SPDX-License-Identifier: Apache-2.0
# A data set of $total small images and two tinytens trained on it for a moment: data.mcz, a.mcz, b.mcz. $images
# is how many to look at, $batch at a time: fewer under valgrind, where an image takes a second, also one that
# only pads the program's own batch ($small).
total=400 images=390 batch=32 small=
[ "${MC_UNDER:-}" != valgrind ] || total=40 images=24 batch=8 small='--batch 8'
mc-data synth --samples $total --size 16 -o data.mcz
for pair in 1:a 2:b; do
    mc-train -q -t 1 --net tinyten --data data.mcz --samples $((images / 3)) --batch $batch --epochs 1 \
        --seed "${pair%:*}" -o "${pair#*:}.mcz"
done

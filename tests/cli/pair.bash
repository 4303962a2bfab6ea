# SPDX-License-Identifier: Apache-2.0
# A data set of 400 small images and two tinytens trained on it for a moment: data.mcz, a.mcz, b.mcz. $images
# is how many to look at: fewer under valgrind, where an image takes a second.
images=390
[ "${MC_UNDER:-}" != valgrind ] || images=70
mc-data synth --samples 400 --size 16 -o data.mcz
for pair in 1:a 2:b; do
    mc-train -q -t 1 --net tinyten --data data.mcz --samples $((images / 3)) --batch 64 --epochs 1 \
        --seed "${pair%:*}" -o "${pair#*:}.mcz"
done

# SPDX-License-Identifier: Apache-2.0
# Batch norm without pixels has no variance in a batch of one image. Whatever leads to one is refused: --batch, --samples, and a
# number of images that leaves one for the last batch. With pixels, or if nothing is normalised by its batch, one image is enough.
fixture pair
mc-data synth --samples 65 --size 8 -o d.mcz
for s in 1 2; do mc-train -q -t 1 --net mlp:bn,6,5 --data d.mcz --samples 64 --epochs 1 --batch 16 --seed $s -o n$s.mcz; done
mc-bezier --epochs 0 n1.mcz n2.mcz -o line.mcz

one() { fails_unchanged 3 "d.mcz: batch norm 'layers.0.bn' requires at least 2 images per batch ($1 1*last)" "${@:2}"; }
on='-q -t 1 --data d.mcz'
cut='65 images in batches of 32 leave' only='1 image in batches of 32 leaves'
for program in "mc-repair $on n1.mcz --batch 32 --samples" "mc-train $on --net mlp:bn,6,5 --batch 32 --samples" \
    "mc-bezier $on n1.mcz n2.mcz --batch 32 --samples" "mc-pam $on n1.mcz n2.mcz --batch 32 --samples" \
    "mc-bezier -q -t 1 --point .5 --bn-data d.mcz line.mcz --batch 32 --bn-samples" \
    "mc-eval $on --bn-data d.mcz --points 2 line.mcz --batch 32 --bn-samples"; do
    one "$only" $program 1
    one "$cut" $program 65
done
one "$cut" mc-repair $on n1.mcz --batch 32 -o no.mcz
usage_error "--batch: '1'*not a whole number*2 to 65536" mc-repair $on n1.mcz --batch 1
mc-repair $on n1.mcz --batch 13 -o r.mcz
mc-repair $on n1.mcz --ends n1.mcz n2.mcz --batch 64 -o r.mcz
mc-eval -q -t 1 --data d.mcz --samples 1 n1.mcz >/dev/null
mc-train $on --net mlp:6 --epochs 1 --batch 64 -o no-norm.mcz
[ "$net" != tinyten ] || mc-repair -q -t 1 --data data.mcz --samples 1 a.mcz -o r.mcz

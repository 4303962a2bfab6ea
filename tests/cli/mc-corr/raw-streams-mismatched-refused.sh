# SPDX-License-Identifier: Apache-2.0
# mc-corr accepts raw streams only in pairs, of the same images in the same batches, and complete.
fixture moments

fails 3 "a.acts:*activations*two networks*required" mc-corr a.acts
fails 3 "activations expected*moments*mc-acts with --raw" mc-corr a.acts m.mcz
fails 3 "moments expected*activations" mc-corr m.mcz a.acts
fails 3 "a.mcz: moments expected*weights*mc-acts" mc-corr a.mcz
raw() { mc-acts -t 1 --raw b.mcz -o x.acts "$@"; }
raw --data data.mcz --samples $((images - 1)) --batch $batch
fails 3 "a.acts*$images images*x.acts*$((images - 1))" mc-corr a.acts x.acts
raw --data data.mcz --samples $images --batch $((2 * batch))
fails 3 "a.acts*x.acts*different batches" mc-corr a.acts x.acts
mc-data synth --seed 2 --samples $total --size 16 -o data2.mcz
raw --data data2.mcz --samples $images --batch $batch
fails 3 "different data" mc-corr a.acts x.acts
raw --data data.mcz --samples $images --batch $batch --attack pgd:steps=1
fails 3 "a.acts*x.acts: activations*different attacks (none*pgd:" mc-corr a.acts x.acts
mv x.acts y.acts
raw --data data.mcz --samples $images --batch $batch --attack pgd:steps=1 --seed 9
fails 3 "y.acts*x.acts: activations*attacks*different seeds (1 and 9)" mc-corr y.acts x.acts
head -c -1 b.acts >x.acts
fails 3 "x.acts: " mc-corr a.acts x.acts
fails 3 "x.acts: " mc-corr x.acts a.acts

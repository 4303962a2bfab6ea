# SPDX-License-Identifier: Apache-2.0
# mc-data folder and synth write the same bytes with any number of threads. If several pictures are damaged, the error
# names the first.
pictures=$MC_ROOT/tests/pictures
for c in a b c; do
    mkdir -p "set/$c"
    for i in {100..140}; do
        cp "$pictures/rgb.jpg" "set/$c/$i.jpg"
        cp "$pictures/rgb.png" "set/$c/$i.png"
    done
done
cp "$pictures/grey.jpg" set/b/120.jpg
for set in 'folder set --size 64' 'synth --samples 300'; do
    mc-data $set -t 1 -o one.mcz
    for t in 2 5 100; do
        mc-data $set -t $t -o many.mcz
        same one.mcz many.mcz
    done
done
mc-data folder set --no-shuffle --size 64 -o old.mcz
for f in a/130 b/110 c/139; do echo damaged >set/$f.jpg; done
for t in 1 2 5; do
    mc_data_fails 3 'set/a/130.jpg: neither*JPEG nor*PNG file' folder set --no-shuffle --size 64 -t $t
done

# SPDX-License-Identifier: Apache-2.0
# A stream is not written to a file that is named like another format's; mc-convert writes those that it knows.
s=$MC_ROOT/formats/samples/good d=$s-dataset.mcz w=$s-weights.mcz
for name in a.pt a.pth a.safetensors a.npz; do
    fails 2 "--output: '$name':*output*mcz stream*-o a.mcz; " mc-train --net mlp:3 --epochs 0 --data "$d" -o $name
    [ ! -e $name ] || die "$name was written"
done
mc-convert "$w" -o a.safetensors
mc-convert "$w" -o a.npz
fails 2 "--output: 'a.pt': pickles*written:*.safetensors" mc-convert "$w" -o a.pt
fails 2 "--output: 'a.pt': pickles*written:*.safetensors" mc-convert a.npz --like "$w" -o a.pt

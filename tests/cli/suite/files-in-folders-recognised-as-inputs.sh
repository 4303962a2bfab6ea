# SPDX-License-Identifier: Apache-2.0
# A published file in a folder counts as an input; a stream in the same folder does not.
samples=$MC_ROOT/formats/samples
cp "$samples/good-dataset.mcz" d.mcz
mkdir -p set/train/{cat,dog} sub
printf 'old' >set/train/cat/0.jpg
usage_error "'set/train/cat/0.jpg'*file*input folder 'set'" mc-data folder set -o set/train/cat/0.jpg
usage_error "file*input folder 'set/'" mc-data folder set/ -o sub/../set/train/cat/0.jpg
cp d.mcz set/d.mcz
rm set/train/cat/0.jpg
fails 3 "set" mc-data folder set -o set/d.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-data folder reads train next to test or val, with train's classes; other layouts are refused and the old output stays.
pictures=$MC_ROOT/tests/pictures

# splits of a folder: train next to test or val, or the folder itself
mkdir -p split/train/a split/train/b split/val/a split/val/b
for d in split/*/*; do cp "$pictures/rgb.jpg" $d/x.jpg; done
touch split/train/a/notes.txt split/train/a/.hidden.jpg
mc-data folder split -o old.mcz
mc-data folder split --split test -o v.mcz
[ "$(mc-info v.mcz | awk '$1 == "split" { print $2 }')" = test ] || die "val is not the test split"
mc-data folder split/val --split test --size 23 -o w.mcz
cp old.mcz keep.mcz
mkdir split/val/c && cp "$pictures/rgb.jpg" split/val/c
mc_data_fails 3 "split/train: class 'c'*split/val*missing" folder split --split test
rm -r split/val/c split/val/b
mc_data_fails 3 "split/val: class 'b'*split/train*missing" folder split --split test
mkdir split/test split/test/a && cp "$pictures/rgb.jpg" split/test/a # test is read if both exist
mc_data_fails 3 "split/test: class 'b'*split/train*missing" folder split --split test
mv split/train train
mc_data_fails 3 "split/test: 2 class folders expected, got 1" folder split --split test
mc_data_fails 3 "split/test: 3 class folders expected, got 1" folder split --split test --classes 3
one() { mc-data folder split --classes 1 --split test; }
one | mc-info --json | grep -q '"classes":1,' || die 'a test set alone does not count its own classes'
mc_data_fails 3 "split: folder 'train'*missing" folder split
mv split/test test
one | mc-info --json | grep -q '"classes":1,' || die 'a val set alone does not count its own classes'
mv train split
rm -r split/val
mc_data_fails 3 "split: folder 'test'*missing" folder split --split test
mkdir split/train/empty
mc_data_fails 3 "split/train/empty: no JPEG*PNG file found" folder split
rmdir split/train/empty
mkdir bare
mc_data_fails 3 "bare: class folders*missing" folder bare
mc_data_fails 1 "cannot open 'nowhere'" folder nowhere
mc_data_fails 3 "not a folder" folder keep.mcz
ln -s nowhere split/train/a/y.jpg
mc_data_fails 3 "cannot open 'split/train/a/y.jpg'" folder split
rm split/train/a/y.jpg
cp "$pictures/grey.jpg" split/train/a/y.webp
mc_data_fails 3 "split/train/a/y.webp:*JPEG*PNG files*supported" folder split
mv split/train/a/y.webp split/train/a/y.jpg
cp "$pictures/tall.jpeg" split/train/b/z.jpeg
mc_data_fails 3 "split/train/b/z.jpeg: size 37 x 23 (width x height)*first image expected*got 23 x 37*--size N" folder split
mc-data folder split --size 20 -o x.mcz
rm split/train/b/z.jpeg

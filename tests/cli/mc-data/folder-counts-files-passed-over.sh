# SPDX-License-Identifier: Apache-2.0
# mc-data folder reports the number of files that are not part of the set in one line, except with -q. It refuses
# pictures of other formats.
pictures=$MC_ROOT/tests/pictures
mkdir -p d/train/a/sub d/train/b
for f in a/1 a/sub/2 b/1; do cp "$pictures/rgb.jpg" d/train/$f.jpg; done
expect_message '' mc-data folder d
touch d/train/a/sub/notes.txt
expect_message 'mc-data: d: 1 file*d/train/a/sub/notes.txt' mc-data folder d
cp x.mcz one.mcz
# hidden files, and files next to the class folders
cp "$pictures/rgb.jpg" d/train/b/.hidden.jpg
mkdir d/train/.git && cp "$pictures/rgb.jpg" d/train/loose.jpg
touch d/train/b/Makefile
expect_message 'mc-data: d: 5 files*d/train/.git' mc-data folder d
same x.mcz one.mcz
mc-data folder d -q -o x.mcz 2>notes
expect_equal "$(<notes)" ''
# files of another split do not count
mkdir -p d/test/a d/test/b && cp "$pictures/rgb.jpg" d/test/a && cp "$pictures/rgb.jpg" d/test/b
expect_message '' mc-data folder d --split test
cp x.mcz old.mcz
for ending in webp HEIC avif jfif gif tiff; do
    touch "d/train/a/x.$ending"
    mc_data_fails 3 "d/train/a/x.$ending:*JPEG*PNG files*supported" folder d
    rm "d/train/a/x.$ending"
done

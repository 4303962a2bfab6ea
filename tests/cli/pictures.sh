# SPDX-License-Identifier: Apache-2.0
# mc-data folder and tiny-imagenet: pictures as Pillow decodes and resizes them, layouts, orders, and everything
# that is refused: status 3, one line that names the file, the old output as it was.
. "$MC_ROOT/tests/cli/lib.bash"
pictures=$MC_ROOT/tests/pictures

# every picture a class of its own, in the order of the classes' names
mkdir set
for f in "$pictures"/*.[jJpP][pPnN]*[gG]; do
    mkdir "set/${f##*/}"
    cp "$f" "set/${f##*/}/1.${f##*.}"
done
mc-data folder set --no-shuffle --size 16 -o s16.mcz
mkdir one && cp -r set/rgb.jpg one/
mc-data folder one --size 48 -o s48.mcz
for f in set/*; do
    rm -rf one/* && cp -r "$f" one/
    mc-data folder one -o "own-${f##*/}.mcz"
done
/usr/bin/python3 - "$MC_ROOT" <<'PY' || die "not Pillow's pixels"
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
golden = np.load(sys.argv[1] + "/tests/pictures/golden.npz")
s = mcz.read("s16.mcz")
names = s.meta["class_names"]
assert names == sorted(n for n in golden.files if "@" not in n) and len(names) == 14, names
assert (s.tensors["labels"] == np.arange(14)).all() and s.meta["order"] == "by class"
assert np.allclose(s.meta["mean"], [.485, .456, .406]) and np.allclose(s.meta["std"], [.229, .224, .225])
assert s.meta["augment"]["flip"] and s.meta["augment"]["pad"] == 2
def near(name, key, got):
    far = np.abs(got.transpose(1, 2, 0).astype(int) - golden[key].astype(int)).max()
    assert got.shape[1:] == golden[key].shape[:2] and far <= 1, (name, got.shape, far)
for i, n in enumerate(names):
    near(n, n + "@16", s.tensors["images"][i])
    near(n, n, mcz.read("own-%s.mcz" % n).tensors["images"][0])
near("enlarged", "rgb.jpg@48", mcz.read("s48.mcz").tensors["images"][0])
PY

# Tiny ImageNet's layout: classes by number, words for their names, val as the test split
t=tiny/tiny-imagenet-200
mkdir -p $t/val/images
printf 'n03\nn01\nn02\n' >$t/wnids.txt
printf 'n00\tnobody\nn01\tcat, true cat\nn03\tlemon\n' >$t/words.txt
for c in n01 n02 n03; do
    mkdir -p $t/train/$c/images
    for i in 0 1 2 3; do cp "$pictures/grey.jpg" $t/train/$c/images/${c}_$i.JPEG; done
    cp "$pictures/rgb.jpg" $t/val/images/val_$c.JPEG
    printf 'val_%s.JPEG\t%s\t0\t0\t9\t9\n' $c $c
done | sort -r >$t/val/val_annotations.txt
mc-data tiny-imagenet tiny -o train.mcz
mc-data tiny-imagenet $t --split test --no-shuffle --size 32 -o test.mcz
mc-data tiny-imagenet tiny --shuffle 1 -o again.mcz
/usr/bin/python3 - "$MC_ROOT" <<'PY' || die "Tiny ImageNet is not as its files say"
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
train, test, again = (mcz.read(n + ".mcz") for n in ("train", "test", "again"))
assert train.tensors["images"].shape == (12, 3, 64, 64) and test.tensors["images"].shape == (3, 3, 32, 32)
assert train.meta["class_names"] == ["cat, true cat", "n02", "lemon"]
assert train.meta["order"] == "shuffled with seed 1" and ["shuffle", 1] in train.history[0]["args"]
assert (np.sort(train.tensors["labels"]) == np.repeat([0, 1, 2], 4)).all()
assert (train.tensors["labels"] != np.repeat([0, 1, 2], 4)).any()
for s, pad in (train, 8), (test, 4):
    assert s.meta["augment"] == {"rotate": 0, "flip": True, "pad": pad, "turn": 30, "scale": .2, "contrast": .25,
                                 "saturation": .25}, s.meta["augment"]
assert (again.tensors["labels"] == train.tensors["labels"]).all()
assert (test.tensors["labels"] == [2, 1, 0]).all() and test.meta["order"] == "by class"
PY

# splits of a folder: train beside test or val, whose classes are train's; or itself
mkdir -p split/train/a split/train/b split/val/a split/val/b
for d in split/*/*; do cp "$pictures/rgb.jpg" $d/x.jpg; done
touch split/train/a/notes.txt split/train/a/.hidden.jpg
mc-data folder split -o old.mcz
mc-data folder split --split test -o v.mcz
[ "$(mc-info v.mcz | awk '$1 == "split" { print $2 }')" = test ] || die "val is not the test split"
mc-data folder split/val --split test --size 23 -o w.mcz
cp old.mcz keep.mcz
refused() { # status text arguments...
    local status=$1 text=$2
    shift 2
    fails "$status" "$text" mc-data "$@" -o old.mcz
    same old.mcz keep.mcz
    no_temporaries
}
mkdir split/val/c && cp "$pictures/rgb.jpg" split/val/c
refused 3 "split/train: has no class 'c', which split/val has" folder split --split test
rm -r split/val/c split/val/b
refused 3 "split/val: has no class 'b', which split/train has" folder split --split test
rm -r split/val
refused 3 "split: has no folder 'test'" folder split --split test
mkdir split/train/empty
refused 3 "split/train/empty: holds no JPEG or PNG file" folder split
rmdir split/train/empty
mkdir bare
refused 3 "bare: holds no folders of classes" folder bare
refused 1 "cannot open 'nowhere'" folder nowhere
refused 3 "is not a folder" folder keep.mcz
ln -s nowhere split/train/a/y.jpg
refused 3 "cannot open 'split/train/a/y.jpg'" folder split
rm split/train/a/y.jpg
cp "$pictures/grey.jpg" split/train/a/y.webp
refused 3 "split/train/a/y.webp: only JPEG and PNG files are read" folder split
mv split/train/a/y.webp split/train/a/y.jpg
cp "$pictures/tall.jpeg" split/train/b/z.jpeg
refused 3 "split/train/b/z.jpeg: is 23 x 37 (width x height), the first image 37 x 23; --size N" folder split
mc-data folder split --size 20 -o x.mcz
rm split/train/b/z.jpeg

# damaged pictures
bad() { # text: split/train/a/y.jpg, just made, is refused with it
    refused 3 "split/train/a/y.jpg: $1" folder split --size 16
}
jpeg=$pictures/rgb.jpg bytes=$(stat -c %s "$pictures/rgb.jpg") out=split/train/a/y.jpg
for cut in 1 2 3 20 $((bytes / 2)) $((bytes - 40)) $((bytes - 2)); do
    head -c $cut "$jpeg" >$out && bad ""
done
head -c $((bytes / 2)) "$jpeg" >$out && bad "damaged: Premature end of JPEG file"
# a restart marker where the data go on, by two bytes that changed
cp "$jpeg" $out && printf '\377\322' | dd of=$out bs=1 seek=$((bytes - 60)) conv=notrunc status=none
bad "damaged: "
# a bit of the tables' length
cp "$jpeg" $out && printf '\220' | dd of=$out bs=1 seek=22 conv=notrunc status=none && bad "damaged: "
cp "$pictures/rgb.png" $out && printf 'x' | dd of=$out bs=1 seek=60 conv=notrunc status=none && bad "damaged: "
head -c 80 "$pictures/rgb.png" >$out && bad "damaged: the PNG is cut short"
: >$out && bad "is neither a JPEG nor a PNG file"
head -c 3000 /dev/zero >$out && bad "is neither a JPEG nor a PNG file"
truncate -s 3G $out && bad "is no file of at most 64 MiB"
rm $out && mkfifo $out && bad "is no regular file"
# bombs: a few bytes that announce much, and 40 KB of them that keep the promise
/usr/bin/python3 - <<'PY'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(name, w, h, data):
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", data) + chunk(b"IEND", b""))
c = zlib.compressobj(9)
zeros = c.compress(bytes(20000 * 60001 // 30)) + c.flush()
png("wide.png", 20000, 2000, zeros)
png("square.png", 8192, 8192, zeros)
png("short.png", 8000, 4000, zeros[:100])
png("promise.png", 2**31 - 1, 2**31 - 1, zeros)
PY
rm $out
for kind in wide square; do
    cp $kind.png $out && bad "a picture of "
done
for kind in short promise; do
    cp $kind.png $out && bad "damaged: "
done
rm $out

# Tiny ImageNet: what is missing or says something else
tiny() { # text [test]
    refused 3 "$1" tiny-imagenet tiny --split "${2:-train}"
}
list=$t/val/val_annotations.txt
cp $list list
printf 'val_n01.JPEG\tn99\t0\n' >>$list && tiny "val_annotations.txt line 4: is no image and one of the 3 classes" test
printf '../x.JPEG\tn01\t0\n' >$list && tiny "val_annotations.txt line 1: is no image" test
printf 'val_n01.JPEG\n' >$list && tiny "val_annotations.txt line 1: has no class" test
printf 'val_n01.JPEG\0\tn01\n' >$list && tiny "val_annotations.txt line 1: holds a NUL" test
head -n 2 list >$list && tiny "has no image of class n01" test
rm $list && tiny "val_annotations.txt" test
cp list $list
rm $t/val/images/val_n02.JPEG && tiny "val_n02.JPEG" test
printf 'n01\tagain\n' >>$t/words.txt && tiny "words.txt line 4"
rm $t/words.txt && mc-data tiny-imagenet tiny -o nameless.mcz
rm $t/train/n02/images/* && tiny "train/n02/images: holds no JPEG or PNG file"
rmdir $t/train/n02/images && tiny "train/n02/images"
printf 'n01\n' >>$t/wnids.txt && tiny "wnids.txt: names n01 twice"
printf 'n\377\n' >$t/wnids.txt && tiny "wnids.txt line 1: is no name of a class"
printf '../n01\n' >$t/wnids.txt && tiny "wnids.txt line 1: is no name of a class"
: >$t/wnids.txt && tiny "wnids.txt: names no classes"
rm $t/wnids.txt && mkfifo $t/wnids.txt && tiny "wnids.txt: is no regular file" # nobody writes to it
rm $t/wnids.txt && tiny "wnids.txt"
fails 2 "exclude each other" mc-data folder split --shuffle 1 --no-shuffle
fails 2 "--size" mc-data folder split --size 2049
fails 2 "--size" mc-data cifar10 split --size 32

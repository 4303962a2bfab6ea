# SPDX-License-Identifier: Apache-2.0
# mc-data writes what it is asked for, the same bytes twice, and nothing at all when it fails.
. "$MC_ROOT/tests/cli/lib.bash"

# synthetic images: a function of seed, split and number, whatever else is written with them
mc-data synth --samples 300 -o a.mcz
mc-data synth --samples 300 | cat >b.mcz
same a.mcz b.mcz
mc-data synth --samples 300 --seed 2 -o seed2.mcz
mc-data synth --samples 300 --split test -o test.mcz
mc-data synth --samples 300 --size 48 -o size48.mcz
mc-data synth --samples 300 --shuffle 5 -o shuffled.mcz
mc-data synth --samples 200 -o first.mcz
mc-data synth --samples 300 --no-history -o bare.mcz
[ "$(id bare.mcz)" = "$(id a.mcz)" ] || die "the history changes the content id"
mc-data synth --split test -o whole.mcz
/usr/bin/python3 - "$MC_ROOT" <<'PY' || die "wrong images"
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
read = {n: mcz.read(n + ".mcz") for n in "a seed2 test size48 shuffled first whole".split()}
x = {n: s.tensors["images"] for n, s in read.items()}
y = {n: s.tensors["labels"] for n, s in read.items()}
m = read["a"].meta
assert x["a"].shape == (300, 3, 32, 32) and x["a"].dtype == np.uint8 and x["size48"].shape == (300, 3, 48, 48)
assert (m["name"], m["split"], m["order"], m["classes"]) == ("synth", "train", "as drawn", 10)
assert len(m["class_names"]) == 10 and m["augment"] == {"rotate": 0, "flip": True, "pad": 4}
assert read["a"].history[0]["tool"] == "mc-data" and ["seed", 1] in read["a"].history[0]["args"]
assert set(y["a"]) == set(range(10))
assert (x["first"] == x["a"][:200]).all() and (y["first"] == y["a"][:200]).all()
assert len(x["whole"]) == 2000 and (x["whole"][:300] == x["test"]).all()
for other in "seed2", "test":
    assert not (x[other] == x["a"]).all((1, 2, 3)).any(), other
assert len(np.unique(x["a"].reshape(300, -1), axis=0)) == 300
# another size shows the same things
assert (y["size48"] == y["a"]).all()
# the order is Fisher and Yates's with Philox, and says so
order = sorted(range(300), key=lambda i: x["a"][i].tobytes())
back = sorted(range(300), key=lambda i: x["shuffled"][i].tobytes())
place = np.empty(300, int)
place[back] = order
assert (x["shuffled"] == x["a"][place]).all() and (y["shuffled"] == y["a"][place]).all()
assert (place != np.arange(300)).mean() > .9
assert read["shuffled"].meta["order"] == "shuffled with seed 5"
# the normalisation is about that of the pixels
pixels = x["whole"].transpose(1, 0, 2, 3).reshape(3, -1) / 255
assert np.abs(pixels.mean(1) - m["mean"]).max() < .01 and np.abs(pixels.std(1) - m["std"]).max() < .01
PY

# the shuffle comes before the count
mc-data synth --samples 300 --shuffle 5 -o again.mcz
same shuffled.mcz again.mcz

# CIFAR-10, from files made here: label and pixels of record i follow from i
mkdir -p set/cifar-10-batches-bin
/usr/bin/python3 - <<'PY'
import numpy as np
for name, seed in ("data_batch_1", 1), ("test_batch", 6):
    r = np.random.default_rng(seed).integers(0, 256, (10000, 3073), dtype=np.uint8)
    r[:, 0] %= 10
    r.tofile("set/cifar-10-batches-bin/%s.bin" % name)
PY
cd set/cifar-10-batches-bin
for i in 2 3 4 5; do truncate -s 30730000 data_batch_$i.bin; done
printf '%s\n' airplane automobile bird cat deer dog frog horse ship truck '' >batches.meta.txt
cd ../..
mc-data cifar10 set --split test -o t.mcz
mc-data cifar10 set/cifar-10-batches-bin --split test -o t2.mcz
same t.mcz t2.mcz
mc-data cifar10 set -o train.mcz
mc-data cifar10 set --shuffle 3 --samples 1000 -o part.mcz
/usr/bin/python3 - "$MC_ROOT" <<'PY' || die "wrong photographs"
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
raw = np.fromfile("set/cifar-10-batches-bin/test_batch.bin", np.uint8).reshape(-1, 3073)
t, train, part = (mcz.read(n + ".mcz") for n in ("t", "train", "part"))
assert (t.tensors["images"].reshape(10000, -1) == raw[:, 1:]).all()
assert (t.tensors["labels"] == raw[:, 0]).all()
assert t.meta["class_names"][9] == "truck" and t.meta["order"] == "publisher"
assert np.allclose(t.meta["mean"], [.4914, .4822, .4465]) and np.allclose(t.meta["std"], [.247, .243, .261])
assert t.meta["augment"] == {"rotate": 15, "flip": True, "pad": 4}
assert train.tensors["images"].shape == (50000, 3, 32, 32)
one = np.fromfile("set/cifar-10-batches-bin/data_batch_1.bin", np.uint8).reshape(-1, 3073)
assert (train.tensors["images"][:10000].reshape(10000, -1) == one[:, 1:]).all()
assert not train.tensors["images"][10000:].any()
# about a fifth of a shuffled part comes from the one file that is not black
lit = part.tensors["images"].any((1, 2, 3)).mean()
assert .14 < lit < .26, lit
PY
rm train.mcz part.mcz

# what is refused leaves the old file as it was
cp a.mcz old.mcz
fails 3 "data_batch_1.bin" mc-data cifar10 . -o old.mcz
fails 1 "cannot open 'nowhere'" mc-data cifar10 nowhere -o old.mcz
fails 3 "is not a folder" mc-data cifar10 a.mcz -o old.mcz
damaged() { # status text: refused, both splits' own files apart
    fails "$1" "$2" mc-data cifar10 set --split test -o old.mcz
    same a.mcz old.mcz
    no_temporaries
}
bin=set/cifar-10-batches-bin/test_batch.bin
cp $bin keep.bin
truncate -s 30729999 $bin && damaged 3 "has 30729999 bytes"
truncate -s 30733073 $bin && damaged 3 "has 30733073 bytes"
truncate -s 0 $bin && damaged 3 "has 0 bytes"
cp keep.bin $bin
printf '\012' | dd of=$bin bs=1 seek=$((3073 * 9999)) conv=notrunc status=none
damaged 3 "record 9999 has label 10 of 10 classes"
rm $bin && damaged 3 "test_batch.bin"
mkdir $bin && damaged 3 "test_batch.bin: is no regular file"
rmdir $bin
# a FIFO that nobody writes to
waits() { # file
    mkfifo "set/cifar-10-batches-bin/$1"
    fails 3 "$1: is no regular file" timeout 60 mc-data cifar10 set --split test -o old.mcz
    rm "set/cifar-10-batches-bin/$1"
    same a.mcz old.mcz
}
waits test_batch.bin
mv keep.bin $bin
rm set/cifar-10-batches-bin/batches.meta.txt
waits batches.meta.txt
printf 'cat\ndog\n' >set/cifar-10-batches-bin/batches.meta.txt
damaged 3 "has 2 names for 10 classes"
for bytes in 100 1000000; do
    head -c $bytes /dev/zero >set/cifar-10-batches-bin/batches.meta.txt
    damaged 3 "is no list of 10 names"
done
printf '%s\n' airplane automobile bird $'ch\xe4t' deer dog frog horse ship truck >set/cifar-10-batches-bin/batches.meta.txt
damaged 3 "batches.meta.txt: is no list of 10 names"
rm set/cifar-10-batches-bin/batches.meta.txt
mc-data cifar10 set --split test --samples 5 -o nameless.mcz

# CIFAR-100: a coarse label before the fine one
mkdir -p hundred/cifar-100-binary
/usr/bin/python3 - <<'PY'
import numpy as np
r = np.random.default_rng(9).integers(0, 256, (10000, 3074), dtype=np.uint8)
r[:, 0] %= 20
r[:, 1] = np.arange(10000) % 100
r.tofile("hundred/cifar-100-binary/test.bin")
with open("hundred/cifar-100-binary/fine_label_names.txt", "w") as f:
    f.writelines("fine%02d\n" % i for i in range(100))
PY
mc-data cifar100 hundred --split test -o t100.mcz
/usr/bin/python3 - "$MC_ROOT" <<'PY' || die "wrong photographs of CIFAR-100"
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
raw = np.fromfile("hundred/cifar-100-binary/test.bin", np.uint8).reshape(-1, 3074)
t = mcz.read("t100.mcz")
assert (t.tensors["images"].reshape(10000, -1) == raw[:, 2:]).all()
assert (t.tensors["labels"] == raw[:, 1]).all()
assert (t.meta["name"], t.meta["classes"], t.meta["order"]) == ("cifar100", 100, "publisher")
assert t.meta["class_names"][99] == "fine99" and t.meta["augment"] == {"rotate": 15, "flip": True, "pad": 4}
PY
fine=hundred/cifar-100-binary/test.bin
refused() { # text
    fails 3 "$1" mc-data cifar100 hundred --split test -o old.mcz
    same a.mcz old.mcz
    no_temporaries
}
printf '\144' | dd of=$fine bs=1 seek=$((3074 * 77 + 1)) conv=notrunc status=none
refused "record 77 has label 100 of 100 classes"
truncate -s 30730000 $fine
refused "has 30730000 bytes, not 10000 records of 3074"
rm $fine
refused "test.bin"
fails 3 "train.bin" mc-data cifar100 hundred -o old.mcz
fails 3 "data_batch_1.bin" mc-data cifar10 hundred -o old.mcz

# usage
fails 2 "there are: cifar10, cifar100, tiny-imagenet, folder, synth" mc-data cifar1000 set
fails 2 "name a data set" mc-data
fails 2 "name it" mc-data cifar10
fails 2 "takes no folder" mc-data synth set
fails 2 "no split 'val'" mc-data synth --split val
fails 2 "--samples" mc-data synth --samples 0
fails 2 "--samples" mc-data synth --samples 1e3
fails 2 "--size" mc-data synth --size 7
fails 2 "--size" mc-data synth --size 257
fails 2 "--shuffle" mc-data synth --shuffle -1
fails 2 "is for synth" mc-data cifar10 set --seed 1
fails 2 "has 10000" mc-data cifar10 set --split test --samples 10001 -o old.mcz
same a.mcz old.mcz

# a full disk
fails 1 "/dev/full" mc-data synth --samples 300 -o /dev/full
rc=0
mc-data synth --samples 300 >/dev/full 2>err || rc=$?
[ $rc = 1 ] && [ "$(wc -l <err)" = 1 ] || die "a full disk: status $rc, $(cat err)"

# a reader that goes away ends it by SIGPIPE, without a word
set +o pipefail
{ rc=0; mc-data synth 2>err || rc=$?; echo $rc >rc; } | head -c 100 >/dev/null
[ "$(cat rc)" = 141 ] && [ ! -s err ] || die "a closed pipe: status $(cat rc), $(cat err)"

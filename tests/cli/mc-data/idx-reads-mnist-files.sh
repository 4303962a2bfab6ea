# SPDX-License-Identifier: Apache-2.0
# mc-data idx reads MNIST's files, unpacked or as published, from a folder or by name.
mkdir mnist zipped
py <<'PY'
import gzip, struct
r = np.random.default_rng(1)
def write(name, array):
    head = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(">%dI" % array.ndim, *array.shape)
    open("mnist/" + name, "wb").write(head + array.tobytes())
    gzip.open("zipped/" + name + ".gz", "wb").write(head + array.tobytes())
for split, n in ("train", 500), ("t10k", 70):
    x, y = r.integers(0, 256, (n, 28, 28), dtype=np.uint8), r.integers(0, 10, n, dtype=np.uint8)
    y[(y == 9) & (split == "t10k")] = 0
    write(split + "-images-idx3-ubyte", x)
    write(split + "-labels-idx1-ubyte", y)
    np.savez(split, x=x, y=y)
write("colour", r.integers(0, 256, (70, 28, 28, 3), dtype=np.uint8))
PY
t=train-images-idx3-ubyte l=train-labels-idx1-ubyte
mc-data idx mnist -o train.mcz
mc-data idx zipped | same train.mcz -
mc-data idx mnist/$t zipped/$l.gz | same train.mcz -
mc-data idx zipped --split test -o test.mcz
mc-data idx mnist/colour mnist/t10k-labels-idx1-ubyte --split test -o colour.mcz
py <<'PY' || die "wrong digits"
for f, g in ("train", "train"), ("test", "t10k"):
    s, k = mcz.read(f + ".mcz"), np.load(g + ".npz")
    assert (s.tensors["images"][:, 0] == k["x"]).all() and (s.tensors["labels"] == k["y"]).all()
    assert (s.meta["name"], s.meta["split"], s.meta["order"], s.meta["classes"]) == ("idx", f, "as stored", 10)
    assert s.meta["augment"] == {"rotate": 0, "flip": False, "pad": 0}
assert mcz.read("colour.mcz").tensors["images"].shape == (70, 3, 28, 28)
PY

# wrong files
cp train.mcz old.mcz
refuses() { mc_data_fails 3 "$1" idx "${@:2}"; }
mc_data_fails 1 "cannot open 'nowhere'" idx nowhere
mc_data_fails 1 "cannot open 'nowhere'" idx mnist/$t nowhere
refuses "not a folder" mnist/$t
refuses "images*3 or 4 dimensions; IMAGES precede LABELS (got 1)" mnist/$l mnist/$t
refuses "500 labels expected*got 70" mnist/$t mnist/t10k-labels-idx1-ubyte
refuses "not an idx file" train.npz mnist/$l
refuses "of 1 classes" mnist --classes 1
head -c 300000 mnist/$t >cut && refuses "cut: truncated" cut mnist/$l
head -c 7 mnist/$t >cut && refuses "cut: truncated" cut mnist/$l
: >empty && refuses "empty: truncated" empty mnist/$l
head -c 200000 zipped/$t.gz >cut && refuses "cut: truncated" cut mnist/$l
size=$(stat -c %s zipped/$t.gz)
head -c $((size - 4)) zipped/$t.gz >cut && refuses "cut: " cut mnist/$l
cp zipped/$t.gz damaged && printf '\0\0\0\0' | dd of=damaged bs=1 seek=$((size - 8)) conv=notrunc status=none
refuses "damaged: incorrect data check" damaged mnist/$l
(cat mnist/$t && printf x) >long && refuses "long: bytes after*data" long mnist/$l
printf '\1\0\10\1\0\0\0\1x' >other && refuses "not an idx file" other mnist/$l
printf '\0\0\0\1\0\0\0\1x' >other && refuses "not an idx file" other mnist/$l
printf '\0\0\10\2\0\0\0\1\0\0\0\1x' >other && refuses "labels*1 dimension (got 2)" mnist/$t other
(cat mnist/$l && printf x) >other && refuses "other: bytes after*data" mnist/$t other
printf '\0\0\15\3' >float && refuses "idx type 0x08, uint8, expected*got 0x0d" float mnist/$l
printf '\0\0\10\3\377\377\377\377\377\377\377\377\377\377\377\377' >bomb && refuses "bomb: truncated" bomb mnist/$l
gzip -c bomb >bomb.gz && refuses "bomb.gz: truncated" bomb.gz mnist/$l
# sizes above the limit are refused before the data are read, which are truncated here
printf '\0\0\10\3\0\0\0\1\0\0\43\50\0\0\43\50' >wide && truncate -s 81000000 wide
refuses "wide:*image side*1 to 8192 pixels (got 9000 x 9000)" wide mnist/$l
printf '\0\0\10\1\37\377\377\377' >many && truncate -s 536870911 many
refuses "many: 500 labels expected*got 536870911" mnist/$t many
rm wide many
rm mnist/$l && refuses "train-labels-idx1-ubyte" mnist
mkfifo pipe && mc_data_fails 3 "pipe: not a regular file" idx pipe zipped/$l.gz

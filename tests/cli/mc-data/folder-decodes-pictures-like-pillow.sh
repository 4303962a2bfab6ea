# SPDX-License-Identifier: Apache-2.0
# mc-data folder decodes and resizes pictures as Pillow does.
pictures=$MC_ROOT/tests/pictures

# each picture is its own class, in the order of class names
mkdir set
for f in "$pictures"/*.[jJpP][pPnN]*[gG]; do
    mkdir "set/${f##*/}"
    cp "$f" "set/${f##*/}/1.${f##*.}"
done
mc-data folder set --no-shuffle --size 16 -o s16.mcz
mkdir one
cp -r set/rgb.jpg one/
mc-data folder one --classes 1 --size 48 -o s48.mcz
for f in set/*; do
    rm -rf one/*
    cp -r "$f" one/
    mc-data folder one --classes 1 -o "own-${f##*/}.mcz"
done
py <<'PY' || die "not Pillow's pixels"
golden = np.load(os.environ["MC_ROOT"] + "/tests/pictures/golden.npz")
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

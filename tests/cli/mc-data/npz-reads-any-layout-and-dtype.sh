# SPDX-License-Identifier: Apache-2.0
# mc-data npz reads images of any layout, dtype and array names, and measures their normalisation.
py <<'PY'
r = np.random.default_rng(1)
x = r.integers(0, 256, (60, 3, 12, 10), dtype=np.uint8)
x[:, 2] = 7 # a channel without variance
y = r.integers(0, 7, 60)
y[:20] %= 5 # the first images lack the last classes
np.savez("keras.npz", y_test=y[:20], x_train=x.transpose(0, 2, 3, 1), y_train=y[:, None], x_test=x[:20].transpose(0, 2, 3, 1))
np.savez_compressed("zipped.npz", Images=x, Labels=y.astype(np.uint8))
for t in "f2", "f4", "f8":
    np.savez(t + ".npz", x=(x / 255).astype(t), y=y.astype(np.int32))
np.savez("grey.npz", train_images=x[:, 0], train_labels=np.sort(y), val_images=x[:5, 0], val_labels=y[:5])
np.savez("open.npz", x=x[:, :, :, :3], y=y)
np.savez("four.npz", x=np.concatenate([x, x[:, :1]], 1), y=y)
np.savez("own.npz", pictures=x, kinds=y, y=np.zeros(3))
np.savez("positions.npz", x, y)
for name, other in ("floats", y / 7), ("one-hot", np.eye(7, dtype=int)[y]), ("half", y[:3].astype("f2")):
    np.savez(name + ".npz", x_train=x, y_train=y, x_test=x, y_test=other)
np.savez("marks.npz", **{"a%b": x, "l%": y, "ab": x[:5], "l": y[:5]})
PY
mc-data npz keras.npz -o nhwc.mcz
mc-data npz keras.npz --split test -o test.mcz
mc-data npz zipped.npz | same nhwc.mcz -
mc-data npz positions.npz | same nhwc.mcz -
mc-data npz own.npz --arrays pictures,kinds -o own.mcz
mc-data npz own.npz --arrays pictures,kinds --split test -o own-test.mcz
same_content nhwc.mcz own.mcz
# the other split, which only counts the classes, may have no labels; a name is used literally
for n in floats one-hot half; do mc-data npz $n.npz | same nhwc.mcz -; done
mc-data npz marks.npz --arrays a%b,l% -o marks.mcz
same_content nhwc.mcz marks.mcz
for t in f2 f4 f8; do mc-data npz $t.npz -o $t.mcz; done
same_content f4.mcz f8.mcz
mc-data npz grey.npz -o grey.mcz
mc-data npz grey.npz --no-shuffle --classes 9 -o sorted.mcz
for l in nchw nhwc; do mc-data npz open.npz --layout $l -o open-$l.mcz; done
mc-data npz four.npz -o four.mcz
mc-data npz keras.npz --shuffle 3 --samples 10 -o part.mcz
py <<'PY' || die "wrong images"
k = np.load("zipped.npz")
x, y = k["Images"], k["Labels"]
read = {n: mcz.read(n + ".mcz") for n in "nhwc test f2 f4 grey sorted open-nchw open-nhwc four part own".split()}
m = read["nhwc"].meta
def is_set(name, images, labels):
    assert read[name].tensors["images"].dtype == images.dtype, name
    assert (read[name].tensors["images"] == images).all() and (read[name].tensors["labels"] == labels).all(), name
is_set("nhwc", x, y)
is_set("test", x[:20], y[:20])
is_set("f4", (x / 255).astype(np.float32), y)
is_set("f2", (x / 255).astype(np.float16).astype(np.float32), y)
is_set("sorted", x[:, :1], np.sort(y))
is_set("open-nchw", x[:, :, :, :3], y)
is_set("open-nhwc", x[:, :, :, :3].transpose(0, 3, 1, 2), y)
is_set("four", np.concatenate([x, x[:, :1]], 1), y)
assert read["open-nchw"].tensors["images"].shape == (60, 3, 12, 3)
assert read["test"].meta["classes"] == 7 and y[:20].max() < 6
assert (m["name"], m["split"], m["order"], m["classes"]) == ("npz", "train", "as stored", 7)
pixels = x.transpose(1, 0, 2, 3).reshape(3, -1) / 255
assert np.abs(pixels.mean(1) - m["mean"]).max() < 1e-6 and np.abs(pixels.std(1) - m["std"])[:2].max() < 1e-6
assert m["std"][2] == 1 and m["augment"] == {"rotate": 0, "flip": True, "pad": 1}
assert np.allclose(read["f4"].meta["std"], m["std"]) and np.allclose(read["f4"].meta["mean"], m["mean"])
g = read["grey"].meta
assert g["augment"] == {"rotate": 0, "flip": False, "pad": 0} and g["order"] == "shuffled with seed 1"
assert (np.diff(read["grey"].tensors["labels"]) < 0).any()
assert read["sorted"].meta["order"] == "by class" and read["sorted"].meta["classes"] == 9
assert ["classes", 9] in read["sorted"].history[0]["args"]
assert ["arrays", "pictures,kinds"] in read["own"].history[0]["args"]
assert len(read["part"].tensors["labels"]) == 10 and read["part"].meta["mean"] == m["mean"]
PY
mc-train -q --net mlp:8 --data nhwc.mcz --epochs 1 --batch 20 -o a.mcz
mc-eval -q --data test.mcz a.mcz >table

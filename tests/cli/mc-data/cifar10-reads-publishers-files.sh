# SPDX-License-Identifier: Apache-2.0
# mc-data cifar10 reads images, labels, names and splits from the published files.
fixture cifar10

mc-data cifar10 set --split test -o t.mcz
mc-data cifar10 set/cifar-10-batches-bin --split test | same t.mcz -
mc-data cifar10 set -o train.mcz
mc-data cifar10 set --shuffle 3 --samples 1000 -o part.mcz
py <<'PY' || die "wrong photographs"
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
# about a fifth of a shuffled subset is from the one file that is not black
lit = part.tensors["images"].any((1, 2, 3)).mean()
assert .14 < lit < .26, lit
PY

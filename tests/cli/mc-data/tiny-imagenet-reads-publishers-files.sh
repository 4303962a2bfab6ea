# SPDX-License-Identifier: Apache-2.0
# mc-data tiny-imagenet reads classes by number, their names from words.txt, and val as the test split.
fixture tiny

mc-data tiny-imagenet tiny -o train.mcz
mc-data tiny-imagenet tiny/tiny-imagenet-200 --split test --no-shuffle --size 32 -o test.mcz
mc-data tiny-imagenet tiny --shuffle 1 -o again.mcz
py <<'PY' || die "Tiny ImageNet is not as its files say"
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

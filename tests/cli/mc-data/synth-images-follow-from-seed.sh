# SPDX-License-Identifier: Apache-2.0
# mc-data synth: an image depends only on seed, split and number; the header describes the order.
mc-data synth --samples 300 -o a.mcz
mc-data synth --samples 300 | cat | same a.mcz -
mc-data synth --samples 300 --seed 2 -o seed2.mcz
mc-data synth --samples 300 --split test -o test.mcz
mc-data synth --samples 300 --size 48 -o size48.mcz
mc-data synth --samples 300 --shuffle 5 -o shuffled.mcz
mc-data synth --samples 200 -o first.mcz
mc-data synth --samples 300 --no-history -o bare.mcz
same_content a.mcz bare.mcz
mc-data synth --split test -o whole.mcz
py <<'PY' || die "wrong images"
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
# another size shows the same shapes
assert (y["size48"] == y["a"]).all()
# the order is a Fisher-Yates shuffle with Philox, and the header says so
order = sorted(range(300), key=lambda i: x["a"][i].tobytes())
back = sorted(range(300), key=lambda i: x["shuffled"][i].tobytes())
place = np.empty(300, int)
place[back] = order
assert (x["shuffled"] == x["a"][place]).all() and (y["shuffled"] == y["a"][place]).all()
assert (place != np.arange(300)).mean() > .9
assert read["shuffled"].meta["order"] == "shuffled with seed 5"
# the normalisation is near that of the pixels
pixels = x["whole"].transpose(1, 0, 2, 3).reshape(3, -1) / 255
assert np.abs(pixels.mean(1) - m["mean"]).max() < .01 and np.abs(pixels.std(1) - m["std"]).max() < .01
PY

mc-data synth --samples 300 --shuffle 5 | same shuffled.mcz -

# SPDX-License-Identifier: Apache-2.0
# mc-data cifar100 reads the fine label after the coarse one, and refuses wrong files.
mkdir -p hundred/cifar-100-binary
py <<'PY'
r = np.random.default_rng(9).integers(0, 256, (10000, 3074), dtype=np.uint8)
r[:, 0] %= 20
r[:, 1] = np.arange(10000) % 100
r.tofile("hundred/cifar-100-binary/test.bin")
with open("hundred/cifar-100-binary/fine_label_names.txt", "w") as f:
    f.writelines("fine%02d\n" % i for i in range(100))
PY
mc-data cifar100 hundred --split test -o t100.mcz
py <<'PY' || die "wrong photographs of CIFAR-100"
raw = np.fromfile("hundred/cifar-100-binary/test.bin", np.uint8).reshape(-1, 3074)
t = mcz.read("t100.mcz")
assert (t.tensors["images"].reshape(10000, -1) == raw[:, 2:]).all()
assert (t.tensors["labels"] == raw[:, 1]).all()
assert (t.meta["name"], t.meta["classes"], t.meta["order"]) == ("cifar100", 100, "publisher")
assert t.meta["class_names"][99] == "fine99" and t.meta["augment"] == {"rotate": 15, "flip": True, "pad": 4}
PY
mc-data synth --samples 20 -o a.mcz
cp a.mcz old.mcz
fine=hundred/cifar-100-binary/test.bin
printf '\144' | dd of=$fine bs=1 seek=$((3074 * 77 + 1)) conv=notrunc status=none
mc_data_fails 3 "record 77*label 100 of 100 classes" cifar100 hundred --split test
truncate -s 30730000 $fine
mc_data_fails 3 "30730000 bytes, not 10000 records*3074" cifar100 hundred --split test
rm $fine
mc_data_fails 3 "test.bin" cifar100 hundred --split test
fails 3 "train.bin" mc-data cifar100 hundred -o old.mcz
fails 3 "data_batch_1.bin" mc-data cifar10 hundred -o old.mcz

# SPDX-License-Identifier: Apache-2.0
# For a folder of CIFAR's Python version, mc-data names the converter, whose output it reads.
mkdir -p root10/cifar-10-batches-py root100/cifar-100-python both
py <<'PY'
import pickle
r = np.random.default_rng(1)
def batch(path, key, classes):
    pickle.dump({b"data": r.integers(0, 256, (4, 3072), dtype=np.uint8), key: [int(v) for v in r.integers(0, classes, 4)]},
                open(path, "wb"))
for i in range(1, 6):
    batch("root10/cifar-10-batches-py/data_batch_%d" % i, b"labels", 10)
batch("root10/cifar-10-batches-py/test_batch", b"labels", 10)
pickle.dump({b"label_names": [b"c%d" % i for i in range(10)]}, open("root10/cifar-10-batches-py/batches.meta", "wb"))
for split in "train", "test":
    batch("root100/cifar-100-python/" + split, b"fine_labels", 100)
pickle.dump({b"fine_label_names": [b"c%d" % i for i in range(100)]}, open("root100/cifar-100-python/meta", "wb"))
PY
mc-data synth --samples 20 -o old.mcz
for set in 10:cifar-10-batches-py 100:cifar-100-python; do
    n=${set%%:*} inner=${set#*:}
    for dir in root$n root$n/$inner; do
        for split in train test; do
            mc_data_fails 3 "$dir: holds*Python version, whose pickles*read (convert*python -m mcz.data cifar$n-python DIR" \
                cifar$n $dir --split $split
            grep -qF "pipelines/setup/fetch.sh cifar$n DIR)" err.fails || die "$(cat err.fails)"
            /usr/bin/python3 -m mcz.data cifar$n-python $dir --split $split -o x.mcz
            mc-info --check -q x.mcz
        done
    done
done
[ -x "$MC_ROOT/pipelines/setup/fetch.sh" ] || die 'fetch.sh has another name'
# a folder with neither version, and the binary version next to the other
mc_data_fails 3 "both: data_batch_1.bin*missing*fetch.sh cifar10 DIR" cifar10 both
fixture cifar10
cp -r root10/cifar-10-batches-py set
mc-data cifar10 set --split test --samples 5 -o x.mcz
# the binary version twice: in the named folder and in the one that the archive unpacks to
cp set/cifar-10-batches-bin/test_batch.bin set
mc_data_fails 3 "set: holds both test_batch.bin*folder cifar-10-batches-bin" cifar10 set --split test

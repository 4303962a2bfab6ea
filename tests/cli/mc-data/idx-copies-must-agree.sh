# SPDX-License-Identifier: Apache-2.0
# mc-data idx reads a file that exists under several of its names (unpacked next to its .gz, with a dot for the second
# dash) if all copies are equal, and refuses it if they differ.
mkdir set
py <<'PY'
import gzip, struct
r = np.random.default_rng(3)
def write(name, array):
    head = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(">%dI" % array.ndim, *array.shape)
    open(name, "wb").write(head + array.tobytes())
    gzip.open(name + ".gz", "wb").write(head + array.tobytes())
x, y = r.integers(0, 256, (60, 9, 8), dtype=np.uint8), r.integers(0, 5, 60, dtype=np.uint8)
write("images", x)
write("labels", y)
write("other", 255 - x)
write("fewer", x[:59])
write("wider", x.reshape(60, 8, 9))
write("swapped", y[::-1].copy())
PY
dash=set/train-images-idx3-ubyte dot=set/train-images.idx3-ubyte labels=set/train-labels-idx1-ubyte
cp images $dash && cp labels $labels
mc-data idx set -o one.mcz
mc-data synth --samples 20 -o old.mcz
for name in $dash.gz $dot $dot.gz; do
    packed=${name#${name%.gz}}
    cp images$packed $name
    mc-data idx set | same one.mcz -
    for bad in other fewer wider; do
        cp $bad$packed $name
        mc_data_fails 3 "$name: differs*$dash" idx set
    done
    rm $name
done
cp swapped.gz $labels.gz
mc_data_fails 3 "$labels.gz: differs*$labels" idx set
rm $labels.gz
# files of the other split, which only count the classes
cp labels set/t10k-labels-idx1-ubyte && cp swapped set/t10k-labels.idx1-ubyte
mc_data_fails 3 "set/t10k-labels.idx1-ubyte: differs*set/t10k-labels-idx1-ubyte" idx set
rm set/t10k*
# each name alone
for name in $dash.gz $dot $dot.gz; do
    mv $dash keep
    cp images${name#${name%.gz}} $name
    mc-data idx set | same one.mcz -
    rm $name && mv keep $dash
done
rm $dash
mc_data_fails 3 "$dash" idx set

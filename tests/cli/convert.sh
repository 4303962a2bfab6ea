# SPDX-License-Identifier: Apache-2.0
# mc-convert: there and back bit for bit through safetensors and npz, by files and pipes, under other code
# bases' names; NumPy and a plain reader see the same numbers; what NumPy writes is taken.
. "$MC_ROOT/tests/cli/lib.bash"
export PYTHONPATH=$MC_ROOT/formats/python:$MC_ROOT/tests/cli
samples=64
[ "${MC_UNDER:-}" != valgrind ] || samples=8
mc-data synth --samples 64 -o data.mcz
mc-train -q -t 1 --net tinyten --data data.mcz --samples $samples --batch 8 --epochs 1 -o a.mcz

for format in safetensors npz; do
    mc-convert a.mcz -o a.$format
    mc-convert a.mcz --to $format >piped
    same a.$format piped
    mc-convert a.$format --like a.mcz -o like.mcz
    mc-convert a.$format --net tinyten --data data.mcz -o net.mcz
    [ "$(id a.mcz)" = "$(id like.mcz)" ] || die "$format: not the same back"
    [ "$(id a.mcz)" = "$(id net.mcz)" ] || die "$format: not the same for a network by its name"
done
mc-convert <a.safetensors --from safetensors --like a.mcz | mc-convert --to npz >piped
same a.npz piped
mc-convert a.safetensors --like a.mcz -o b.npz
same a.npz b.npz
mc-info net.mcz | grep -q 'mc-convert .* from=npz net=tinyten' || die "no history"

# the same names, shapes, order and bits to others
/usr/bin/python3 - <<'END'
import numpy as np
import mcz
import safetensors_reader
a = mcz.read("a.mcz").tensors
want = {}
for name in a:  # a state_dict's order: module by module
    module = name.rsplit(".", 1)[0]
    for kind in ("weight", "bias", "running_mean", "running_var"):
        if module + "." + kind in a:
            want[module + "." + kind] = a[module + "." + kind]
assert len(want) == len(a) == 50
for got in (np.load("a.npz"), safetensors_reader.read("a.safetensors")):
    assert list(got) == list(want)
    for name, v in want.items():
        assert got[name].dtype == np.float32 and got[name].shape == v.shape, name
        assert got[name].tobytes() == v.tobytes(), name
END

# what others write: deflated, of other versions, orders and floats, with batch norm's counts
/usr/bin/python3 - <<'END'
import io
import zipfile
import numpy as np
import mcz
a = mcz.read("a.mcz").tensors
counts = {n[:-12] + "num_batches_tracked": np.array(7) for n in a if n.endswith("running_mean")}
np.savez_compressed("deflated.npz", **a, **counts)
with zipfile.ZipFile("orders.npz", "w") as z:
    for i, (name, v) in enumerate(a.items()):
        f = io.BytesIO()
        np.lib.format.write_array(f, np.asfortranarray(v), version=[(1, 0), (2, 0), (3, 0)][i % 3])
        z.writestr(name + ".npy", f.getvalue())
half = {n: v.astype(np.float16) for n, v in a.items()}
tiny = np.array([0x0001, 0x83ff, 0x0400, 0x8000, 0x7bff, 0xfbff, 0x3c01, 0x0200] * 2, np.uint16).view(np.float16)
half["layers.0.conv.bias"] = tiny
np.savez("half.npz", **half)
np.savez("double.npz", **{n: v.astype(np.float64) + 1e-12 for n, v in a.items()})
nets = {"half": half, "double": {n: (v.astype(np.float64) + 1e-12).astype(np.float32) for n, v in a.items()}}
for name, t in nets.items():
    np.savez("want-%s.npz" % name, **{n: v.astype(np.float32) for n, v in t.items()})
# bfloat16 is the upper half of a float32
bf = {n: (np.ascontiguousarray(v).view(np.uint32) & 0xffff0000).view(np.float32) for n, v in a.items()}
np.savez("want-bf16.npz", **bf)
import json, struct
head, at, data = {}, 0, b""
for n, v in bf.items():
    raw = (v.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    head[n] = {"dtype": "BF16", "shape": list(v.shape), "data_offsets": [at, at + len(raw)]}
    at, data = at + len(raw), data + raw
head = json.dumps(head).encode()
open("bf16.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + data)
END
for f in deflated orders; do
    mc-convert $f.npz --like a.mcz -o x.mcz 2>note
    [ "$(id a.mcz)" = "$(id x.mcz)" ] || die "$f.npz is read otherwise"
    [ ! -s note ] || die "$f.npz: $(cat note)"
done
for f in half.npz double.npz bf16.safetensors; do
    mc-convert $f --like a.mcz -o x.mcz 2>note
    mc-convert want-${f%.*}.npz --like a.mcz -o y.mcz
    [ "$(id x.mcz)" = "$(id y.mcz)" ] || die "$f is read otherwise"
    [ "$(wc -l <note)" = 1 ] || die "$f: $(cat note)"
done
grep -q '50 tensors of bfloat16 became float32' note || die "$(cat note)"
mc-convert -q double.npz --like a.mcz -o x.mcz 2>note
[ ! -s note ] || die "-q: $(cat note)"

# other code bases' names, there and back
mc-train -q -t 1 --net resnet20 --data data.mcz --epochs 0 -o r.mcz
for map in kuangliu hysts; do
    mc-convert r.mcz --map "$MC_ROOT/pipelines/$map.map" -o $map.npz
    mc-convert $map.npz --map "$MC_ROOT/pipelines/$map.map" --net resnet20 --data data.mcz -o x.mcz
    [ "$(id r.mcz)" = "$(id x.mcz)" ] || die "$map.map does not lead back"
done
mc-convert r.mcz -o r.npz
/usr/bin/python3 - <<'END'
import numpy as np
# written down from those repositories' modules
def norm(n): return [n + "." + k for k in ("weight", "bias", "running_mean", "running_var")]
def kuangliu():
    names = ["conv1.weight"] + norm("bn1")
    for s in (1, 2, 3):
        for b in (0, 1, 2):
            p = "layer%d.%d." % (s, b)
            names += [p + "conv1.weight", p + "conv2.weight"] + norm(p + "bn1") + norm(p + "bn2")
            names += [p + "shortcut.0.weight"] + norm(p + "shortcut.1") if s > 1 and b == 0 else []
    return names + ["linear.weight", "linear.bias"]
def hysts():
    names = ["conv.weight"] + norm("bn")
    for s in (1, 2, 3):
        for b in (1, 2, 3):
            p = "stage%d.block%d." % (s, b)
            names += [p + "conv1.weight", p + "conv2.weight"] + norm(p + "bn1") + norm(p + "bn2")
            names += [p + "shortcut.conv.weight"] + norm(p + "shortcut.bn") if s > 1 and b == 1 else []
    return names + ["fc.weight", "fc.bias"]
for got, want in (np.load("kuangliu.npz"), kuangliu()), (np.load("hysts.npz"), hysts()):
    assert sorted(got) == sorted(want), set(got) ^ set(want)
ours, theirs = np.load("r.npz"), np.load("hysts.npz")
assert (ours["layer3.0.downsample.0.weight"] == theirs["stage3.block1.shortcut.conv.weight"]).all()
wrapped = {"net.module." + n: v for n, v in ours.items()}
np.savez("wrapped.npz", **wrapped, **{"net.normalize.mean": np.zeros(3, np.float32)})
END
printf '# wrapped\n\nnet.normalize\t-\r\nnet.module   . # the root\n' >wrapped.map
mc-convert -v wrapped.npz --map wrapped.map --like r.mcz -o x.mcz 2>note
[ "$(id r.mcz)" = "$(id x.mcz)" ] && grep -q '1 tensor left out' note || die "wrapped: $(cat note)"
mc-convert r.mcz --map <(cat wrapped.map) -o x.npz
/usr/bin/python3 -c 'import numpy as np; assert all(n.startswith("net.module.") for n in np.load("x.npz"))'

# maps that cannot be
map() { # what it says, the map
    printf "$2" >bad.map
    fails 3 "$1" mc-convert a.mcz --map bad.map -o no.npz
}
map 'bad.map: line 2: not two names' 'a b\nc\n'
map 'bad.map: line 1: not as many stars' 'a*.b c\n'
map 'bad.map: line 1: over 8 stars' '********* *********\n'
map 'not two names' 'a b c\n'
map 'the map makes "other.0.conv.weight" of "layers.0.conv.weight", but "dense.0.conv.weight" of that' 'other dense\nother layers\n'
head -c 3000 /dev/zero | tr '\0' x >long.map
fails 3 'long.map: line 1: too long' mc-convert a.mcz --map long.map -o no.npz
fails 3 '/dev/null: is no regular file' mc-convert a.mcz --map /dev/null -o no.npz
fails 1 "cannot open 'no.map'" mc-convert a.mcz --map no.map -o no.npz

# a network that the file is not of: all of it in one line
fails 3 'a.npz: not this network'"'"'s: missing bn1.bias, bn1.running_mean, bn1.running_var and 104 more; left over ' \
    mc-convert a.npz --like r.mcz -o no.mcz
/usr/bin/python3 - <<'END'
import numpy as np
a = dict(np.load("a.npz"))
np.savez("shape.npz", **{**a, "dense.weight": a["dense.weight"].T, "dense.bias": a["dense.bias"].astype(np.int32)})
np.savez("big.npz", **{**a, "dense.bias": a["dense.bias"].astype(">f4")})
np.savez("nan.npz", **{**a, "dense.bias": a["dense.bias"] * np.float32("nan")})
np.savez("var.npz", **{**a, "layers.0.bn.running_var": -a["layers.0.bn.running_var"]})
np.savez("huge.npz", **{**a, "dense.bias": np.full(10, 1e300)})
np.savez("twice.npz", **a, **{"head.bias": a["dense.bias"]})
np.savez("count.npz", **a, **{"dense.num_batches_tracked": np.array(3)})
END
fails 3 'of another shape dense.weight (64,10) for (10,64); no floating point dense.bias of <i4' \
    mc-convert shape.npz --like a.mcz -o no.mcz
fails 3 'no floating point dense.bias of >f4' mc-convert big.npz --like a.mcz -o no.mcz
fails 3 'nan.npz: "dense.bias" holds a value that is not finite' mc-convert nan.npz --like a.mcz -o no.mcz
fails 3 'var.npz: "layers.0.bn.running_var" holds a variance below 0' mc-convert var.npz --like a.mcz -o no.mcz
rc=0
mc-convert -q huge.npz --like a.mcz -o no.mcz 2>err || rc=$?
[ $rc = 3 ] && grep -q 'huge.npz: "dense.bias" holds a value that is not finite' err || die "huge: $rc $(cat err)"
fails 3 'left over dense.num_batches_tracked' mc-convert count.npz --like a.mcz -o no.mcz
printf 'head dense\n' >head.map
fails 3 'more than once' mc-convert twice.npz --map head.map --like a.mcz -o no.mcz

# a complaint of long names and shapes has its end, and its count is right
/usr/bin/python3 - <<'END'
import json, struct, zipfile
names = ["n%d_" % i + "x" * 80 for i in range(8)]
nodes = [{"op": "normalise", "name": "p", "in": [], "mean": [.5] * 3, "std": [.5] * 3}]
for n in names:
    nodes.append({"op": "conv", "name": n, "in": [nodes[-1]["name"]], "out": 1024, "kernel": [1, 1], "stride": [1, 1],
                  "pad": [0, 0], "groups": 1, "bias": False})
nodes += [{"op": "globalpool", "name": "g", "in": [names[-1]]}, {"op": "linear", "name": "fc", "in": ["g"], "out": 10,
          "bias": False}, {"op": "loss", "name": "loss", "in": ["fc"], "weight": 1, "train_only": False}]
json.dump({"input": [3, 32, 32], "classes": 10, "nodes": nodes}, open("wide.json", "w"))
shape = b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, %d, %d, %d), }\n" % ((2**64 - 1,) * 3)
with zipfile.ZipFile("wide.npz", "w") as z:
    for n in names + ["fc"]:
        z.writestr(n + ".weight.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(shape)) + shape)
END
fails 3 'and 6 more' mc-convert wide.npz --net wide.json --data data.mcz -o no.mcz

# usage; inputs that are damaged or not there; outputs that fail
fails 2 'needs an -o or IN' mc-convert a.mcz -o no.mcz
fails 2 'needs one of --like' mc-convert a.npz -o no.mcz
fails 2 'needs one of --like' mc-convert a.npz --like a.mcz --net tinyten -o no.mcz
fails 2 'go together' mc-convert a.npz --net tinyten -o no.mcz
fails 2 'holds its network' mc-convert a.mcz --like a.mcz -o no.npz
fails 2 'safetensors' mc-convert a.mcz --to pickle -o no.npz
fails 2 'is another' mc-convert a.mcz b.mcz -o no.npz
fails 2 'standard input' mc-convert --from npz --like a.mcz - -o no.mcz
fails 2 'standard input' mc-convert --from safetensors --like - -o no.mcz
fails 2 'no network is called' mc-convert a.npz --net nothing --data data.mcz -o no.mcz
head -c 9000 data.mcz >cut.mcz
fails 3 'cut.mcz' mc-convert a.npz --net tinyten --data cut.mcz -o no.mcz
fails 3 'is a dataset stream' mc-convert data.mcz -o no.npz
fails 1 "cannot open 'nothing.npz'" mc-convert nothing.npz --like a.mcz -o no.mcz
fails 1 "cannot open 'nothing.safetensors'" mc-convert nothing.safetensors --like a.mcz -o no.mcz
fails 1 'nowhere' mc-convert a.mcz -o nowhere/no.npz
for format in npz safetensors; do
    rc=0
    mc-convert a.mcz --to $format >/dev/full 2>err || rc=$?
    [ $rc = 1 ] && [ "$(wc -l <err)" = 1 ] || die "$format: a full disk: $rc"
done
rc=0
head -c 5000 a.mcz | mc-convert - --to safetensors 2>/dev/null | mc-convert --from safetensors --like a.mcz 2>err >out || rc=$?
[ $rc = 3 ] && grep -q 'stdin: truncated' err && [ ! -s out ] || die "a failed upstream: $rc $(cat err)"
[ ! -e no.mcz ] && [ ! -e no.npz ] || die "an output of a failed run"
no_temporaries

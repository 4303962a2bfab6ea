# SPDX-License-Identifier: Apache-2.0
# mc-convert lists all mismatches between a file and a network in one line, with the right count.
fixture converted
mc-train -q -t 1 --net resnet20 --data data.mcz --epochs 0 -o r.mcz
fails 3 'a.npz: tensors*not match*network: missing bn1.bias, bn1.running_mean, bn1.running_var and 104 more; unexpected ' \
    mc-convert a.npz --like r.mcz
py <<'END'
a = dict(np.load("a.npz"))
np.savez("shape.npz", **{**a, "dense.weight": a["dense.weight"].T, "dense.bias": a["dense.bias"].astype(np.int32)})
np.savez("big.npz", **{**a, "dense.bias": a["dense.bias"].astype(">f4")})
np.savez("nan.npz", **{**a, "dense.bias": a["dense.bias"] * np.float32("nan")})
np.savez("var.npz", **{**a, "layers.0.bn.running_var": -a["layers.0.bn.running_var"]})
np.savez("huge.npz", **{**a, "dense.bias": np.full(10, 1e300)})
np.savez("twice.npz", **a, **{"head.bias": a["dense.bias"]})
np.savez("count.npz", **a, **{"dense.num_batches_tracked": np.array(3)})
np.savez("counts.npz", **a, **{"none.num_batches_tracked": np.array(3), ".num_batches_tracked": np.array(3),
                               "n" * 99 + ".num_batches_tracked": np.array(3)})
np.savez("axes.npz", **{**a, "dense.weight": np.zeros((12345678,) + (1,) * 6 + (0,), "f4")})
END
fails 3 'wrong shape dense.weight (64,10)*(10,64); not floating point dense.bias*<i4' \
    mc-convert shape.npz --like a.mcz
fails 3 'not floating point dense.bias*>f4' mc-convert big.npz --like a.mcz
fails 3 'nan.npz: "dense.bias"*not finite' mc-convert nan.npz --like a.mcz -o nan.mcz
[ ! -e nan.mcz ] || die 'a failed run left its output'
fails 3 'var.npz: "layers.0.bn.running_var" holds*variance below 0' mc-convert var.npz --like a.mcz -o nan.mcz
rc=0
mc-convert -q huge.npz --like a.mcz 2>err || rc=$?
[ $rc = 3 ] && has_words err 'huge.npz: "dense.bias"*not finite' || die "huge: $rc $(cat err)"
fails 3 'unexpected dense.num_batches_tracked' mc-convert count.npz --like a.mcz
fails 3 'unexpected none.num_batches_tracked, .num_batches_tracked, nnnn' mc-convert counts.npz --like a.mcz
fails 3 'wrong shape dense.weight (12345678,1,1,1,1,1,1,0)*(10,64)' mc-convert axes.npz --like a.mcz
printf 'head dense\n' >head.map
fails 3 'duplicate head.bias' mc-convert twice.npz --map head.map --like a.mcz
py <<'END'
import struct, zipfile
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
fails 3 'and 6 more' mc-convert wide.npz --net wide.json --data data.mcz
# axes of size 1 at the end may be missing or added; elsewhere they must match
py <<'END'
nodes = [{"op": "normalise", "name": "p", "in": [], "mean": [.5] * 3, "std": [.5] * 3}]
for n, (out, kernel) in {"row": (4, [1, 7]), "point": (5, [1, 1])}.items():
    nodes.append({"op": "conv", "name": n, "in": [nodes[-1]["name"]], "out": out, "kernel": kernel, "stride": [1, 1],
                  "pad": [0, 0], "groups": 1, "bias": n == "point"})
nodes += [{"op": "globalpool", "name": "g", "in": ["point"]}, {"op": "linear", "name": "fc", "in": ["g"], "out": 10,
          "bias": False}, {"op": "loss", "name": "loss", "in": ["fc"], "weight": 1, "train_only": False}]
json.dump({"input": [3, 32, 32], "classes": 10, "nodes": nodes}, open("row.json", "w"))
draw = np.random.RandomState(1)
w = {k + ".weight": draw.randn(*s).astype("f4") for k, s in {"row": (4, 3, 1, 7), "point": (5, 4, 1, 1), "fc": (10, 5)}.items()}
w["point.bias"] = draw.randn(5).astype("f4")
np.savez("row.npz", **w)
np.savez("fewer.npz", **{**w, "point.weight": w["point.weight"].reshape(5, 4), "fc.weight": w["fc.weight"].reshape(10, 5, 1, 1),
                         "point.bias": w["point.bias"].reshape(1, 5, 1, 1)})
np.savez("column.npz", **{**w, "row.weight": w["row.weight"].reshape(4, 3, 7, 1)})
np.savez("line.npz", **{**w, "row.weight": w["row.weight"].reshape(4, 3, 7)})
END
mc-convert row.npz --net ./row.json --data data.mcz -o x.mcz
mc-convert fewer.npz --net ./row.json --data data.mcz | same_content - x.mcz
fails 3 'wrong shape row.weight (4,3,7,1)*(4,3,1,7)' mc-convert column.npz --net ./row.json --data data.mcz
fails 3 'wrong shape row.weight (4,3,7)*(4,3,1,7)' mc-convert line.npz --net ./row.json --data data.mcz

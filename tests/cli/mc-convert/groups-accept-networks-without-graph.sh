# SPDX-License-Identifier: Apache-2.0
# mc-convert --groups accepts a network without a graph. With the rows of tinyten's groups, it is permuted, matched and
# connected as tinyten is, and converts back to safetensors.
fixture pair
cat >rows.py <<'END'
print("# tinyten's\n\ntensor\taxis\toffset\tcount\tblock\tgroup")
last = None
for i, n in enumerate([16, 16, 32, 32, 32, 64, 64, 64]):
    p = "layers.%d." % i
    g = "\t%d\t1\t%sconv" % (n, p)
    for t in "conv.weight", "conv.bias", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var":
        print(p + t + "\t0\t0" + g)
    print("%s\t1\t0%s" % ("layers.%d.conv.weight" % (i + 1) if i < 7 else "dense.weight", g))
END
/usr/bin/python3 rows.py >ten.tsv
for n in a b; do
    mc-convert $n.mcz -o $n.safetensors
    mc-convert $n.safetensors --groups ten.tsv -o g$n.mcz
    mc-info --check -q g$n.mcz
    mc-convert g$n.mcz -o back.safetensors
    mc-convert back.safetensors --like $n.mcz | same_content - $n.mcz
    mc-convert $n.mcz -o $n.npz
    mc-convert $n.npz --groups <(cat ten.tsv) -o from-npz.mcz
    mc-convert $n.npz --groups <(grep '^[^#]' ten.tsv | head -c -1) | same_content - from-npz.mcz # without the last newline
    mc-convert back.safetensors --like g$n.mcz | same_content - g$n.mcz
done
py <<'END'
a, g, n = (mcz.read(f) for f in ("a.mcz", "ga.mcz", "from-npz.mcz"))
assert g.meta["net"] == "groups" and "graph" not in g.meta and list(g.tensors) == sorted(a.tensors)
assert all((g.tensors[k] == a.tensors[k]).all() for k in a.tensors)
rows = [l for l in open("ten.tsv") if l[0] not in "#\n"]
assert g.meta["symmetry"] == "".join(rows) == n.meta["symmetry"]
END

# the same random permutation
for n in b gb; do mc-permute --random 5 --perm-out $n.p --no-history $n.mcz -o q-$n.mcz; done
same_content b.p gb.p
mc-convert q-gb.mcz --to safetensors | mc-convert --from safetensors - --like b.mcz | same_content - q-b.mcz
mc-permute b.p gb.mcz | same_content - q-gb.mcz
mc-permute --inverse gb.p q-gb.mcz | same_content - gb.mcz
# the same matching
mc-match -q --log-json log.json a.mcz b.mcz -o p.mcz
mc-match -q --log-json glog.json ga.mcz gb.mcz -o gp.mcz
py <<'END'
p, g = (mcz.read(f + ".mcz") for f in ("p", "gp"))
assert all((p.tensors[k] == g.tensors[k]).all() for k in p.tensors) and list(p.tensors) == list(g.tensors)
logs = [[json.loads(l) for l in open(f)] for f in ("log.json", "glog.json")]
assert len(logs[0]) == len(logs[1]) and all(abs(x["objective"] / y["objective"] - 1) < 1e-6 for x, y in zip(*logs))
END
# a straight line and a point on it; statistics are averaged
mc-bezier --epochs 0 ga.mcz gb.mcz -o line.mcz
mc-info line.mcz | grep -q symmetry
mc-bezier --point 0.25 line.mcz -o point.mcz
py <<'END'
a, b, x = (mcz.read(f + ".mcz") for f in ("ga", "gb", "point"))
for k, v in x.tensors.items():
    assert np.abs(v - (.75 * a.tensors[k].astype(float) + .25 * b.tensors[k])).max() <= 1e-6 * np.abs(v).max(), k
assert x.meta == a.meta
END
# integers are left out, with a note
py <<'END'
import struct
def save(path, **tensors):
    at, head, body = 0, {}, b""
    for k, (kind, v) in tensors.items():
        head[k] = {"dtype": kind, "shape": list(v.shape), "data_offsets": [len(body), len(body) + v.nbytes]}
        body += v.tobytes()
    text = json.dumps(head).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + body)
save("long.safetensors", w=("F32", np.arange(6, dtype="f4")), **{"x" * 96: ("F32", np.arange(2, dtype="f4"))})
save("infinite.safetensors", w=("F16", np.array([1, 2, 3, 4, 5, np.inf], "f2")))
save("mixed.safetensors", w=("F32", np.arange(6, dtype="f4")), mask=("BOOL", np.ones(3, "u1")),
     h=("F16", np.arange(2, dtype="f2")), s=("F32", np.array(2, "f4")))
open("one.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\r\nw\t0\t0\t3\t2\tg")
END
fails 3 'name*at most 95 bytes' mc-convert long.safetensors --groups one.tsv -o long-too.mcz
fails 3 'infinite.safetensors: "w"*not finite' mc-convert infinite.safetensors --groups one.tsv
mc-convert -v mixed.safetensors --groups one.tsv --f32 -o mixed.mcz 2>errors
grep -q 'mixed.safetensors: left out 1 tensor of integers: mask of BOOL' errors
grep -q '1 tensor of float16 became float32' errors
expect_equal "$(mc-info mixed.mcz | sed -n '/^tensors/,$p' | tr -s ' ' | paste -sd,)" 'tensors, float32 2 h, float32 scalar s, float32 6 w'

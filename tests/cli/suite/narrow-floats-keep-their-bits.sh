# SPDX-License-Identifier: Apache-2.0
# Weights of float16 and bfloat16 keep every bit through mc-convert, streams, mc-permute and the ends of lines. A point of a
# line is rounded once, to nearest even. --f32 widens, and other programs compute what they compute with the widened weights.
py <<'END'
from mcz import safetensors
every = np.arange(1 << 16, dtype="<u2")
finite = {"bfloat16": every[(every & 0x7f80) != 0x7f80].reshape(16, -1), "float16": every[(every & 0x7c00) != 0x7c00].reshape(16, -1)}
draw = np.random.RandomState(2)
for name in "a", "b":
    small = draw.randn(16, 300).astype("f4")
    safetensors.write(name + ".safetensors", {
        "bf": finite["bfloat16"], "h": finite["float16"].view("<f2"), "f": draw.randn(16, 5).astype("f4"),
        "s": (small.view("<u4") >> 16).astype("<u2")}, {"bf": "bfloat16", "s": "bfloat16"})
open("g.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\n" + "".join("%s\t0\t0\t16\t1\tg\n" % t for t in ("bf", "f", "h", "s")))
END
for n in a b; do mc-convert $n.safetensors --groups g.tsv -o $n.mcz; done
expect_message '' mc-convert a.safetensors --groups g.tsv
mc-info --check -q a.mcz
mc-convert a.mcz -o back.safetensors
mc-convert a.mcz -o a.npz
mc-convert a.npz --like a.mcz | same_content - a.mcz
mc-convert back.safetensors --groups g.tsv | same_content - a.mcz
mc-permute --random 3 --perm-out p.mcz a.mcz -o pa.mcz
mc-permute --inverse p.mcz pa.mcz | same_content - a.mcz
different_content pa.mcz a.mcz

# lines keep the types of their ends; a point has the type that both ends have
mc-convert -q a.safetensors --groups g.tsv --f32 -o wide-a.mcz
mc-convert -q b.mcz --f32 -o wide-b.mcz
expect_message 'mc-convert: b.safetensors: 1 tensor*float16*float32
mc-convert: b.safetensors: 2 tensors*bfloat16*float32' mc-convert b.safetensors --groups g.tsv --f32
same_content x.mcz wide-b.mcz
line() { mc-bezier --epochs 0 --control-points ${3:-0} $1 $2; }
line a.mcz b.mcz >line.mcz
mc-info --check -q line.mcz
for t in 0 1; do mc-bezier --point $t line.mcz -o end$t.mcz; done
mc-bezier --point .3 line.mcz -o narrow.mcz
line wide-a.mcz wide-b.mcz | mc-bezier --point .3 - -o wide.mcz
line a.mcz wide-b.mcz | mc-bezier --point .3 - | same_content - wide.mcz
line a.mcz b.mcz 1 >bent.mcz

py <<'END'
def raw(name):
    s = mcz.read(name)
    return {k: v.view("<u2") if v.dtype.itemsize == 2 else v for k, v in s.tensors.items()}, s.dtypes

def bits(path):
    text = open(path, "rb").read()
    n = int.from_bytes(text[:8], "little")
    head = json.loads(text[8:8 + n])
    return {k: (t["dtype"], text[8 + n:][slice(*t["data_offsets"])]) for k, t in head.items() if k != "__metadata__"}

a, dtypes = raw("a.mcz")
assert dtypes == {"bf": "bfloat16", "f": "float32", "h": "float16", "s": "bfloat16"}, dtypes
assert bits("back.safetensors") == bits("a.safetensors")
npz = np.load("a.npz")
assert {k: v.dtype.str for k, v in npz.items()} == {"bf": "|V2", "f": "<f4", "h": "<f2", "s": "|V2"}
assert all(npz[k].tobytes() == a[k].tobytes() for k in a)

# moved, not converted
p = mcz.read("p.mcz").tensors["g"]
moved, types = raw("pa.mcz")
assert types == dtypes and all((moved[k] == a[k][p]).all() for k in a)

# rounded once: mc-merge/mean-of-16-bits-is-rounded-once.sh compares the bits
s, wide, narrow = mcz.read("line.mcz"), mcz.read("wide.mcz"), raw("narrow.mcz")
assert set(wide.dtypes.values()) == {"float32"} and narrow[1] == dtypes
assert {k: s.dtypes["0/" + k] for k in a} == {k: s.dtypes["1/" + k] for k in a} == dtypes
assert mcz.read("bent.mcz").dtypes == {"%d/%s" % (i, k): v if i != 1 else "float32" for i in range(3) for k, v in dtypes.items()}
bits_of = {"bf": 8, "h": 11, "s": 8}
for k, v in mcz.widened(mcz.read("narrow.mcz")).items():  # the value rounded to float32, up to half a step of the narrow type
    smallest = {"h": 2.0 ** -24}.get(k, 2.0 ** -133)
    step = np.maximum(abs(wide.tensors[k]).astype(float) * 2.0 ** -bits_of.get(k, 60), smallest / 2) * (k in bits_of)
    assert (abs(v.astype(float) - wide.tensors[k]) <= step * (1 + 2.0 ** -12)).all(), k
assert (narrow[0]["s"] != wide.tensors["s"].view("<u4") >> 16).any()  # truncation would be wrong

# the ends' values; the sign of a zero may change
for end, of in ("end0.mcz", "a.mcz"), ("end1.mcz", "b.mcz"):
    x, y = mcz.read(end), mcz.read(of)
    assert x.dtypes == y.dtypes and all((mcz.widened(x)[k] == v).all() for k, v in mcz.widened(y).items()), end

# a value that the type cannot hold
high = {"%d/%s" % (i, k): (v.astype("f4") * 0 + 1e6 if i == 1 else np.ones(v.shape, "<f2")) for i in range(3) for k, v in a.items()}
mcz.write("high.mcz", "curve", {**s.meta, "points": 3}, high)
END
mc-info --check -q high.mcz
fails_unchanged 1 'value*too large*float16' mc-bezier --point .5 high.mcz -o no.mcz

# other programs compute with the widened weights, and write float32
fixture pair
py <<'END'
for name in "a", "b":
    s = mcz.read(name + ".mcz")
    mcz.write("n" + name + ".mcz", s.kind, s.meta, {k: (v.view("<u4") >> 16).astype("<u2") for k, v in s.tensors.items()},
              dtypes=dict.fromkeys(s.tensors, "bfloat16"))
END
for n in a b; do mc-convert --f32 n$n.mcz -o w$n.mcz; done
mc-match -q na.mcz nb.mcz | same_content - <(mc-match -q wa.mcz wb.mcz)
for n in n w; do
    mc-eval -q -t 1 ${n}a.mcz --data data.mcz $small | tail -n 1 | cut -f 2- >$n.tsv
    acts ${n}a.mcz ${n}b.mcz | mc-corr -q - -o $n-c.mcz
    mc-train -q -t 1 --init ${n}a.mcz --data data.mcz --samples $images --batch $batch --epochs 0 -o $n-t.mcz
done
same n.tsv w.tsv
same_content n-c.mcz w-c.mcz
same_content n-t.mcz w-t.mcz
same_content w-t.mcz wa.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-merge writes the float64 mean, rounded once, of parameters and statistics, in the type that all networks have.
fixture pair
py <<'END'
from mcz import safetensors
draw = np.random.RandomState(3)
for name in "xyz":
    half = draw.randn(16, 50).astype("<f2")
    safetensors.write(name + ".safetensors", {
        "b": (draw.randn(16, 50).astype("<f4").view("<u4") >> 16).astype("<u2"), "f": draw.randn(16, 9).astype("<f4"),
        "h": half, "s": half if name == "z" else half.astype("<f4")}, {"b": "bfloat16"})
open("g.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\n" + "".join("%s\t0\t0\t16\t1\tg\n" % t for t in "bfhs"))
END
for n in x y z; do mc-convert $n.safetensors --groups g.tsv -o $n.mcz; done
mc-permute --random 4 a.mcz -o c.mcz
mc-merge a.mcz b.mcz c.mcz -o abc.mcz
mc-merge --weights 1,2.5,.25 a.mcz b.mcz c.mcz -o abc-w.mcz
mc-merge --weights .5,1/3,2 z.mcz y.mcz - <x.mcz >zyx-w.mcz
# the middle of the straight line
mc-bezier --epochs 0 x.mcz y.mcz | mc-bezier --point .5 - -o middle.mcz
mc-merge x.mcz y.mcz | same_content - middle.mcz
py <<'END'
def wide(s, k):
    x = np.ascontiguousarray(s.tensors[k])
    return ((x.view("<u2").astype("<u4") << 16).view("<f4") if s.dtypes[k] == "bfloat16" else x).astype(float)

for name, weights, narrow in (("abc", [1, 1, 1], {}), ("abc-w", [1, 2.5, .25], {}),
                              ("zyx-w", [.5, 1 / 3, 2], {"b": "bfloat16", "h": "float16"})):
    weights = [w / max(weights) for w in weights]
    inputs, got = [mcz.read(n + ".mcz") for n in name[:3]], mcz.read(name + ".mcz")
    assert got.meta == inputs[0].meta and list(got.tensors) == list(inputs[0].tensors)
    for k in got.tensors:
        assert got.dtypes[k] == narrow.get(k, "float32"), (k, got.dtypes[k])
        mean = (sum(w * wide(s, k) for w, s in zip(weights, inputs)) / sum(weights)).astype("<f4")
        spacing = {"bfloat16": 2 ** -8, "float16": 2 ** -11, "float32": 0}[got.dtypes[k]]
        assert np.all(abs(wide(got, k) - mean) <= spacing * abs(mean) + 2 ** -25 * (spacing > 0)), (name, k)
    assert any(k.endswith("running_var") for k in got.tensors) or narrow
END

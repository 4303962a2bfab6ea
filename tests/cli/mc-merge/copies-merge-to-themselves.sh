# SPDX-License-Identifier: Apache-2.0
# mc-merge of copies of a network is that network bit for bit, with any weights, types, zeros and subnormals; its history
# names all inputs.
fixture pair
py <<'END'
from mcz import safetensors
a = mcz.read("a.mcz")
t = {k: v.copy() for k, v in a.tensors.items()}
first = t["layers.0.conv.weight"].reshape(-1)
first[:8] = [0, -0.0, 1e-45, -1e-45, 3e-39, 3.4028235e38, -3.4028235e38, 1 / 3]
mcz.write("hard.mcz", a.kind, a.meta, t)
every = np.arange(1 << 16, dtype="<u2")
finite = {"bfloat16": (every & 0x7f80) != 0x7f80, "float16": (every & 0x7c00) != 0x7c00}
safetensors.write("n.safetensors", {"b": every[finite["bfloat16"]], "h": every[finite["float16"]].view("<f2"),
                                    "f": np.float32([-0.0, 1])}, {"b": "bfloat16"})
open("g.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\nf\t0\t0\t2\t1\tg\n")
END
mc-convert n.safetensors --groups g.tsv -o narrow.mcz

for n in hard narrow; do
    mc-merge $n.mcz $n.mcz | same_content - $n.mcz
    mc-merge $n.mcz $n.mcz - $n.mcz $n.mcz $n.mcz $n.mcz <$n.mcz | same_content - $n.mcz
    for w in 1,1,1 .1,.7,1/3 1/3,1/3,1/3 1e-9,3,1e9 0,.3,0 7,0,1e-3; do
        mc-merge --weights $w $n.mcz $n.mcz $n.mcz | same_content - $n.mcz
    done
done
# a network of weight 0 has no effect
mc-merge --weights 0,2,0 b.mcz hard.mcz b.mcz | same_content - hard.mcz
mc-merge --weights 1,0 hard.mcz b.mcz | same_content - hard.mcz
mc-merge a.mcz b.mcz -o m.mcz
mc-info --check -q m.mcz
for w in .5,.5 .3,.3 1e-9,1e-9; do mc-merge --weights $w a.mcz b.mcz | same_content - m.mcz; done
mc-merge --weights 1,2 a.mcz b.mcz -o w.mcz
different_content m.mcz w.mcz
py <<'END'
a, b, m, w = (mcz.read(f + ".mcz") for f in "abmw")
assert m.inputs == [a.id, b.id] and m.history[-1]["tool"] == "mc-merge" and len(m.history[-1]["parents"]) == 2
assert not m.history[-1]["args"] and dict(w.history[-1]["args"]) == {"weights": "1,2"}, (m.history[-1], w.history[-1])
END
# without a history, the inputs remain
mc-merge --no-history a.mcz b.mcz -o plain.mcz
same_content plain.mcz m.mcz
py <<<'assert mcz.read("plain.mcz").inputs == [mcz.read(f).id for f in ("a.mcz", "b.mcz")]'

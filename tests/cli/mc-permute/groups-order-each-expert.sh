# SPDX-License-Identifier: Apache-2.0
# A mixture of 3 experts, whose hidden units are on axis 1 of gate_up and on axis 2 of down: mc-permute moves the experts and
# the hidden units of each as NumPy does, and the inverse writes the same file. mc-match recovers the permutation.
py <<'END'
from mcz import groups, safetensors
rows = [(name, 0, 0, 3, 1, "experts") for name in ("down", "gate_up", "router")]
rows += [("down", 1, 0, 5, 1, "stream"), ("gate_up", 2, 0, 5, 1, "stream"), ("router", 1, 0, 5, 1, "stream")]
for e in range(3):
    rows += [("gate_up", 1, 8 * e + first, 4, 1, "expert%d" % e, 3) for first in (0, 4)]
    rows += [("down", 2, 4 * e, 4, 1, "expert%d" % e, 3)]
shapes = {"router": (3, 5), "gate_up": (3, 8, 5), "down": (3, 5, 4)}
groups.write("g.tsv", groups.rows(rows, shapes)[0])
draw = np.random.RandomState(1)
safetensors.write("net.safetensors", {name: draw.randn(*shape).astype("f4") for name, shape in shapes.items()})
END
grep -q '^down	2/3	4	4	1	expert1	experts	1$' g.tsv
mc-convert net.safetensors --groups g.tsv -o a.mcz
mc-convert a.mcz -o same.safetensors
mc-info --check -q a.mcz
for seed in 1 2 3; do
    mc-permute --random $seed --perm-out p.mcz a.mcz -o q.mcz
    py <<'END'
a, b, p = (mcz.read(f + ".mcz").tensors for f in ("a", "q", "p"))
s = p["stream"]
assert any((p["expert%d" % e] != range(4)).any() for e in range(3))
for new, old in enumerate(p["experts"]):
    h = p["expert%d" % old]
    assert (b["router"][new] == a["router"][old][s]).all() and (b["down"][new] == a["down"][old][s][:, h]).all()
    assert (b["gate_up"][new] == a["gate_up"][old][np.r_[h, 4 + h]][:, s]).all()
END
    mc-match -q a.mcz q.mcz | mc-permute - q.mcz | same_content - a.mcz
    mc-permute --inverse p.mcz q.mcz | mc-convert - -o back.safetensors
    cmp same.safetensors back.safetensors
done

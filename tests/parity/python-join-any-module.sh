# SPDX-License-Identifier: Apache-2.0
# A vision transformer without a graph: with derived groups, mcz.torch.align finds a planted permutation from activations
# and from weights, merge and Curve apply it, training lowers the loss between the ends, equal seeds train equal curves, and the streams are mc's own:
# mc-info, mc-permute, mc-bezier and mc-plot accept them. Tied weights stay tied, and batches may be dictionaries.
need_torch 2.15
export PYTHONPATH=$PYTHONPATH:$MC_ROOT/pipelines/modules:$MC_ROOT/tests/parity OMP_NUM_THREADS=1
$python - <<'END'
import copy
import mcz, mcz.torch, numpy as np, torch, vits
from torch import nn
from torch.nn import functional as F


def distance(m, n):
    return max(float((u - v).abs().max()) for u, v in zip(m.state_dict().values(), n.state_dict().values()))


a, b = vits.net(1, 24, 2), vits.net(2, 24, 2)
x, y = torch.randn(96, 3, 32, 32), torch.randint(10, (96,))
data = list(zip(x.split(32), y.split(32)))
groups = mcz.torch.groups(a, x[:2])
assert len(groups.sizes) > 10, groups
planted = {g: np.random.default_rng(3).permutation(n) for g, n in groups.sizes.items()}
moved = mcz.torch.permute(copy.deepcopy(a), planted, groups)
assert distance(a, moved) > .1 and (a(x) - moved(x)).abs().max() < 1e-4
p = mcz.torch.align(a, moved, iter(data))
q = mcz.torch.align(a, moved, None, groups, by="weights", path="q.mcz")
for found in p, q:
    assert vits.equal(mcz.torch.permute(copy.deepcopy(moved), found, found.groups), a)
# merge: the identity for the planted permutation, the mean for other networks; arguments are unchanged
assert distance(mcz.torch.merge(a, moved, p), a) < 1e-6
kept = copy.deepcopy(b)
p = mcz.torch.align(a, b, data, groups, path="p.mcz")
merged, pb = mcz.torch.merge(a, b, p, t=.25), mcz.torch.permute(copy.deepcopy(b), "p.mcz", groups)
for k, v in merged.state_dict().items():
    assert torch.allclose(v, .75 * a.state_dict()[k] + .25 * pb.state_dict()[k], atol=1e-6), k
assert vits.equal(b, kept) and not merged.training and a.training
assert distance(mcz.torch.merge(a, b), merged) > .1
# a curve
curves = [mcz.torch.Curve(a, b, p) for _ in range(2)]
line = curves[0].evaluate({"train": data}, points=5, progress=False)
state = torch.get_rng_state()
for c in curves:
    c.train(data, epochs=8, optimizer=lambda p: torch.optim.AdamW(p, 3e-3), seed=5, log="log.json", progress=False)
assert torch.equal(torch.get_rng_state(), state)
assert all(torch.equal(curves[0].points[1][k], curves[1].points[1][k]) for k in c.names)
rows = c.evaluate({"train": data}, points=5, progress=False)
assert rows[2]["train.loss"] < line[2]["train.loss"] - .05, (rows[2], line[2])
assert rows[0] == line[0] and rows[4] == line[4]
assert repr(rows).startswith("<5 points, train.loss barrier "), repr(rows)
rows.write("c.tsv")
c.save("c.mcz")
loaded = mcz.torch.Curve.load("c.mcz", vits.net(9, 24, 2))
assert loaded.evaluate({"train": data}, points=5, progress=False) == rows
loaded.save("again.mcz")
mcz.torch.save(b, "b.mcz", groups)
mcz.torch.save(pb, "pb.mcz", groups)
mcz.torch.save(c.point(.3), "point.mcz", groups)


# groups derived from a dictionary of arguments, in batches with labels
class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.hidden, self.head = nn.Embedding(11, 8), nn.Linear(8, 16), nn.Linear(16, 11)

    def forward(self, tokens, shift):
        return self.head(torch.tanh(self.hidden(self.embed(tokens)) + shift[:, None]))


tokens, shift = torch.randint(11, (64, 5)), torch.rand(64, 1)
batches = [({"tokens": t, "shift": s}, t.roll(1, 1)) for t, s in zip(tokens.split(16), shift.split(16))]
m, n = Words(), Words()
found = mcz.torch.align(m, n, batches)
assert found.groups.sizes == {"embed": 8, "hidden": 16}
moved = mcz.torch.permute(copy.deepcopy(n), found, found.groups)
assert distance(moved, n) > .1 and (moved(tokens, shift) - n(tokens, shift)).abs().max() < 1e-5


# tied weights, half precision, a buffer, dictionaries, an output with logits, labels per position
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(11, 8), nn.Linear(8, 11, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("scale", torch.rand(8))

    def forward(self, tokens, shift=0):
        return {"logits": self.head(torch.tanh(self.embed(tokens) * self.scale) + shift).transpose(1, 2)}


tokens = torch.randint(11, (64, 5))
batches = [({"tokens": t, "shift": torch.tensor(.1)}, t.roll(1, 1)) for t in tokens.split(16)]
for dtype in torch.float32, torch.bfloat16:
    m, n = Tied().to(dtype), Tied().to(dtype)
    c = mcz.torch.Curve(m, n, control_points=2, kind="chain")
    c.train(batches, epochs=3, lr=1., progress=False, loss=lambda o, y: F.cross_entropy(o["logits"].float(), y))
    middle = c.point(.4)
    assert middle.head.weight is middle.embed.weight and middle.head.weight.dtype == dtype
    assert c.names == ["embed.weight"] and torch.allclose(c.at(.5)["scale"], (m.scale.float() + n.scale.float()) / 2)
    assert c.evaluate({"text": batches}, points=3, progress=False, loss=lambda o, y: F.cross_entropy(o["logits"].float(), y))
    c.save("tied.mcz")
    s = mcz.read("tied.mcz")
    assert np.array_equal(s.tensors["1/embed.weight"], s.tensors["1/head.weight"])
    assert np.abs(s.tensors["1/head.weight"] - s.tensors["0/head.weight"]).max() > 1e-3
END
for f in *.mcz; do mc-info --check "$f" || die "$f"; done >/dev/null
same_content again.mcz c.mcz
mc-permute p.mcz b.mcz 2>warning | same_content - pb.mcz
expect_equal "$(cat warning)" ''
mc-bezier --point .3 c.mcz -o by-mc-bezier.mcz
mc-permute p.mcz c.mcz 2>/dev/null && die 'mc-permute permutes a curve'
mc-permute c.mcz b.mcz 2>/dev/null | same_content - pb.mcz
py <<'END'
ours, theirs = mcz.read("point.mcz").tensors, mcz.read("by-mc-bezier.mcz").tensors
assert list(ours) == list(theirs)
assert all(np.abs(ours[k] - theirs[k]).max() < 1e-6 for k in ours)
END
mc-plot path --data train 'curve=c.tsv' -o c.svg
mc-plot log 'curve=log.json' -o l.svg

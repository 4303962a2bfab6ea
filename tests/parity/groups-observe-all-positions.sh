# SPDX-License-Identifier: Apache-2.0
# mcz.torch.moments observes the units of derived groups at all positions, such as a class token and all patches, so align
# restores a permuted network bit for bit. A last batch of one input counts once. A group that no activation shows keeps its
# order. The groups are the same in every run.
need_torch 2.15
export OMP_NUM_THREADS=1 PYTHONPATH=$PYTHONPATH:$MC_ROOT/tests/parity
$python - 2>errors <<'END' || die "$(tail -n 4 errors)"
import copy
import io

import expected_groups
import mcz
import mcz.torch
import numpy as np
import torch
from torch import nn


class Tokens(nn.Module):
    """A transformer layer on a class token and four patches, and a layer of low rank."""

    def __init__(self):
        super().__init__()
        self.place, self.token = (nn.Parameter(torch.randn(1, n, 12)) for n in (5, 1))
        self.embed, self.head = nn.Linear(4, 12), nn.Linear(8, 2)
        self.layer = nn.TransformerEncoderLayer(12, 3, 16, activation="gelu", batch_first=True, norm_first=True)
        self.left, self.right = nn.Parameter(torch.randn(8, 3)), nn.Parameter(torch.randn(3, 12))

    def forward(self, x):
        h = torch.cat([self.token.expand(len(x), -1, -1), self.embed(x)], 1) + self.place
        return self.head((self.layer(h)[:, 0] @ (self.left @ self.right).T).tanh())


torch.manual_seed(1)
a, x = Tokens(), torch.randn(33, 4, 4)
with torch.no_grad():
    for v in a.parameters():
        v.add_(torch.randn(v.shape) * .3)
g = mcz.torch.groups(a, x)
out, one = io.BytesIO(), io.BytesIO()
mcz.torch.moments(a, a, [x], g, out)
mcz.torch.moments(a, a, [x[:32], x[32:]], g, one)
s, t = (mcz.read(io.BytesIO(f.getvalue()), "moments") for f in (out, one))
assert [tap["samples"] for tap in s.meta["taps"]] == [tap["samples"] for tap in t.meta["taps"]]
assert all(np.allclose(v, t.tensors[k], atol=1e-4) for k, v in s.tensors.items())
names = [group["name"] for group in s.meta["groups"]]
low = next(r.group for r in g if r.tensor == "left" and r.axis == 1)
for i, tap in enumerate(s.meta["taps"]):
    part = {k: s.tensors["%d/%s/%s" % (i, tap["name"], k)] / tap["samples"] for k in ("sum_a", "sumsq_a")}
    varies = part["sumsq_a"] - part["sum_a"] ** 2 > 1e-6
    shown = names[tap["group"]] != low
    assert varies.all() == shown and varies.any() == shown, (tap, varies)
assert 5 * 33 in [tap["samples"] for tap in s.meta["taps"]]


class Positions(nn.Module):
    """The bias of a layer, computed from 7 positions, whatever the number of inputs."""

    def __init__(self):
        super().__init__()
        self.register_buffer("places", torch.linspace(-1, 1, 14).reshape(7, 2))
        self.table, self.out = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 4)), nn.Linear(4, 3)

    def forward(self, x):
        return self.out((x @ self.table(self.places)).relu())


declared = {"hidden": {"out": ["table.0.*:0"], "in": ["table.2.weight:1"], "at": "table.1"}}
net, seven = Positions(), torch.randn(35, 7)
for sizes in (16, 16, 3), (7, 7, 21), (1, 34), (7, 28):
    out = io.BytesIO()
    mcz.torch.moments(net, copy.deepcopy(net), seven.split(list(sizes)), declared, out)
    s = mcz.read(io.BytesIO(out.getvalue()), "moments")
    samples = s.meta["taps"][0]["samples"]
    expected = net.table[:2](net.places).detach().mean(0)
    assert samples == 35 and np.allclose(s.tensors["0/table.1/sum_a"] / samples, expected, atol=1e-6), (sizes, samples)

rng = np.random.default_rng(2)
b, p = copy.deepcopy(a), {k: np.arange(n) if k == low else rng.permutation(n) for k, n in g.sizes.items()}
mcz.torch.permute(b, p, g)
assert not torch.equal(a.layer.self_attn.in_proj_weight, b.layer.self_attn.in_proj_weight)
mcz.torch.permute(b, mcz.torch.align(a, b, [x], g), g)
assert all(torch.equal(v, b.state_dict()[k]) for k, v in a.state_dict().items())

# a norm that feeds a layer: its value is a tuple
a, x = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.BatchNorm1d(6), nn.Dropout(), nn.Linear(6, 2)).eval(), torch.randn(33, 5)
g = mcz.torch.groups(a, x)
b = copy.deepcopy(a)
mcz.torch.permute(b, {k: rng.permutation(n) for k, n in g.sizes.items()}, g)
mcz.torch.permute(b, mcz.torch.align(a, b, [x], g), g)
assert all(torch.equal(v, b.state_dict()[k]) for k, v in a.state_dict().items())

norms, example = expected_groups.group_norms_nested()[:2]
texts = {mcz.groups.text(mcz.torch.groups(norms, example(2))) for _ in range(6)}
assert len(texts) == 1, "the groups differ between runs"
END
[ "$(grep -vc "almost no variance" errors)" = 0 ] || die "$(head -n 3 errors)"
grep -q 'mc-corr: .* of 3 units' errors

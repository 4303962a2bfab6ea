# SPDX-License-Identifier: Apache-2.0
# align, permute, merge, merge_many and Curve refuse a network whose tensors have the names and shapes of the other's, but which
# computes something else: other ties, buffers instead of parameters, constants outside the state_dict, heads, activations or
# active adapters. The message names the difference. Equal structure passes, also in another dtype. Tied tensors need equal rows.
need_torch 2.4
OMP_NUM_THREADS=1 $python -W ignore - <<'END'
import copy
import mcz, mcz.torch, numpy as np, torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(8, 5, 6)


class Net(nn.Module):
    def __init__(self, heads=2, activation=F.relu, tie=False, shift=None, scale=None, buffer=False, adapter=0, more=None):
        super().__init__()
        self.heads, self.activation, self.adapter, self.more = heads, activation, adapter, more
        self.qkv, self.out = nn.Linear(6, 24), nn.Linear(8, 6)
        self.up, self.down = nn.ModuleList([nn.Linear(6, 10) for _ in range(2)]), nn.Linear(10, 6)
        if tie:
            self.up[1].weight, self.up[1].bias = self.up[0].weight, self.up[0].bias
        if shift is not None:
            self.shift = shift
        if scale is not None:
            self.register_buffer("scale", scale, persistent=False)
        (self.register_buffer if buffer else lambda k, v: setattr(self, k, nn.Parameter(v)))("gain", torch.rand(10))

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        h = self.activation(self.up[0](x)) + self.gain * (self.up[1](x) if self.adapter == 0 else torch.tanh(self.up[1](x)))
        h = h + getattr(self, "shift", 0) if not hasattr(self, "scale") else h * self.scale
        return self.down(h if self.more is None else h * self.more[1])


def refused(words, call):
    try:
        call()
    except mcz.Error as e:
        assert words in str(e) and "\n" not in str(e), "%s expected, got: %s" % (words, e)
        return
    raise AssertionError("\"%s\" expected, nothing raised" % words)


def order(g):
    return {k: np.roll(np.arange(n), 1) for k, n in g.sizes.items()}


shift = torch.linspace(0, 1, 10)
for words, a, b, static in (
        ("ties", Net(), Net(tie=True), True),
        ("ties", Net(tie=True), Net(), True),
        ("buffers (gain)", Net(), Net(buffer=True), True),
        ("differ (shift)", Net(shift=shift), Net(shift=shift + 1), False),
        ("they run", Net(shift=shift), Net(), False),
        ("differ (scale)", Net(scale=shift), Net(scale=2 * shift), True),
        ("outside the state_dict differ", Net(more=[1, shift]), Net(more=[1, -shift]), False),
        ("view", Net(heads=2), Net(heads=4), False),
        ("relu and gelu", Net(), Net(activation=F.gelu), False),
        ("tanh", Net(), Net(adapter=1), False)):
    g = mcz.torch.groups(a, x, progress=False)
    refused(words, lambda: mcz.torch.align(a, b, [x], g, progress=False))
    refused(words, lambda: mcz.torch.align(a, b, None, g, by="weights"))
    refused(words, lambda: mcz.torch.align_many([a, b], None, g, by="weights"))
    refused(words, lambda: mcz.torch.moments(a, b, [x], g, "m.mcz"))
    kept = copy.deepcopy(b.state_dict())
    refused(words, lambda: mcz.torch.permute(b, order(g), g))
    assert all(torch.equal(v, kept[k]) for k, v in b.state_dict().items())
    refused(words, lambda: mcz.torch.merge(a, b, order(g), groups=g))
    if static:
        refused(words, lambda: mcz.torch.merge(a, b))
        refused(words, lambda: mcz.torch.merge_many([a, b]))
        refused(words, lambda: mcz.torch.Curve(a, b))

a, b = Net(shift=shift), Net(shift=shift.clone())
g = mcz.torch.groups(a, x, progress=False)
p = mcz.torch.align(a, b, [x], g, progress=False)
merged = mcz.torch.merge(a, b, p)
mcz.torch.permute(copy.deepcopy(b), p, g)
mcz.torch.align(a, copy.deepcopy(b).bfloat16(), None, g, by="weights") # the operations are those of float32

# rows of an untied network on a tied one
tied = Net(tie=True)
for seed in range(20):  # groups that name one tensor differently
    rows = [mcz.groups.Row("up.%d.%s" % (i, k), 0, 0, 10, 1, "g%d-%d" % (i, seed)) for i in range(2) for k in ("weight", "bias")]
    refused("up.1.weight", lambda: mcz.torch.permute(tied, {"g%d-%d" % (i, seed): np.roll(np.arange(10), i + 1) for i in range(2)}, rows))
END

# SPDX-License-Identifier: Apache-2.0
# mcz.torch.canonical returns a network with the same outputs for every example, and for other inputs: if examples use different
# layers, have one token, or read a norm through ReLU or cat. It refuses tensors that no example uses. align(maps="all") refuses
# networks that are not canonical.
need_torch 2.15
export OMP_NUM_THREADS=1
$python - <<'END_PYTHON'
import mcz.torch, torch
from mcz.symmetry.check import apart
from refusal import expect_error
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
mt, x = mcz.torch, torch.randn(3, 5, 8)


def random(net):
    for p in net.parameters():
        nn.init.uniform_(p, .2, 1.)
    return net.eval()


def check(net, examples, inputs=()):
    """The new network, whose outputs for the examples and further inputs are compared."""
    new = mt.canonical(random(net), *examples)
    for args in [*examples, *inputs]:
        args = args if isinstance(args, tuple) else (args,)
        with torch.no_grad():
            u, v = net(*args), new(*args)
        assert (u - v).abs().max() <= 1e-5 * u.abs().max(), (type(net), (u - v).abs().max())
    return new


class Towers(nn.Module):  # the second example reads other biases
    def __init__(self):
        super().__init__()
        self.body, self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 4), nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 4))
        self.gain = nn.Parameter(torch.ones(4))

    def forward(self, x, second=False):
        h = self.body(x).relu()
        return self.gain * (self.b(h) if second else self.a(h))


class Tasks(nn.Module):  # the first inputs of the example use one head
    def __init__(self):
        super().__init__()
        self.body, self.heads = nn.Linear(8, 16), nn.ModuleList(nn.Linear(16, 4) for _ in range(2))

    def forward(self, x, task):
        h = self.body(x).relu()
        return torch.where(task[:, None] == 0, self.heads[0](h), self.heads[1](h))


class Parts(nn.Module):  # a gain after cat, which two layers write
    def __init__(self):
        super().__init__()
        self.a, self.b, self.gain, self.out = nn.Linear(8, 4), nn.Linear(8, 4), nn.Parameter(torch.ones(4)), nn.Linear(4, 3)

    def forward(self, x):
        return self.out((self.gain * torch.cat([self.a(x), self.b(x)], 1)).tanh())


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8) for _ in range(4))

    def forward(self, x):
        heads = (m(x).unflatten(-1, (2, 4)).transpose(1, 2) for m in (self.q, self.k, self.v))
        return self.o(F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2))


class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.out = nn.LayerNorm(8), nn.LayerNorm(8), nn.Linear(8, 3)

    def forward(self, x):
        return self.out(torch.cat([self.one(x), self.two(2 * x + 1)], 1))


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.one, self.two = nn.LayerNorm(8), nn.Linear(8, 3), nn.Linear(8, 3)

    def forward(self, x, second=False):
        return (self.two if second else self.one)(self.norm(x))


# differences are found next to masked numbers, and rounding next to noise is none
for n, big in (40, 1e9), (40, 3e38), (60, 1e9):
    one = torch.cat([torch.randn(100 - n), torch.full((n,), -big)]).double()
    assert apart(one, one + torch.tensor([.1] + [0] * 99)) > 1e-3 and apart(one, one) == 0, big
one = torch.cat([torch.zeros(50), torch.randn(50) * 100]).double()
assert apart(one, one + 1e-13) < 1e-11

check(Towers(), [x, (x, True)])
many = torch.randn(4, 8)
check(Tasks(), [(many, torch.tensor([0, 0, 0, 1]))], [(many, torch.ones(4))])
check(Parts(), [x])
check(Attention(), [x[:, :1]], [x])
new = check(Attention(), [x])
assert not new.k.bias.any() and not new.v.bias.any()
check(nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16, bias=False), nn.ReLU(), nn.Linear(16, 4)), [x])
check(Joined(), [x])
check(Unused(), [x, (x, True)])
expect_error("two.weight", lambda: mt.canonical(Unused(), x))
mt.canonical(Unused(), x, unused="keep")

a, b = (random(nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 4))) for _ in range(2))
c, d = (mt.canonical(n, x) for n in (a, b))
groups = mt.groups(c, x, progress=False)
mt.align(c, d, [x], groups, maps="all", progress=False)
expect_error("a: the network is not canonical", lambda: mt.align(a, d, [x], groups, maps="all", progress=False))
expect_error("b: the network is not canonical", lambda: mt.align(c, b, [x], groups, maps="all", progress=False))
END_PYTHON

# SPDX-License-Identifier: Apache-2.0
# argmax and topk choose by position among equal numbers. So mcz.torch.groups frees the axis only if numbers are different for
# almost all parameters: after a bias, or for inputs that are not all 0. After ReLU, for an input of zeros, in a difference,
# on copies, among integers, and if rows share a bias the axis stays. Permuted networks return the same outputs, also where scores tie. If rows of the example are
# equal, so that rounding decides between them, groups asks for another example.
need_torch 2.4
OMP_NUM_THREADS=1 $python -W ignore - <<'END'
import copy
import mcz.torch, numpy as np, torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
x = 2 * torch.randn(64, 5)
x[::4] = 0


class Net(nn.Module):
    """Rows of a table that are chosen by the scores of hidden(x)."""

    def __init__(self, hidden, bias):
        super().__init__()
        self.first, self.scores, self.hidden = nn.Linear(5, 4), nn.Linear(4, 6, bias=bias), hidden
        self.table = nn.Parameter(torch.randn(6, 3))

    def forward(self, x):
        return self.table[self.hidden(self, x)].reshape(len(x), -1, 3).sum(1)


def straight(net, x):
    h = net.scores(net.first(x)).softmax(-1)
    return (F.one_hot(h.argmax(-1), 6) - h.detach() + h).topk(2, -1)[1]


for name, free, hidden, bias in (
        ("bias", True, lambda net, x: net.scores(F.relu(net.first(x))).argmax(-1), True),
        ("GELU", True, lambda net, x: net.scores(F.gelu(net.first(x))).argmax(-1), False),
        ("softmax", True, lambda net, x: net.scores(net.first(x)).softmax(-1).topk(2, -1)[1], False),
        ("sum", True, lambda net, x: net.scores(net.first(x) + F.relu(net.first(x))).topk(2, -1)[1], False),
        ("ReLU", False, lambda net, x: net.scores(F.relu(net.first(x))).argmax(-1), False),
        ("ReLU and norm", False, lambda net, x: net.scores(F.layer_norm(F.relu(net.first(x)), (4,))).argmax(-1), False),
        ("zeros", False, lambda net, x: (x @ net.first.weight.T @ net.scores.weight.T).argmax(-1) + 0 * int(
            net.first.bias.shape[0]), False),
        ("one number for all", False, lambda net, x: (
            F.relu(net.scores(net.first(x))) + net.first(x).sum(-1, keepdim=True)).topk(5, -1)[1], True),
        ("integers", False, lambda net, x: (net.scores(net.first(x)).sigmoid() * 1000).long().argmax(-1), True),
        ("quotients", False, lambda net, x: net.scores(net.first(x)).exp().div(
            net.first(x).sum(-1, keepdim=True).exp(), rounding_mode="floor").argmax(-1), True),
        ("type of another", False, lambda net, x: (net.scores(net.first(x)).sigmoid() * 1000).type_as(
            torch.zeros(1, dtype=torch.long)).argmax(-1), True),
        ("same", True, lambda net, x: F.dropout(net.scores(net.first(x)), .5, False).clone().float().argmax(-1), True),
        ("difference", False, lambda net, x: (lambda h: (h - h).argmax(-1))(net.scores(net.first(x))), False),
        ("straight through", False, straight, True)):
    net = Net(hidden, bias)
    g = mcz.torch.groups(net, torch.randn(3, 5), unused="keep", progress=False)
    assert (6 in g.sizes.values()) == free, "%s: %s" % (name, g.sizes)
    for seed in range(4):
        order = {k: np.random.default_rng(seed).permutation(n) for k, n in g.sizes.items()}
        b = mcz.torch.permute(copy.deepcopy(net), order, g.rows) if order else net
        assert torch.allclose(net(x), b(x), atol=1e-9), name


class Rows(nn.Module):
    """Six heads of four units, whose scores have one bias: heads of zeros have equal scores."""

    def __init__(self):
        super().__init__()
        self.first, self.score, self.table = nn.Linear(5, 24), nn.Linear(4, 1), nn.Parameter(torch.randn(6, 3))

    def forward(self, x):
        h = F.relu(self.first(x)).unflatten(-1, (6, 4))
        return self.table[self.score(h).squeeze(-1).argmax(-1)]


sizes = mcz.torch.groups(Rows(), torch.randn(3, 5), progress=False).sizes
assert 6 not in sizes.values(), sizes


class Order(nn.Module):
    """The positions of tokens in the order of their scores."""

    def __init__(self):
        super().__init__()
        self.tokens, self.first, self.scores = nn.Embedding(11, 5), nn.Linear(5, 7), nn.Parameter(torch.randn(7, 1))

    def forward(self, x):
        return (self.first(self.tokens(x)).tanh() @ self.scores).argsort(1) * 1.


equal = torch.randint(11, (2, 13), generator=torch.Generator().manual_seed(3))
for seed in range(8):  # rounding need not change the order of every network
    torch.manual_seed(seed)
    try:
        mcz.torch.groups(Order(), equal, progress=False)
    except mcz.Error as e:
        assert "sort) chooses among equal numbers" in str(e) and "without repeated tokens" in str(e), e
        break
else:
    raise AssertionError("no network depends on rounding")
assert mcz.torch.groups(Order(), torch.arange(11)[None], progress=False).sizes
END

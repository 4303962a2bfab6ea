# SPDX-License-Identifier: Apache-2.0
# mcz.torch.Curve and align(refine=) run the network of each point: with activation checkpointing, whose backward pass runs modules
# again; with batch norm that stays in evaluation mode, whose statistics are interpolated; with masks of -inf; with two parameters
# of one memory; with recurrent layers and registered lists of parameters. Plain lists of parameters, which would stay those of a,
# are refused, and so is training without gradients.
need_torch 2.4
export OMP_NUM_THREADS=1
$python - <<'END_PYTHON'
import functools
import json
import math
import mcz.torch, torch
from refusal import expect_error
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

progress = {"progress": False}
torch.manual_seed(0)
x, y = torch.randn(40, 5), torch.randint(3, (40,))


class Net(nn.Module):
    def __init__(self, again=False):
        super().__init__()
        self.body, self.head, self.again = nn.Sequential(nn.Linear(5, 9), nn.Tanh(), nn.Linear(9, 9), nn.Tanh()), nn.Linear(9, 3), again

    def forward(self, x):
        return self.head(checkpoint(self.body, x, use_reentrant=False) if self.again else self.body(x))


def pair(make):
    found = []
    for seed in 1, 2:
        torch.manual_seed(seed)
        found.append(make())
    return found


# activation checkpointing: the same gradients
curves = [mcz.torch.Curve(*pair(lambda: Net(again))).train([(x, y)], 3, lr=.5, **progress) for again in (False, True)]
assert all(torch.equal(u, v) for u, v in zip(*(c.points[1].values() for c in curves)))
assert not torch.equal(curves[0].points[1]["body.0.weight"], (curves[0].points[0]["body.0.weight"] + curves[0].points[2]["body.0.weight"]) / 2)
groups = {"one": {"out": ["body.0.*:0"], "in": ["body.2.weight:1"], "at": "body.1"},
          "two": {"out": ["body.2.*:0"], "in": ["head.weight:1"], "at": "body.3"}}
plain, *found = [mcz.torch.align(*pair(lambda: Net(again)), [(x, y)], groups, refine=n, **progress).tensors
                 for again, n in ((False, 0), (False, 40), (True, 40))]
assert all((found[0][g] == found[1][g]).all() for g in groups)
assert any((found[0][g] != plain[g]).any() for g in groups)
# a loss that runs a and b, as teachers: they stay themselves and get no gradients
a, b = pair(Net)
teachers, seen = [n(x).detach() for n in (a, b)], []


def taught(output, y):
    seen.append(all(torch.equal(n(x), t) for n, t in zip((a, b), teachers)))
    return F.mse_loss(output, (a(x) + b(x)) / 2)


mcz.torch.align(a, b, [(x, y)], groups, refine=2, loss=taught, **progress)
assert seen == [True, True] and all(v.grad is None for n in (a, b) for v in n.parameters()), seen


# batch norm in evaluation mode: the loss in the log is that of the network at t
class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.c = nn.Linear(5, 9), nn.BatchNorm1d(9), nn.Linear(9, 3)
        self.norm.running_mean.normal_(), self.norm.running_var.uniform_(.5, 2)

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self

    def forward(self, x):
        return self.c(self.norm(self.a(x)).relu())


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 3)
        self.register_buffer("mask", torch.tensor([0., -math.inf, 0., 0., -math.inf]))

    def forward(self, x):
        return self.a(x * self.mask.softmax(0))


def log(curve):
    curve.train([(x, y)], 1, lr=0, decay=0, log="log", **progress)
    return json.load(open("log"))["loss"]


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 5), nn.Linear(5, 5)
        self.b.weight = nn.Parameter(self.a.weight.data)

    def forward(self, x):
        return self.b(self.a(x))


t = float(torch.rand((), generator=torch.Generator().manual_seed(1)))
for make in Frozen, Masked, Tied:
    curve = mcz.torch.Curve(*pair(make))
    with torch.no_grad():
        expected = float(F.cross_entropy(curve.point(t)(x), y))
    assert abs(log(curve) - expected) < 1e-6, (make, log(curve), expected)


# parameters in attributes
class Held(nn.Module):
    def __init__(self, hold, read):
        super().__init__()
        self.w, self.c, self.read = nn.Parameter(torch.randn(9, 5)), nn.Linear(9, 3), read
        self.held = hold(self.w)

    def forward(self, x):
        return self.c(F.linear(x, self.read(self.held)).tanh())


rows = {"h": {"out": ["w:0"], "in": ["c.weight:1"], "at": "c:in"}}
for hold, read in ((lambda w: [w], lambda h: h[0]), (lambda w: {"w": w}, lambda h: h["w"]),
                   (lambda w: functools.partial(torch.clone, w), lambda h: h()),
                   (lambda w: [nn.Parameter(torch.ones(9, 5))], lambda h: h[0])):
    make = lambda: Held(hold, read)
    curve = mcz.torch.Curve(*pair(make))
    for call in (lambda: curve.train([(x, y)], 1, **progress), lambda: curve.evaluate([(x, y)], **progress),
                 lambda: mcz.torch.align(*pair(make), [(x, y)], rows, refine=1, **progress)):
        expect_error("attributes hold parameters*(held)*nn.ParameterList or nn.ParameterDict", call)


class Listed(nn.Module):  # a plain list of modules
    def __init__(self):
        super().__init__()
        self.a, self.c = nn.Linear(5, 9), nn.Linear(9, 3)
        self.layers = [self.a, self.c]

    def forward(self, x):
        return self.layers[1](self.layers[0](x).tanh())


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.c = nn.LSTM(5, 9, batch_first=True), nn.Linear(9, 3)

    def forward(self, x):
        return self.c(self.rnn(x[:, None])[0][:, 0])


for make in (lambda: Held(lambda w: nn.ParameterList([w]), lambda h: h[0]), Listed, Recurrent,
             lambda: Held(lambda w: nn.ParameterDict({"w": w}), lambda h: h["w"])):
    curve = mcz.torch.Curve(*pair(make))
    found = curve.evaluate([(x, y)], points=3, **progress)
    with torch.no_grad():
        expected = float(F.cross_entropy(curve.point(.5)(x), y))
    assert abs(found[1]["data.loss"] - expected) < 1e-6 < 1e-4 < abs(found[0]["data.loss"] - expected), (make, found, expected)
    before = {k: v.clone() for k, v in curve.points[1].items()}
    curve.train([(x, y)], 2, lr=.5, **progress)
    assert all(not torch.equal(curve.points[1][k], before[k]) for k in curve.names)


# training without gradients
class Detached(Net):
    def forward(self, x):
        return super().forward(x).detach()


zero = lambda o, y: torch.zeros((), requires_grad=True) + o.detach().sum()
for make, loss in (Detached, F.cross_entropy), (Net, zero):
    curve = mcz.torch.Curve(*pair(make))
    before = {k: v.clone() for k, v in curve.points[1].items()}
    expect_error("no gradient of the loss reaches a trained parameter", lambda: curve.train([(x, y)], 1, loss=loss, **progress))
    assert all(torch.equal(curve.points[1][k], v) for k, v in before.items())
some = lambda o, y: torch.zeros(()) if y is None else F.cross_entropy(o, y)
curve.train([(x, y), (x, None)], 1, loss=some, **progress)  # a batch without targets
assert not all(torch.equal(curve.points[1][k], v) for k, v in before.items())
END_PYTHON

# SPDX-License-Identifier: Apache-2.0
# mcz.torch.Curve and align(refine=) run the network of each point: with activation checkpointing, whose backward pass runs modules
# again; with batch norm that stays in evaluation mode, whose statistics are interpolated; with masks of -inf; with two parameters
# of one memory.
need_torch 2.4
export OMP_NUM_THREADS=1
$python - <<'END_PYTHON'
import json
import math
import mcz.torch, torch
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
END_PYTHON

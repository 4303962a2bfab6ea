# SPDX-License-Identifier: Apache-2.0
# mcz.torch.groups and moments with derived groups refuse networks and batches that they cannot read, with one line. A
# failed call leaves no hooks in the networks. Batches may have any size, and arguments by name any order.
need_torch 2.4
export OMP_NUM_THREADS=1
$python - 2>errors <<'END' || die "$(tail -n 4 errors)"
import collections
import copy
import io

import mcz
import mcz.torch
import numpy as np
import torch
from mcz.symmetry.recorder import Recorder
from refusal import expect_error as refused
from torch import nn


class Net(nn.Module):
    """Layers of 8 units, perhaps with a head that only training uses. forward of a subclass may call hidden."""

    def __init__(self, width=8, head=False, scale=torch.linspace(.5, 2, 4)):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(4, width), nn.Linear(width, width), nn.Linear(width, 3)
        self.aux = nn.Linear(width, 3) if head else None
        self.register_buffer("scale", scale.clone(), persistent=False)

    def hidden(self, x):
        return self.b(torch.relu(self.a(x * self.scale + torch.arange(4, device=x.device)))).relu()

    def forward(self, x):
        h = self.hidden(x)
        return (self.c(h), self.aux(h)) if self.training else self.c(h)


def variant(forward):
    return type("Variant", (Net,), {"forward": forward})()


def moments(a, b, loader, groups):
    out = io.BytesIO()
    mcz.torch.moments(a, b, loader, groups, out)
    return mcz.read(io.BytesIO(out.getvalue()), "moments")


x = torch.randn(9, 4)
net, other = Net(head=True), Net(head=True)
refused(["tensors not used*example: aux.weight, aux.bias"], lambda: mcz.torch.groups(net, x[:1]))
g = mcz.torch.groups(net, x[:1], unused="keep")
# the head's input does not move, and the report says so
assert set(g.sizes.values()) == {8} and not any(r.tensor.startswith("aux") for r in g)
assert ("aux.weight", 1, 0, 8, "not used by these examples") in g.fixed
lines = g.report().splitlines()
assert lines[:2] == ["groups  units  first group", "     2  8      a"], lines
assert any("not used by these examples" in line and "aux.weight" in line for line in lines), lines
# a smaller last batch; other buffers that the state_dict lacks; another device than the example's
whole, parts = (moments(net, other, batches, g) for batches in ([x], [x[:4], x[4:8], x[8:]]))
assert len(whole.tensors) and all(np.allclose(v, parts.tensors[k]) for k, v in whole.tensors.items())
refused(["tensors outside*state_dict differ (scale)"], lambda: moments(net, Net(head=True, scale=torch.ones(4)), [x], g))
r = Recorder(copy.deepcopy(net).to("meta"), g, g.taps)
r.run(x.to("meta"))
assert {v.device.type for v in r.values.values()} == {"meta"}


# arguments in any order
def two(self, u, v):
    return self.c(self.hidden(u) - 2 * self.hidden(v))


net, u, v = variant(two), x[:3], x[3:6]
g = mcz.torch.groups(net, {"u": u, "v": v})
one, two = (moments(net, net, [batch], g).tensors for batch in ({"u": u, "v": v}, {"v": v, "u": u}))
assert all(np.array_equal(one[k], two[k]) for k in one)
refused(["batches*u (N, 4), v (N, 4) expected", "got v (N, 4)"], lambda: moments(net, net, [{"v": v}], g))
refused(["network*not run*inputs u (N, 4), v (N, 7): RuntimeError"], lambda: moments(net, net, [{"u": u, "v": torch.rand(3, 7)}], g))
# a tuple of arguments, with labels or without
tuples = mcz.torch.groups(net, (u, v))
for batch in (u, v), ((u, v), torch.zeros(3)):
    assert all(np.array_equal(s, t) for s, t in zip(one.values(), moments(net, net, [batch], tuples).tensors.values()))
refused(["(N, 4), (N, 4) expected", "batches*example*((x, x), labels)"],
        lambda: moments(net, net, [(u, v, torch.zeros(3))], tuples))
refused(["example*dictionary"], lambda: moments(net, net, [{"u": u, "v": v}], tuples))
refused(["batches*dictionary*(dictionary, labels)"], lambda: moments(net, net, [(u, v)], g))
# batches
net = Net()
g = mcz.torch.groups(net, x)
refused(["declared groups"], lambda: mcz.torch.moments(net, net, [x], g, "none.mcz", at={"a": "b:in"}))
refused(["groups*network*other shapes (a.weight: (8, 4) expected*got (9, 4)"],
        lambda: moments(Net(9), Net(9), [x], g))
refused(["batches*(N, 4) expected", "got u (N, 4)"], lambda: moments(net, net, [{"u": x}], g))
refused(["loader*yield tensors (got ndarray)"], lambda: moments(net, net, [x.numpy()], g))
refused(["a and b*different networks: 5 tensors*another name*shape (a.weight, a.bias, b.weight, ...)"],
        lambda: moments(net, Net(9), [x], g))
branch = variant(lambda self, x: self.c(self.hidden(x) if len(x) > 2 else self.hidden(x).sigmoid()))
for n in 1, 2:
    refused(["other operations*another batch size"], lambda: moments(
        branch, branch, [x, x[:n]], mcz.torch.groups(branch, x)))
# networks
refused(["example*empty batch"], lambda: mcz.torch.groups(net, x[:0]))
refused(["torch.nn.Module expected*got function"], lambda: mcz.torch.groups(lambda x: x, x))
refused(["meta device"], lambda: mcz.torch.groups(Net().to("meta"), x))
refused(["network*not run*inputs (N, 5): RuntimeError"], lambda: mcz.torch.groups(net, torch.rand(2, 5)))
refused(["takes 1 argument*input*2*batch (inputs, labels) pass batch[0]"],
        lambda: mcz.torch.groups(net, (x, torch.zeros(9))))
pair = variant(lambda self, u, v: self.c(self.hidden(u) - 2 * self.hidden(v)))
refused(["missing*required argument: 'v' (several arguments:*them*dictionary"],
        lambda: mcz.torch.groups(pair, x))
refused(["numpy arrays*torch.from_numpy"], lambda: mcz.torch.groups(net, x.numpy()))
refused(["inputs (N): ", "groups reads*first axis*each tensor*batch"],
        lambda: mcz.torch.groups(net, x[0]))
exec(compile("def forward(self, x):\n    h = self.hidden(x)\n    return self.c(h if h.sum() > 0 else -h)", "module.py", "exec"))
branch = variant(forward)
refused(["depends*data (module.py:3): declare*groups*hand"],
        lambda: mcz.torch.groups(branch, x))  # without PyTorch's print of the graph
refused(["network itself: rand_like draws random numbers"],
        lambda: mcz.torch.groups(variant(lambda self, x: self.c(self.hidden(x + torch.rand_like(x)))), x))
lazy = variant(lambda self, x: self.c(self.hidden(x)))
lazy.a = nn.LazyLinear(8)
refused(["network*lazy modules, without parameters: run*network once"], lambda: mcz.torch.groups(lazy, x))
words = nn.Sequential(nn.Embedding(5, 8), nn.Linear(8, 3))
refused(["check*groups:*network*not run*example: IndexError"],
        lambda: mcz.torch.groups(words, torch.full((2, 3), 9)))
assert mcz.torch.groups(pair, collections.UserDict(u=u, v=v)).sizes == {"a": 8, "b": 8}
tied = Net()
tied.b.weight = nn.Parameter(tied.b.weight.detach())
tied.d = nn.Linear(8, 8, bias=False)
tied.d.weight = nn.Parameter(tied.b.weight.detach().t())
refused(["\"b.weight\"*\"d.weight\" share memory*different shapes"], lambda: mcz.torch.groups(tied, x))
before = copy.deepcopy(tied.state_dict())
refused(["share memory*different shapes"], lambda: mcz.torch.permute(tied, dict.fromkeys(g.sizes, np.arange(8)), g.rows))
assert all(torch.equal(v, before[k]) for k, v in tied.state_dict().items())
# outputs that the check compares
masked = variant(lambda self, x: self.c(self.hidden(x)).masked_fill(torch.tensor([True, False, False]), -torch.inf))
assert mcz.torch.groups(masked, x).difference < 1e-9
undefined = variant(lambda self, x: (self.c(self.hidden(x)), torch.log(self.c(self.hidden(x)) - 1e9)))
refused(["outputs*not numbers*random parameters"], lambda: mcz.torch.groups(undefined, x))
# hooks
declared = {"a": {"out": ["a.*:0"], "in": ["b.weight:1"], "at": ["b:in"]}}
other.d = nn.Linear(8, 8)
both = {"a": ["b:in", "d"]}
for words, b, loader, options in ((["different networks"], other, [x], {}), (["no module \"d\""], net, [x], {"at": both}),
                                  (["yields no batches"], net, [], {}), (["streams expected"], net, [x], {"weights": []})):
    refused(words, lambda: mcz.torch.moments(net, b, loader, declared, io.BytesIO(), **options))
assert not net.b._forward_pre_hooks and not other.b._forward_pre_hooks
END
[ ! -s errors ] || die "$(head -n 3 errors)"

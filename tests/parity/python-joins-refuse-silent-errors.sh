# SPDX-License-Identifier: Apache-2.0
# mcz.torch refuses, with one line, networks and arguments with which a result would be wrong: functions that hold parts of a
# network, integers and masks without a mean, optimizers with unknown state, outputs without logits, arguments of other types. It
# warns if modules or attributes of two networks differ. Calls leave no tensors of torch.export in a network.
need_torch 2.4
export OMP_NUM_THREADS=1
$python - 2>errors <<'END' || die "$(tail -n 4 errors)"
import copy
import dataclasses
import functools
import threading
import types
import warnings

import mcz
import mcz.torch
import numpy as np
import torch
from refusal import expect_error
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, prune

mt, progress = mcz.torch, {"progress": False}


class Net(nn.Module):
    def __init__(self, act=torch.tanh):
        super().__init__()
        self.a, self.b, self.c, self.act = nn.Linear(5, 9), nn.Linear(9, 9), nn.Linear(9, 3), act

    def forward(self, x):
        return self.c(self.act(self.b(self.act(self.a(x)))))


def pair(make=Net, change=lambda n: n):
    found = []
    for seed in 1, 2:
        torch.manual_seed(seed)
        found.append(change(make()).eval())
    return found


def warned(word, call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = call()
    assert any(word in str(w.message) for w in found), [str(w.message) for w in found]
    return result


torch.manual_seed(0)
x, y = torch.randn(40, 5), torch.randint(3, (40,))
loader = [(x, y)]
a, b = pair()
g = mt.groups(a, x, **progress)
p = mt.align(a, b, loader, g, **progress)

# copies that would run the original
def closure(n):
    n.forward = lambda x: n.c(torch.tanh(n.a(x)))
    return n
def default(n):
    n.a.register_forward_hook(lambda m, i, o, scale=n.b.bias: o * scale)
    return n
def method(n):
    n.forward = functools.partial(type(n).forward, n)
    return n
def compiled(n):
    n.forward = torch.compile(n.forward, backend="eager")
    return n
def named(n):
    n.forward = lambda x: first.c(torch.tanh(first.a(x)))
    return n
def replaced(n):
    old = n.forward
    n.forward = types.MethodType(lambda self, x: old(x), n)
    return n
def wrapped(n):
    n.forward = torch.no_grad()(lambda x: first(x))
    return n
def partial(n):
    n.act = functools.partial(lambda x, f: f(x), f=lambda x: n.b(x).relu())
    return n
def stored(n):
    calls = functools.partial(n.b)
    n.a.register_forward_hook(lambda m, i, o: calls(o))
    return n
for change in closure, default, compiled, named, replaced, wrapped, partial, stored:
    first, two = pair()
    change(first), change(two)
    expect_error("copy*network:*function", lambda: mt.merge(first, two))
    expect_error("copy*network:*function", lambda: mt.Curve(first, two))
one, two = pair(change=method)
assert torch.allclose(mt.merge(one, two, t=1.)(x), two(x))
one, two = (torch.compile(n, backend="eager") for n in pair())
assert torch.allclose(mt.merge(one, two, t=1.)(x), two(x))
one, two = pair()
one.compile(backend="eager")  # in place
with warnings.catch_warnings():
    warnings.simplefilter("error")
    assert torch.allclose(mt.merge(one, two, t=1.)(x), two(x))
for call in (lambda: mt.save(a, "a.pt", g), lambda: mt.align(a, b, loader, g, path="p.npz", **progress),
             lambda: mt.moments(a, b, loader, g, "m.safetensors"), lambda: mt.Curve(a, b).save("c.pth")):
    expect_error("the output is an mcz stream (name it .mcz)", call)
class Silent(Net):  # without `return self`
    def train(self, mode=True):
        super().train(mode)
one, two = Silent(), Silent()
assert torch.allclose(mt.merge(one, two, t=1.)(x), two(x))
curve = mt.Curve(one, two).train([(x, y)], 1, **progress)
assert torch.allclose(curve.point(1)(x), two(x)) and not curve.point(.5).training
one, two = pair()
one.lock = two.lock = threading.Lock()
expect_error("cannot copy the network: TypeError*lock", lambda: mt.merge(one, two))

# ties survive, and training is possible
tied = Net()
tied.b.bias = nn.Parameter(tied.a.bias.data)
merged = mt.merge(tied, tied)
assert merged.b.bias.data_ptr() == merged.a.bias.data_ptr()
with torch.inference_mode():
    expect_error("torch.inference_mode()", lambda: mt.merge(a, b))

# integers, masks, norms
def indexed(n, values=None):
    n.register_buffer("order", torch.randperm(5))
    return n
one, two = pair(change=indexed)
two.order = one.order.flip(0)
expect_error("integers*differ*no mean (order)", lambda: mt.merge(one, two))
expect_error("(order)", lambda: mt.Curve(one, two))
one, two = pair()
for n, share in (one, .4), (two, .6):
    prune.l1_unstructured(n.b, "weight", share)
expect_error("(b.weight_mask)", lambda: mt.merge(one, two))
one, rows = pair()[0], {"h": {"out": ["a.*:0"], "in": ["b.weight:1"]}}
with torch.no_grad():
    prune.l1_unstructured(one.a, "weight", .4)
two, order = copy.deepcopy(one), {"h": [*range(1, 9), 0]}
expect_error("(a.weight_mask)", lambda: mt.merge(one, two, order, groups=rows))
mt.permute(two, {"h": [8, *range(8)]}, rows)
assert torch.equal(mt.merge(one, two, order, groups=rows).a.weight_mask, one.a.weight_mask)
expect_error("(a.weight_mask)", lambda: mt.Curve(one, two))
# booleans are compared in the common order of units too
one = pair(change=lambda n: n.register_buffer("mask", torch.arange(9) < 4) or n)[0]
two, rows = copy.deepcopy(one), {"h": {"out": ["a.*:0", "mask:0"], "in": ["b.weight:1"]}}
expect_error("integers*differ*no mean (mask)", lambda: mt.merge(one, two, order, groups=rows))
mt.permute(two, {"h": [8, *range(8)]}, rows)
assert torch.equal(mt.merge(one, two, order, groups=rows).mask, one.mask)

# networks that change their input, and that keep a weight between calls
class Changing(Net):
    def forward(self, x):
        return super().forward(x.sub_(.5).div_(.25))
class Keeping(Net):
    def __init__(self):
        super().__init__()
        self.kept = {}
    def forward(self, x):
        w = self.a.weight if self.training else self.kept.setdefault("w", self.a.weight)
        return self.c(self.act(self.b(self.act(F.linear(x, w, self.a.bias)))))
for make in Changing, Keeping:
    one, two = pair(make)
    batch = x.clone()
    rows = mt.Curve(one, two, control_points=0).evaluate([(batch, y)], points=2, **progress)
    with torch.no_grad():
        expected = [float(F.cross_entropy(n(x.clone()), y)) for n in (one, two)]
    assert np.allclose([r["data.loss"] for r in rows], expected, atol=1e-6) and torch.equal(batch, x), (make, rows, expected)
# parameters that the loss does not reach stay on the straight line
class Frozen(Net):
    def forward(self, x):
        with torch.no_grad():
            h = self.act(self.a(x))
        return self.c(self.act(self.b(h)))
one, two = pair(Frozen)
curve = mt.Curve(one, two).train([(x, y)], 3, lr=.1, **progress)
middle, line = curve.point(.5), mt.Curve(one, two).point(.5)
assert torch.equal(middle.a.weight, line.a.weight) and not torch.equal(middle.b.weight, line.b.weight)
# an argument of length 1 holds for all inputs
class Scaled(Net):
    def forward(self, x, factor):
        return super().forward(x * factor)
one, two = pair(Scaled)
factor, own = torch.rand(1, 5), mt.groups(one, {"factor": torch.rand(1, 5), "x": x}, **progress)
orders = [mt.align(one, two, [{"factor": f, "x": x}], own, **progress) for f in (factor, factor.repeat(40, 1))]
assert all(np.array_equal(v, orders[1].tensors[k]) for k, v in orders[0].tensors.items())
expect_error("arguments of one length expected*[2, 40]", lambda: mt.align(one, two, [{"factor": x[:2], "x": x}], own, **progress))
# state that two optimizers share moves once; tensors that cannot be written
one = pair()[0]
F.cross_entropy(one(x), y).backward()
optimizer = torch.optim.SGD(one.parameters(), lr=.1, momentum=.9)
optimizer.step()
old, units = optimizer.state[one.a.weight]["momentum_buffer"].clone(), next(r.group for r in g if r.tensor == "a.weight" and r.axis == 0)
mt.permute(one, p, g, optimizer=[optimizer, optimizer])
assert torch.equal(optimizer.state[one.a.weight]["momentum_buffer"], old[torch.from_numpy(p.tensors[units]).long()])
one = pair()[0]
one.c.bias = nn.Parameter(torch.zeros(1).expand(3))
old = one.a.weight.clone()
expect_error("cannot be written*expand", lambda: mt.load(one, b.state_dict()))
assert torch.equal(one.a.weight, old)
one, two = pair(change=lambda n: parametrizations.spectral_norm(n.b) and n)
warned("spectral norm", lambda: mt.merge(one, two))

# other modules, attributes, functions, and groups of a network that was changed since
warned("(act)", lambda: mt.merge(a, Net(torch.relu)))
for make in (lambda i: i / 2, lambda i: [nn.Linear(9, 9)], lambda i: nn.Softplus(i), lambda i: [lambda x: x, lambda x: -x][i]):
    one, two = pair()
    one.part, two.part = make(0), make(1)
    warned("modules or attributes of a and b differ", lambda: mt.merge(one, two))
for make in (lambda v: functools.partial(F.leaky_relu, negative_slope=v), lambda v: lambda x: F.leaky_relu(x, v)):
    warned("(act", lambda: mt.merge(Net(make(.1)), Net(make(.9))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mt.merge(Net(make(.1)), Net(make(.1)))
def quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()


@dataclasses.dataclass
class Config:
    heads: int = 2
@dataclasses.dataclass
class Named(Config):  # as configs of libraries, which also hold names of folders
    path: str = ""
class Methods(Net):
    def first(self, x):
        return x.tanh()
    def second(self, x):
        return x.relu()
for make in (lambda i: types.SimpleNamespace(heads=2 + i), lambda i: Config(2 + i), lambda i: {"all": [Config(2 + i)]},
             lambda i: types.SimpleNamespace(act=[torch.tanh, torch.relu][i])):
    one, two = pair()
    one.config, two.config = make(0), make(1)
    warned("modules or attributes of a and b differ (config", lambda: mt.merge(one, two))
    two.config = make(0)
    quiet(lambda: mt.merge(one, two))
one, two = pair()
one.config, two.config = Named(path="one"), Named(path="two")
quiet(lambda: mt.merge(one, two))
one, two = pair(Methods)
one.act, two.act = one.first, two.second
warned("differ (act)", lambda: mt.merge(one, two))
two.act = two.first
quiet(lambda: mt.merge(one, two))
one, two = pair()
two.a.register_forward_hook(lambda m, i, o: 3 * o)
warned("modules or attributes of a and b differ (a._forward_hooks", lambda: mt.merge(one, two))
one = copy.deepcopy(a)
own = mt.groups(one, x, **progress)
one.act = torch.relu
expect_error("network*groups*network*different networks:*run tanh*relu",
             lambda: mt.permute(one, {k: list(range(n)) for k, n in own.sizes.items()}, own))

# labels, outputs, losses
c = mt.Curve(a, b, p)
for labels in y.int(), y % 2 == 1:
    c.evaluate([(x, labels)], points=2, **progress)
expect_error("labels*0 to 2 expected*-100 (got [7])", lambda: c.evaluate([(x, y + 7 * (y == 0))], **progress))
expect_error("network*not run*inputs (N, 4): ", lambda: c.evaluate([(x[:, 1:], y)], **progress))
expect_error("loss*return*tensor*one number (got shape (40,))",
             lambda: c.train(loader, 1, loss=nn.CrossEntropyLoss(reduction="none"), **progress))
class Features(Net):
    def forward(self, x):
        return {"features": x, "scores": super().forward(x)}
expect_error("logits expected*dictionary*features, scores", lambda: mt.Curve(*pair(Features)).evaluate(loader, **progress))
expect_error("(other labels need your own loss=)", lambda: mt.Curve(*pair(lambda: nn.Linear(5, 1))).evaluate([(x, y)], **progress))

c = mt.Curve(*pair(change=lambda n: n.bfloat16()), control_points=0)
row = c.evaluate([(x.bfloat16(), y)], points=2, **progress)[0]
with torch.no_grad():
    assert abs(row["data.loss"] - float(F.cross_entropy(c.net(x.bfloat16()).float(), y))) < 1e-6

class Masked(Net):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", (self.b.weight.abs() > .2).float())

    def forward(self, x):
        return self.c(self.act(F.linear(self.a(x), self.b.weight * self.mask)))
one, two = pair(Masked)
expect_error("different masks*(mask)", lambda: mt.merge(one, two))
two.mask.copy_(one.mask)
assert torch.equal(mt.merge(one, two).mask, one.mask)
one, two = pair()
for n, k in (one, 1), (two, 0):  # their mean would be their union
    n.register_buffer("mask", torch.full((9, 9), -torch.inf).triu(k))
for call in mt.merge, mt.Curve:
    expect_error("different masks*(mask)", lambda: call(one, two))
two.mask.copy_(one.mask)
assert torch.equal(mt.merge(one, two).mask, one.mask)
one, two = pair()
for n in one, two:
    parametrizations.orthogonal(n.b)
warned("orthogonal", lambda: mt.merge(one, two))

# statistics of a norm that you wrote, which no loader re-estimates
class OwnNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.c = nn.Linear(5, 9), nn.Linear(9, 3)
        self.register_buffer("running_mean", torch.zeros(9))
        self.register_buffer("running_var", torch.ones(9))

    def forward(self, x):
        return self.c(F.batch_norm(self.a(x), self.running_mean, self.running_var, training=self.training).relu())
one, two = pair(OwnNorm)
for call in (lambda: mt.merge(one, two, loader=loader), lambda: mt.Curve(one, two).point(.5, loader)):
    warned("interpolated, not re-estimated: running_mean, running_var", call)

# batch norm's statistics from the arguments of the groups' example
class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.c = nn.Linear(5, 9), nn.BatchNorm1d(9), nn.Linear(9, 3)

    def forward(self, x, shift=None):
        return self.c(self.norm(self.a(x if shift is None else x + shift)).relu())
one, two = pair(Shifted)
own = mt.groups(one, (x[:2], x[:2]), **progress)
both = [(x, 3 + x)]
found = mt.align(one, two, both, own, **progress)
for k, v in mt.merge(one, two, found, loader=both).state_dict().items():
    assert torch.allclose(v, mt.Curve(one, two, found).point(.5, both).state_dict()[k], rtol=1e-4, atol=1e-6), k
assert mt.Curve(one, two, found).evaluate(loader, points=3, **progress) == mt.Curve(  # labels are not the second argument
    one, mt.permute(copy.deepcopy(two), found, own)).evaluate(loader, points=3, **progress)

# hooks on gradients: of a mask in the old order, and of a curve
one, two = pair()
one.a.weight.register_hook(lambda v: v * 0)
warned("hooks on gradients are not permuted, such as masks of frozen units (a.weight)", lambda: mt.permute(one, p, g, optimizer=torch.optim.SGD(one.parameters(), .1)))
warned("hooks on gradients do not run along a curve (a.weight)", lambda: mt.Curve(one, two).train(loader, 1, **progress))

# gate and up in one layer: a place where units are not adjacent
class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(5, 16), nn.Linear(8, 3)

    def forward(self, x):
        gate, up = self.up(x).chunk(2, -1)
        return self.down(F.silu(gate) * up)
one = Gated()
rows = [(k, 0, i, 8, 1, "h") for k in ("up.weight", "up.bias") for i in (0, 8)] + [("down.weight", 1, 0, 8, 1, "h")]
two, order = copy.deepcopy(one), [3, 1, 0, 2, 7, 5, 4, 6]
mt.permute(two, {"h": order}, rows)
found = mt.align(one, two, loader, rows, at={"h": ["up[0:8]", "up[8:16]"]}, **progress)
assert np.array_equal(found.tensors["h"], np.argsort(order))
expect_error("(16,)*no axis*8 units*PATH[first:end]", lambda: mt.align(one, two, loader, rows, at={"h": "up"}, **progress))

# inputs: tuples of three, loaders without a length, and a length of the batch that is not that of the units
class Masked(Net):
    def forward(self, x, mask=None):
        return super().forward(x if mask is None else x * mask)
one, two = pair(Masked)
three = [(x, torch.ones(5), y)]
for call in (lambda: mt.align(one, two, three, g, **progress), lambda: mt.align(one, two, three, **progress),
             lambda: mt.moments(one, two, three, g, "moments.mcz")):
    expect_error("batches (x, y)*((x1, x2), y)", call)
mt.align(a, b, three, g, **progress)
class Endless(torch.utils.data.IterableDataset):
    def __iter__(self):
        return zip(x, y)
stream = torch.utils.data.DataLoader(Endless(), 8)
refined = mt.align(a, b, stream, g, refine=2, **progress)
warned("computed for other networks (not this b)", lambda: mt.merge(a, pair()[0], refined, groups=g))
mt.align_many([a, b], stream, g, **progress)
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.value, self.out, self.act = nn.Linear(5, 12), nn.Linear(12, 3), nn.Identity()

    def forward(self, x):
        return self.out(self.act(self.value(x)))
one, two = pair(Heads)
heads = {"h": {"out": ["value.*:0"], "in": ["out.weight:1"], "size": 4, "at": "out:in"}}
tokens = torch.randn(50, 4, 5)
for at in "out:in", "act":
    heads["h"]["at"] = at
    for name, v in ("tokens.mcz", tokens), ("rows.mcz", tokens.reshape(-1, 1, 5)):
        mt.moments(one, two, [v], heads, name)
    found = [mcz.read(name).tensors for name in ("tokens.mcz", "rows.mcz")]
    assert all(np.allclose(v, found[1][k]) for k, v in found[0].items()), at
expect_error('more than one axis*4 units (set "axis")', lambda: mt.align(one, two, [torch.randn(2, 12, 5)], heads, **progress))

# a number before the batch
class Scaled(Net):
    def forward(self, factor, x):
        return super().forward(factor * x)
one, two = pair(Scaled)
for form in (lambda x: {"factor": torch.tensor(.3), "x": x}, lambda x: (torch.tensor(.3), x)):
    mt.align(one, two, [form(x[:8])], mt.groups(one, form(x[:2]), **progress), **progress)

# a network without numbers
with torch.device("meta"):
    one = Net()
expect_error("meta device*to_empty", lambda: mt.load(one, a.state_dict()))

# frozen parameters and norms stay; your own optimizer has no further decay
class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.c = nn.Linear(5, 9), nn.BatchNorm1d(9), nn.Linear(9, 3)
        self.a.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self

    def forward(self, x):
        assert not self.norm.training
        return self.c(self.norm(self.a(x)).relu())
one, two = pair(Frozen)
two.a = one.a
c = mt.Curve(one, two).train(loader, 1, optimizer=lambda p: torch.optim.SGD(p, .1), **progress)
assert torch.equal(c.point(.5).a.weight, one.a.weight) and not torch.equal(c.point(.5).c.weight, (one.c.weight + two.c.weight) / 2)
low = [n.bfloat16() for n in pair()]  # control points are wider
c = mt.Curve(*low).train([(x.bfloat16(), y)], 2, **progress)
c.save("low.mcz")
again = mt.Curve.load("low.mcz", Net().bfloat16())
assert all(v.dtype == torch.float32 and torch.equal(v, again.points[1][k]) for k, v in c.points[1].items())
quiet(lambda: mt.Curve.load("low.mcz", Net().bfloat16()))
mt.Curve(*pair()).save("wide.mcz")
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    mt.Curve.load("wide.mcz", Net().bfloat16())
assert len(found) == 1 and "wide.mcz: 6 of 6 tensors are rounded" in str(found[0].message), [str(w.message) for w in found]
c = mt.Curve(*pair())
before = c.point(.5)
c.train(loader, 1, optimizer=lambda p: torch.optim.SGD(p, .1), loss=lambda o, y: o.sum() * 0, **progress)
assert all(torch.equal(u, v) for u, v in zip(before.state_dict().values(), c.point(.5).state_dict().values()))

# optimizers
def stepped(net, make):
    opt = make(net.parameters())
    def loss():
        opt.zero_grad()
        value = F.cross_entropy(net(x), y)
        value.backward()
        return value
    opt.step(loss)
    return opt
for make in (lambda p: torch.optim.LBFGS(p, max_iter=3), torch.optim.Adafactor if hasattr(torch.optim, "Adafactor") else None):
    if make:
        two = copy.deepcopy(b)
        opt = stepped(two, make)
        kept = [v.detach().clone() for v in two.parameters()]
        expect_error("optimizer's state*permuted: ", lambda: mt.permute(two, p, g, optimizer=opt))
        assert all(torch.equal(u, v) for u, v in zip(two.parameters(), kept))
two = Net()
two.b.bias = nn.Parameter(two.a.bias.data)  # one memory, two parameters
opt = stepped(two, torch.optim.Adam)
own = mt.groups(two, x, **progress)
old = {k: opt.state[v]["exp_avg"].clone() for k, v in two.named_parameters()}
mt.permute(two, {k: list(range(n))[::-1] for k, n in own.sizes.items()}, own, optimizer=opt)
for k in "a.bias", "b.bias":
    assert torch.equal(opt.state[two.get_parameter(k)]["exp_avg"], old[k].flip(0)), k

# arguments
for call in (lambda: mt.align(a, b, 5), lambda: mt.permute(b, [0, 1], g), lambda: mt.permute(b, None, g), lambda: mt.permute(b, p, None),
             lambda: mt.merge(a, b, t="0.5"), lambda: mt.Curve(a, b, control_points=1.), lambda: mt.merge_many(a, b),
             lambda: mt.merge_many([a, b], weights=["1", "1"]), lambda: mt.align(a, b, loader, g, options="--seed 2"),
             lambda: mt.Curve(a, b).train(loader, 1.5), lambda: mt.Curve(a, b).train(loader, 1, schedule=.5),
             lambda: mt.Curve(a, b).train(loader, 1, optimizer=torch.optim.SGD(a.parameters(), .1)),
             lambda: mt.Curve(a, b).train(iter(loader), 2), lambda: mt.Curve(a, b).evaluate(loader, points=3.)):
    expect_error("", call)
rows = {"h": {"out": ["a.weight:0"], "in": ["b.weight:1"]}}
warned("without their biases (a.bias)", lambda: mt.permute(copy.deepcopy(b), {"h": list(range(9))}, rows))

# not refused: other counters of batch norm, a curve with one of two names of a tensor
one, two = pair(lambda: nn.Sequential(nn.Linear(5, 9), nn.BatchNorm1d(9), nn.Tanh(), nn.Linear(9, 3)))
two.train()(x)
found = mt.align(one, two, loader, **progress)
mt.merge(one, two.eval(), found), mt.Curve(one, two, found)
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out = nn.Embedding(7, 5), nn.Linear(5, 7, bias=False)
        self.out.weight = self.into.weight
one, two = pair(Tied)
mt.Curve(one, two).save("both.mcz")
s = mcz.read("both.mcz")
mcz.write("one.mcz", "curve", s.meta, {k: v for k, v in s.tensors.items() if "out" not in k}, history=s.history, inputs=s.inputs)
for name in "both.mcz", "one.mcz":
    assert torch.equal(mt.Curve.load(name, Tied()).point(1.).into.weight, two.out.weight), name

# caches of a network's own
@functools.lru_cache(None)
def mask(n):
    return torch.ones(n) * 2
class Cached(Net):
    table: dict = {}

    def forward(self, x):
        if "scale" not in self.table:
            self.table["scale"] = torch.ones(1)
        return super().forward(x * mask(5)) * self.table["scale"]
one = Cached()
mt.groups(one, x, **progress)
assert type(one(x)) is torch.Tensor and type(mask(5)) is torch.Tensor
class Keeping(Net):
    def __init__(self):
        super().__init__()
        self.state = type("State", (), {})()
        self.state.last = None

    def forward(self, x):
        if self.state.last is not None:
            x = x + self.state.last.mean()
        self.state.last = x
        return super().forward(x)
one = Keeping()
expect_error("next call*attribute \"state\"", lambda: mt.groups(one, x, **progress))
assert one.state.last is None

# two threads, one pair of networks
failed = []
def run(first):
    try:
        for n in range(first, first + 3):
            mt.align(a, b, [torch.randn(n, 5)], g, **progress)
    except Exception as e:
        failed.append(e)
threads = [threading.Thread(target=run, args=(k,)) for k in (6, 16)]
[t.start() for t in threads], [t.join() for t in threads]
assert not failed, failed
END

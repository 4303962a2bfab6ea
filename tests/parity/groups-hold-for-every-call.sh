# SPDX-License-Identifier: Apache-2.0
# mcz.torch.groups derives what holds for every call, not for one example: buffers that forward writes move with their units,
# tensors outside the state_dict stay in place whatever their numbers are, and several examples are derived together. It
# refuses state in other places, tensors that no example uses, and attributes that share a parameter's memory.
need_torch 2.15
OMP_NUM_THREADS=1 $python -W ignore - <<'END'
import copy, threading
import mcz, mcz.torch, numpy as np, torch
from refusal import has_words
from torch import nn

torch.manual_seed(0)
IN, UNITS = 5, 6
x = torch.randn(4, IN)


class Net(nn.Module):
    """hidden(x) may use what __init__ adds: `extra(self)`."""

    def __init__(self, hidden, extra=lambda net: None, inputs=IN):
        super().__init__()
        self.first, self.last, self.hidden = nn.Linear(inputs, UNITS), nn.Linear(UNITS, 3), hidden
        extra(self)

    def forward(self, x, *more):
        return self.last(self.hidden(self, torch.relu(self.first(x)), *more))


def calls(net, inputs):
    with torch.no_grad():
        return torch.cat([net(*v).flatten() for v in inputs for _ in range(3)])


def kept(name, net, units, examples=(x,), inputs=((x,),), **options):
    """Permuted copies return the same outputs in three calls with each input, and `units` are free."""
    g = mcz.torch.groups(net, *examples, **options)
    assert sum(g.sizes.values()) == units, "%s: %s" % (name, g.sizes)
    if units:
        order = {k: np.roll(np.arange(n), 1) for k, n in g.sizes.items()}
        apart = calls(copy.deepcopy(net).eval(), inputs) - calls(mcz.torch.permute(copy.deepcopy(net).eval(), order, g), inputs)
        assert apart.abs().max() < 1e-5, "%s: outputs differ by %g" % (name, apart.abs().max())
    return g


def refused(name, words, net, *examples):
    try:
        g = mcz.torch.groups(net, *(examples or (x,)))
    except mcz.Error as e:
        assert has_words(e, words) and "\n" not in str(e), "%s: %s" % (name, e)
        return
    raise AssertionError("%s: %s" % (name, g.sizes))


# buffers that a call writes
def mean(persistent=True):
    def extra(net):
        net.register_buffer("state", torch.zeros(1, UNITS), persistent=persistent)

    def hidden(net, h):
        h = torch.tanh(h + net.state)
        net.state.mul_(.5).add_(h.mean(0, keepdim=True))
        return h
    return hidden, extra


kept("state", Net(*mean()), UNITS)
kept("state outside the state_dict", Net(*mean(False)), 0)


def counted(net, h):
    net.calls += 1
    return h * net.calls


kept("counter", Net(counted, lambda net: net.register_buffer("calls", torch.zeros((), dtype=torch.long))), UNITS)


def centred(net, h):
    net.state.copy_((h - h.mean(0)).mean(0))
    return h


kept("a buffer of rounding errors", Net(centred, lambda net: net.register_buffer("state", torch.zeros(UNITS))), UNITS)

# state elsewhere
def attribute(name, first):
    def hidden(net, h):
        before = getattr(net, name)
        h = h if before is None else torch.tanh(h + before)
        setattr(net, name, h.mean(0, keepdim=True))
        return h
    return hidden, lambda net: setattr(net, name, first)


for first in torch.zeros(1, UNITS), torch.zeros(1), None:
    refused("attribute", "\"memory\"" if first is not None else "", Net(*attribute("memory", first)))


def every_second(net, h):
    net.calls += 1
    return h.flip(-1) if net.calls % 2 == 0 else h


net = Net(every_second, lambda net: setattr(net, "calls", 0))
refused("branch*counter", "the second call", net)
assert net.calls == 0


def logged(net, h):
    net.log.append(h)
    net.shape = h.shape
    return h


net = Net(logged, lambda net: setattr(net, "log", []))
kept("log", net, UNITS)
assert not net.log and not hasattr(net, "shape")

# constants: their numbers free nothing, their origin may
ones = torch.ones(UNITS)
kept("attribute of ones", Net(lambda net, h: h * net.gain, lambda net: setattr(net, "gain", ones)), 0)
kept("list of ones", Net(lambda net, h: h * net.gain[0], lambda net: setattr(net, "gain", [ones])), 0)
kept("hidden buffer", Net(lambda net, h: h * net.gain, lambda net: net.register_buffer("gain", ones, persistent=False)), 0)
kept("saved buffer", Net(lambda net, h: h * net.gain, lambda net: net.register_buffer("gain", ones)), UNITS)
kept("ones made by forward", Net(lambda net, h: h * torch.ones(UNITS) + torch.zeros_like(h)), UNITS)
kept("positions made by forward", Net(lambda net, h: h * torch.arange(1., UNITS + 1)), 0)
refused("alias", "\"scale\" shares the memory of \"first.bias\"",
        Net(lambda net, h: h * net.scale, lambda net: setattr(net, "scale", net.first.bias.data)))


# what one example does not use
def second(net, h, other=False):
    return net.other(h) if other else h


heads = Net(second, lambda net: setattr(net, "other", nn.Linear(UNITS, UNITS)))
refused("second branch", "tensors not used by this example: other.weight, other.bias", heads)
g = kept("second branch left", heads, UNITS, unused="keep")
assert {e[4] for e in g.fixed if e[0].startswith("other")} == {"not used by these examples"}, g.fixed
kept("both branches", heads, UNITS, (x, (x, True)), ((x,), (x, True)))
scaled = Net(lambda net, h, more=1: h * net.scale * more, lambda net: setattr(net, "scale", nn.Parameter(torch.ones(()))))
kept("a number in two examples", scaled, UNITS, (x, (x, 2.)), ((x,), (x, 2.)))


# a call that runs forward twice
class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net(logged, lambda net: setattr(net, "log", []))

    def forward(self, x, deep=True):
        return self(self.net(x)[:, [0, 1, 2, 0, 1]], False) if deep else self.net(x)


kept("recursion", Twice(), UNITS)


branches = Net(lambda net, h: h.cumsum(-1) if h.shape[1] == 3 else h, inputs=2)
tokens = [torch.randn(4, n, 2) for n in (5, 3)]
kept("one side", branches, UNITS, tokens[:1], [tokens[:1]])
kept("both sides", branches, 0, tokens, [])

# a part of a table: shorter inputs use another part
class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.table, self.head = nn.Embedding(11, 4), nn.Parameter(torch.randn(9, 4)), nn.Linear(4, 3)

    def forward(self, x):
        h = self.tokens(x).mean(1, keepdim=True) + self.table[:x.shape[1]]
        return self.head(h.relu().mean(1))


kept("positions", Positions(), 4, [torch.arange(12).reshape(2, 6) % 11], [[torch.arange(8).reshape(2, 4)]])

# data and threads
refused("data", "depends on", Net(lambda net, h: h + net.index[net.index > 0].sum(), lambda net: net.register_buffer(
    "index", torch.arange(3))))
found = []
threads = [threading.Thread(target=lambda: found.append(mcz.torch.groups(Net(lambda net, h: h), x))) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert [g.sizes for g in found] == [{"first": UNITS}] * 4, found
END

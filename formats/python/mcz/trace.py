# SPDX-License-Identifier: Apache-2.0
"""The graph of an nn.Module: it is run once on an image, and each function of PyTorch that it calls becomes the node
that the table of torch_functions.py says. Functions and not modules, so that nn.ReLU and F.relu are one entry; numbers
and not symbols, so that branches on a shape and operations in place are what they are. Whatever has no node is named,
all of it at once."""
import numpy as np
import torch

from . import graph
from .errors import Error, need
from .evaluate import evaluating, run, verify
from .graph import TIMES, constant
from .torch_functions import ALIASES, TABLE, adaptive_max_pool2d, max_pool2d
from .traced_tensor import BATCH, NoNode, Result, Traced, Value, flat, known, stand_in, whole_value


class Trace:
    """One run of a network: nodes so far, `problems` (calls that have no node) and notes for the user. path: the
    modules that are running, outermost first, each as (its path, the module, the Value of its input)."""

    def __init__(self, net, image):
        self.net, self.image = net, list(image)
        self.names = {id(p): n for n, p in list(net.named_parameters()) + list(net.named_buffers())}
        self.path, self.nodes, self.used, self.problems, self.notes = [], [], {"pixels", "loss"}, [], []
        self.constants = 0
        self.normalise = None  # (factor, summand) a channel that were used

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def place(self):
        """The path of the module that is running."""
        return self.path[-1][0] or "(the network itself)"

    def enter(self, path, module, args):
        self.path.append((path, module, whole_value(args[0]) if args else None))

    def leave(self, module, out):
        """Notes a module that returns its input unchanged: it may work in training."""
        _, _, before = self.path.pop()
        kind = type(module).__name__
        if before and whole_value(out) is before and kind not in ("Identity", "Sequential") and not list(
                module.children()) and getattr(module, "p", getattr(module, "drop_prob", 1)):
            self.note("%s is left out: training here is without it" % kind)

    def layer(self, weight, bias):
        """The module path of a layer's parameters."""
        name = self.names.get(id(weight))
        known(name, "its weight is computed, and no parameter")
        path, _, last = name.rpartition(".")
        known(last == "weight" and path, "its weight is called \"%s\", not PATH.weight" % name)
        known(bias is None or self.names.get(id(bias)) == path + ".bias", "its bias is not %s.bias" % path)
        known(path not in self.used, "%s is used twice: shared weights have no node" % path)
        return path

    def functional(self, op):
        """A free name below the module that is running."""
        path, module, _ = self.path[-1]
        own = type(module).__module__.startswith("torch.nn.") and path and not list(module.children())
        base = path if own else ".".join(filter(None, (path, op)))
        name, k = base, 2
        while name in self.used or name + ".weight" in self.names.values():
            name, k = "%s_%d" % (base, k), k + 1
        return name

    def source(self, x):
        """The name of the node that makes x; of pixels, what they were normalised with is kept."""
        v = x._mc
        if v.affine is not None:
            if self.normalise is None:
                self.normalise = v.affine
            known(all(np.allclose(a, b) for a, b in zip(v.affine, self.normalise)),
                  "the image is normalised in more than one way")
        return v.node

    def node(self, out, op, ins, /, named=None, axes="chw", any_axes=False, **settings):
        """Adds a node of these inputs (tensors) and settings, and makes it the Value of out, whose axes are given.
        NoNode where the graph has no such node, or the node's output is not of out's shape."""
        for x in ins:
            known("logits" not in x._mc.axes, "something follows log_softmax")
            known(any_axes or axes != "chw" or x._mc.axes == ("c", "h", "w"), "its input is no image")
        sources = [self.source(x) for x in ins]
        name = named or self.functional(op)
        n = graph.Node(op, name, [graph.Node("", s, [], {}) for s in sources], settings)
        for i, x in zip(n.ins, ins):
            i.shape = x._mc.shape
        try:
            graph.check_node(n.map, self.image[0])
            n.shape = graph.shape(n, self.image)
        except Error as e:
            raise NoNode(str(e)) from None
        self.used.add(name)
        self.nodes.append(n)
        want = [{"c": n.shape[0], "h": n.shape[1], "w": n.shape[2], "l": n.shape[1] * n.shape[2]}[a] for a in axes]
        known(list(out.shape[1:]) == want, "gives %s, not %s" % (tuple(out.shape[1:]), tuple(want)))
        out._mc = Value(name, n.shape, axes)

    def same(self, out, x, axes=None):
        """out is what x is, with other axes where they are given."""
        self_axes = x._mc.axes if axes is None else axes
        out._mc = Value(x._mc.node, x._mc.shape, self_axes, x._mc.affine)

    def affine(self, out, x, factor, summand, why):
        """out = x * factor + summand, numbers or one a channel, which are constants: of the image they are its
        normalisation, 0 and 1 are nothing."""
        def a_channel(v):
            if isinstance(v, torch.Tensor):
                known(id(v) not in self.names or not v.requires_grad, why)
                v = v.detach().as_subclass(torch.Tensor).double().numpy().reshape(-1)
                known(len(v) in (1, x._mc.shape[0]), why)
            return np.broadcast_to(np.asarray(v, float), (x._mc.shape[0],))
        factor, summand = a_channel(factor), a_channel(summand)
        if (factor == 1).all() and (summand == 0).all():
            return self.same(out, x)
        if x._mc.affine is None:  # a constant, which the node's name keeps for load()
            known((summand == 0).all() and (factor == factor[0]).all(), why)
            self.constants += 1
            name = "%s_%d" % (".".join(filter(None, (self.path[-1][0], TIMES + "%.9g" % factor[0]))), self.constants)
            self.note("%s is a scale, which training here would change" % name)
            return self.node(out, "scale", [x], named=name, axes=x._mc.axes)
        a, b = x._mc.affine
        out._mc = Value(x._mc.node, x._mc.shape, x._mc.axes, (a * factor, b * factor + summand))

    def call(self, func, args, kwargs, out, values):
        """Gives what func returned its Value. values: those of the tensors that func was given, before it ran."""
        for o in flat([out]):
            if isinstance(o, Traced):
                o._mc = None
        if not values or any(v is None for v in values):
            return  # follows what was told already
        taken = [a for a in flat([args, kwargs]) if isinstance(a, Traced)]
        for a, v in zip(taken, values):
            a._mc = v
        name = func.__name__.strip("_")
        handler = TABLE.get(ALIASES.get(name, name))
        kwargs = {k: v for k, v in kwargs.items() if k not in ("out",)}
        if isinstance(out, tuple) and handler in (max_pool2d, adaptive_max_pool2d):
            out = out[0]
        result = out
        try:
            known(handler and isinstance(out, Traced), "no node")
            if any(o is a for o in [out] for a in taken):
                result = Result(out)  # in place: the input is still what it was
            known(out.dtype == taken[0].dtype, "returns %s" % out.dtype)
            handler(self, result, *args, **kwargs)
            out._mc = result._mc
        except NoNode as e:
            self.problems.append("%s: %s: %s" % (self.place(), name, e))
            for o in flat([out]):  # so that what follows is told of itself
                if isinstance(o, Traced):
                    o._mc = stand_in(o, values[0])


def graph_of(net, image, classes, mean=None, std=None, name=None):
    """(the graph as a map, {tensor: array} in the graph's order, notes) of a network in evaluation, whose input are
    pixels normalised by mean and std (none: pixels in [0, 1]). image: its (C, H, W). Error names everything that has no
    node."""
    device = next((p.device for p in net.parameters()), torch.device("cpu"))
    net.cpu()
    t = Trace(net, image)
    hooks = []
    for path, m in net.named_modules():
        hooks.append(m.register_forward_pre_hook(lambda m, args, path=path: t.enter(path, m, args)))
        hooks.append(m.register_forward_hook(lambda m, args, out: t.leave(m, out)))
    Traced.trace = t
    try:
        with evaluating(net), torch.no_grad():
            m, tensors = trace(t, classes, mean, std, name)
    finally:
        Traced.trace = None
        for h in hooks:
            h.remove()
        net.to(device)
    return m, tensors, t.notes


def trace(t, classes, mean, std, name):
    """(the graph as a map, {tensor: array}) of a Trace whose network runs here."""
    x = torch.rand(BATCH, *t.image, generator=torch.Generator().manual_seed(1)).as_subclass(Traced)
    x._mc = Value("pixels", t.image, "chw", (np.ones(t.image[0]), np.zeros(t.image[0])))
    out = run(t.net, x)
    need(isinstance(out, torch.Tensor), "the network returns no tensor")
    if not t.problems:
        v = whole_value(out)
        need(v and v.axes in (("c",), ("logits",)) and v.shape[0] == classes,
             "the network returns %s, not %d logits" % (tuple(out.shape[1:]), classes))
        m, nodes = finish(t, out, classes, mean, std, name)
        tensors = weights(t, nodes)
        verify(t.net, m, t)
    need(not t.problems, "\n".join(["has no node:"] + ["  " + p for p in t.problems]))
    return m, tensors


def weights(t, nodes):
    """{tensor: array} of a graph's nodes, in their order, parameters first; notes about the others, and about those that change
    here."""
    state, parameters = t.net.state_dict(), dict(t.net.named_parameters())
    learned, statistics = (sum(some, []) for some in zip(*map(graph.tensors, nodes)))
    tensors = {n: np.full(s, constant(n), "f4") if n not in state else
               state[n].detach().cpu().float().numpy().reshape(s) for n, s in learned + statistics}
    for n, a in tensors.items():
        need(np.isfinite(a).all(), "\"%s\" holds a value that is not finite" % n)
    if any(state[n].dtype == torch.float64 for n in tensors if n in state):
        t.note("float64 weights are rounded to float32")
    learned = [n for n, _ in learned if n in state]
    for what, names, whole in (
            ("not used in evaluation, and left out", [n for n in parameters if n not in tensors], parameters),
            ("fixed there (requires_grad=False), but trained here", [
                n for n in learned if n not in parameters or not parameters[n].requires_grad], learned)):
        if names:
            t.note("%s: %s" % (what, "all parameters" if len(names) == len(whole) else ", ".join(sorted(
                {n.rpartition(".")[0] or n for n in names}))))
    return tensors


def finish(t, out, classes, mean, std, name):
    """(the graph as a map, its nodes): those that out needs, between the images' normalisation and the loss."""
    c = t.image[0]
    need(1 <= c <= 4, "an image has 1 to 4 colour channels, not %d" % c)
    mean, std = (np.broadcast_to(np.asarray(v, float), (c,))
                 for v in (0 if mean is None else mean, 1 if std is None else std))
    a, b = t.normalise or (1, 0)
    # a ((x - mean) / std) + b
    mean, std = ([float(str(np.float32(v))) for v in values] for values in (mean - b * std / a, std / a))
    needed, nodes = {out._mc.node}, []
    for n in reversed(t.nodes):
        if n.name in needed:
            needed.update(i.name for i in n.ins)
            nodes.insert(0, n)
    first = {"op": "normalise", "name": "pixels", "in": [], "mean": mean, "std": std}
    graph.check_node(first, c)
    return {"net": (name or type(t.net).__name__)[:63], "input": t.image, "classes": classes, "nodes":
            [first] + [n.map for n in nodes] +
            [{"op": "loss", "name": "loss", "in": [out._mc.node], "weight": 1, "train_only": False}]}, nodes

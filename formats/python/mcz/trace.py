# SPDX-License-Identifier: Apache-2.0
"""Trace the graph of an nn.Module.

The network runs once on a batch of random images, and torch_functions.py maps each PyTorch function
that it calls to a node. Tracing functions rather than modules makes nn.ReLU and F.relu one case.
Concrete rather than symbolic tensors make branches on a shape and in-place operations work. An
Error lists every unsupported call of the network."""

import itertools

import numpy as np
import torch

from . import graph
from .errors import Error, need
from .evaluate import outputs, verify
from .graph import TIMES, constant
from .torch_functions import ALIASES, TABLE, adaptive_max_pool2d, max_pool2d
from .traced_tensor import (
    BATCH,
    Result,
    Traced,
    Unsupported,
    Value,
    flat,
    require,
    stand_in,
    whole_value,
)
from .unchanged import evaluating

HELP = "see docs/reference/modules.md, or use mcz.torch.groups"
AUXILIARY_WEIGHT = 0.3  # of an auxiliary loss, as in GoogLeNet


class Trace:
    """One run of a network: its nodes, `problems` (unsupported calls) and notes for the user.
    path: the running modules, outermost first, each as (path, module, Value of its input)."""

    def __init__(self, net, image):
        self.net, self.image = net, list(image)
        self.names = {id(p): n for n, p in list(net.named_parameters()) + list(net.named_buffers())}
        self.path, self.nodes, self.used, self.problems, self.notes = (
            [],
            [],
            {"pixels", "loss"},
            [],
            [],
        )
        self.constants = 0
        self.normalise = None  # (factor, summand) per channel of the network's own normalisation

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def place(self):
        """The path of the running module."""
        return self.path[-1][0] or "(the network itself)"

    def operation(self, name):
        """The name to report: the running module's type if it is one of torch.nn, else the
        function."""
        _, module, _ = self.path[-1]
        return (
            type(module).__name__
            if type(module).__module__.startswith("torch.nn.")
            else name + "()"
        )

    def enter(self, path, module, args):
        self.path.append((path, module, whole_value(args[0]) if args else None))

    def leave(self, module, out):
        """Notes a module that returns its input unchanged, because it may act in training."""
        _, _, before = self.path.pop()
        kind = type(module).__name__
        if (
            before
            and whole_value(out) is before
            and kind not in ("Identity", "Sequential")
            and not list(module.children())
            and getattr(module, "p", getattr(module, "drop_prob", 1))
        ):
            self.note(f"{kind} is omitted: mc-train does not apply it")

    def layer(self, weight, bias):
        """The module path of a layer's parameters."""
        name = self.names.get(id(weight))
        require(name, "its weight must be a parameter, not a computed tensor")
        path, _, last = name.rpartition(".")
        require(last == "weight" and path, f'its weight must be named PATH.weight (got "{name}")')
        require(
            bias is None or self.names.get(id(bias)) == path + ".bias",
            f"its bias must be {path}.bias",
        )
        require(path not in self.used, f"{path} is used twice: shared weights are not supported")
        return path

    def functional(self, op, part=""):
        """An unused node name below the running module, which ends with `part`."""
        path, module, _ = self.path[-1]
        own = (
            type(module).__module__.startswith("torch.nn.") and path and not list(module.children())
        )
        base = path if own else ".".join(filter(None, (path, op)))
        name, k = base + part, 2
        while name in self.used or name + ".weight" in self.names.values():
            name, k = f"{base}_{k}{part}", k + 1
        return name

    def source(self, x):
        """The name of the node whose output x is. Records the normalisation of pixels."""
        v = x._mc
        if v.affine is not None:
            if self.normalise is None:
                self.normalise = v.affine
            require(
                all(np.allclose(a, b) for a, b in zip(v.affine, self.normalise)),
                "the image is normalised in more than one way",
            )
        return v.node

    def node(self, out, op, ins, /, named=None, axes="chw", any_axes=False, **settings):
        """Adds a node with these inputs (tensors) and settings, and sets the Value of out, whose
        axes are `axes`. Raises Unsupported if the node is invalid, or if its output's shape differs
        from out's."""
        for x in ins:
            require("logits" not in x._mc.axes, "log_softmax must be the last operation")
            require(
                any_axes or axes != "chw" or x._mc.axes == ("c", "h", "w"),
                "its input must have axes (C, H, W)",
            )
        sources = [self.source(x) for x in ins]
        name = named or self.functional(op)
        n = graph.Node(op, name, [graph.Node("", s, [], {}) for s in sources], settings)
        for i, x in zip(n.ins, ins):
            i.shape = x._mc.shape
        try:
            graph.check_node(n.map, self.image[0])
            n.shape = graph.shape(n, self.image)
        except Error as e:
            raise Unsupported(str(e)) from None
        self.used.add(name)
        self.nodes.append(n)
        expected = [
            {"c": n.shape[0], "h": n.shape[1], "w": n.shape[2], "l": n.shape[1] * n.shape[2]}[a]
            for a in axes
        ]
        require(
            list(out.shape[1:]) == expected,
            f"shape {tuple(expected)} expected, got {tuple(out.shape[1:])}",
        )
        out._mc = Value(name, n.shape, axes)

    def same(self, out, x, axes=None):
        """Gives out the Value of x, with other axes if given."""
        out._mc = Value(x._mc.node, x._mc.shape, x._mc.axes if axes is None else axes, x._mc.affine)

    def affine(self, out, x, factor, summand, reason):
        """Handles out = x * factor + summand with constants, each one number or one per channel. On
        pixels they are the image's normalisation. Elsewhere a single factor becomes a scale node;
        else Unsupported, for this reason."""

        def per_channel(v):
            if isinstance(v, torch.Tensor):
                require(id(v) not in self.names or not v.requires_grad, reason)
                v = v.detach().as_subclass(torch.Tensor).double().numpy().reshape(-1)
                require(len(v) in (1, x._mc.shape[0]), reason)
            return np.broadcast_to(np.asarray(v, float), (x._mc.shape[0],))

        factor, summand = per_channel(factor), per_channel(summand)
        if (factor == 1).all() and (summand == 0).all():
            self.same(out, x)
            return
        if x._mc.affine is None:  # the node's name holds the constant, for load()
            require((summand == 0).all() and (factor == factor[0]).all(), reason)
            self.constants += 1
            name = "{}_{}".format(
                ".".join(filter(None, (self.path[-1][0], TIMES + f"{factor[0]:.9g}"))),
                self.constants,
            )
            self.note(f"{name} is a constant, but mc-train trains it")
            self.node(out, "scale", [x], named=name, axes=x._mc.axes)
            return
        a, b = x._mc.affine
        out._mc = Value(x._mc.node, x._mc.shape, x._mc.axes, (a * factor, b * factor + summand))

    def call(self, func, args, kwargs, out, values):
        """Sets the Value of func's result. values: the Values of its traced arguments before it
        ran."""
        for o in flat([out]):
            if isinstance(o, Traced):
                o._mc = None
        if not values or any(v is None for v in values):
            return  # depends on an unsupported call that is already reported
        inputs = [a for a in flat([args, kwargs]) if isinstance(a, Traced)]
        for a, v in zip(inputs, values):
            a._mc = v
        name = func.__name__.strip("_")
        handler = TABLE.get(ALIASES.get(name, name))
        kwargs = {k: v for k, v in kwargs.items() if k not in ("out",)}
        if isinstance(out, tuple) and handler in (max_pool2d, adaptive_max_pool2d):
            out = out[0]
        result = out
        try:
            require(handler and isinstance(out, Traced), None)
            if any(out is a for a in inputs):
                result = Result(
                    out
                )  # in place: the input keeps its Value until the handler has read it
            require(out.dtype == inputs[0].dtype, f"conversion to {out.dtype} is not supported")
            handler(self, result, *args, **kwargs)
            out._mc = result._mc
        except Unsupported as e:
            reason = (
                f"{name}: {e}"
                if e.args[0]
                else self.operation(name) + " is not supported in graphs"
            )
            self.problems.append(f"{self.place()}: {reason}")
            for o in flat([out]):  # continue, to find later problems
                if isinstance(o, Traced):
                    o._mc = stand_in(o, values[0])


def graph_of(net, image, classes, mean=None, std=None, name=None):
    """Traces a network, as mcz.torch.export describes. image: (C, H, W). Returns (graph as a map,
    {tensor: array} in the graph's order, notes for the user)."""
    device = next((p.device for p in net.parameters()), torch.device("cpu"))
    net.cpu()
    hooks = []
    for path, m in net.named_modules():
        hooks.append(
            m.register_forward_pre_hook(
                lambda m, args, path=path: Traced.trace.enter(path, m, args)
            )
        )
        hooks.append(m.register_forward_hook(lambda m, args, out: Traced.trace.leave(m, out)))
    try:
        with evaluating(net), torch.no_grad():
            t, m, tensors = trace(net, image, classes, mean, std, name)
            if any(n not in tensors for n, _ in net.named_parameters()):
                t, m, tensors = auxiliary_heads(t, m, tensors, classes, mean, std, name)
    finally:
        Traced.trace = None
        for h in hooks:
            h.remove()
        net.to(device)
    return m, tensors, t.notes


def trace(net, image, classes, mean, std, name):
    """Runs a network. Returns (Trace, graph as a map, {tensor: array})."""
    t = Traced.trace = Trace(net, image)
    x = torch.rand(BATCH, *t.image, generator=torch.Generator().manual_seed(1)).as_subclass(Traced)
    x._mc = Value("pixels", t.image, "chw", (np.ones(t.image[0]), np.zeros(t.image[0])))
    result = net(x)
    out = outputs(result) or [result]
    need(
        isinstance(out[0], torch.Tensor),
        f"the network must return a tensor (got {type(out[0]).__name__})",
    )
    if not t.problems:
        heads = out if net.training else out[:1]
        values = [whole_value(o) for o in heads]
        for o, v in zip(heads, values):
            need(
                v and v.axes in (("c",), ("logits",)) and v.shape[0] == classes,
                f"the network must return {classes} logits (got shape {tuple(o.shape[1:])})",
            )
        m, nodes = finish(t, [v.node for v in values], classes, mean, std, name)
        tensors = weights(t, nodes)
        verify(net, m, t)
    need(len(t.problems) != 1, "{}: {}".format(([*t.problems, ""])[0], HELP))
    if t.problems:
        raise Error(f"{len(t.problems)} problems ({HELP}):", lines=t.problems)
    return t, m, tensors


def auxiliary_heads(t, m, tensors, classes, mean, std, name):
    """Adds the outputs that a network returns only in training, which evaluation omits: the network
    itself (not its modules) runs in training mode. Returns (Trace, graph, tensors), those given if
    the outputs cannot be added."""
    t.net.training = True
    try:
        with_heads = trace(t.net, t.image, classes, mean, std, name)
    except Exception:  # also the user's code: the network may need labels in training
        return t, m, tensors
    finally:
        t.net.training = False
    heads = [n["in"][0] for n in with_heads[1]["nodes"] if n.get("train_only")]
    if not heads or [n for n in with_heads[1]["nodes"] if n in m["nodes"]] != m["nodes"]:
        return t, m, tensors
    with_heads[0].note(
        "auxiliary outputs become losses of weight {:g}, for training: {}".format(
            AUXILIARY_WEIGHT, ", ".join(heads)
        )
    )
    return with_heads


def weights(t, nodes):
    """{tensor: array} of a graph's nodes, in their order, parameters first. Notes tensors that are
    omitted, rounded or frozen."""
    state, parameters = t.net.state_dict(), dict(t.net.named_parameters())
    learned, statistics = (
        list(itertools.chain(*lists)) for lists in zip(*map(graph.tensors, nodes))
    )
    tensors = {
        n: np.full(s, constant(n), "f4")
        if n not in state
        else state[n].detach().cpu().float().numpy().reshape(s)
        for n, s in learned + statistics
    }
    for n, a in tensors.items():
        need(np.isfinite(a).all(), f'"{n}" holds a value that is not finite')
    if any(state[n].dtype == torch.float64 for n in tensors if n in state):
        t.note("float64 weights are rounded to float32")
    learned = [n for n, _ in learned if n in state]
    for text, names, candidates in (
        (
            "omitted, because evaluation does not use them",
            [n for n in parameters if n not in tensors],
            parameters,
        ),
        (
            "frozen (requires_grad=False), but mc-train trains them",
            [n for n in learned if n not in parameters or not parameters[n].requires_grad],
            learned,
        ),
    ):
        if names:
            t.note(
                "{}: {}".format(
                    text,
                    "all parameters"
                    if len(names) == len(candidates)
                    else ", ".join(sorted({n.rpartition(".")[0] or n for n in names})),
                )
            )
    return tensors


def finish(t, heads, classes, mean, std, name):
    """(graph as a map, nodes that the heads, names of nodes, depend on). The map adds the image's
    normalisation and the losses: the first head's, and auxiliary ones."""
    c = t.image[0]
    need(1 <= c <= 4, f"an image must have 1 to 4 channels (got {c})")
    mean, std = (
        np.broadcast_to(np.asarray(v, float), (c,))
        for v in (0 if mean is None else mean, 1 if std is None else std)
    )
    a, b = t.normalise or (1, 0)
    # a ((x - mean) / std) + b
    mean, std = (
        [float(str(np.float32(v))) for v in values] for values in (mean - b * std / a, std / a)
    )
    needed, nodes = set(heads), []
    for n in reversed(t.nodes):
        if n.name in needed:
            needed.update(i.name for i in n.ins)
            nodes.insert(0, n)
    first = {"op": "normalise", "name": "pixels", "in": [], "mean": mean, "std": std}
    graph.check_node(first, c)
    return {
        "net": (name or type(t.net).__name__)[:63],
        "input": t.image,
        "classes": classes,
        "nodes": [first]
        + [n.map for n in nodes]
        + [
            {
                "op": "loss",
                "name": h + ".loss" if i else "loss",
                "in": [h],
                "weight": AUXILIARY_WEIGHT if i else 1,
                "train_only": i > 0,
            }
            for i, h in enumerate(heads)
        ],
    }, nodes

# SPDX-License-Identifier: Apache-2.0
"""The graph of an nn.Module: it is run once on an image, and each function of PyTorch that it calls becomes the node
of one table below. Functions and not modules, so that nn.ReLU and F.relu are one entry; numbers and not symbols, so
that branches on a shape and operations in place are what they are. What has no node is told, all of it at once."""
import math
import re

import numpy as np
import torch
from torch.nn import functional as F

from . import graph
from .errors import Error, need

BATCH = 2
TIMES = "times_"  # begins the last part of the name of a scale that is a constant: times_0.125_1


class Value:
    """What a tensor is: the output of a node, of shape (C, H, W); `axes` are the tensor's behind the first: c, h, w
    (l: h and w as one). affine: (factor, summand) a channel, of the image before the network's own normalisation."""

    def __init__(self, node, shape, axes, affine=None):
        self.node, self.shape, self.axes, self.affine = node, tuple(shape), tuple(axes), affine


class NoNode(Exception):
    pass


def known(ok, why):
    if not ok:
        raise NoNode(why)


class Traced(torch.Tensor):
    trace = None

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        taken = [a for a in flat([args, kwargs]) if isinstance(a, Traced)]
        values = [getattr(a, "_mc", None) for a in taken]  # before what works in place
        out = super().__torch_function__(func, types, args, kwargs)
        if not any(isinstance(o, torch.Tensor) for o in flat([out])):
            return out
        if func.__name__ in ("__get__", "__set__") and not isinstance(out, Traced):
            return out
        cls.trace.call(func, args, kwargs, out, values)
        return out


def flat(x):
    if isinstance(x, (list, tuple)):
        return [y for e in x for y in flat(e)]
    return [y for e in x.values() for y in flat(e)] if isinstance(x, dict) else [x]


def two(v):
    v = list(v) if isinstance(v, (list, tuple)) else [v, v]
    return [int(k) for k in (v * 2 if len(v) == 1 else v)]


def whole_value(x):
    return x._mc if isinstance(x, Traced) else None


# ---- the table: functions of PyTorch, by name without underscores ----------------------------------------------------
# Each is given the trace, the result, and what the function was given; it makes a node or raises NoNode.

def conv2d(t, out, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    known(two(dilation) == [1, 1], "dilation %s" % (tuple(two(dilation)),))
    kernel = list(weight.shape[2:])
    if padding == "same":
        known(all(k % 2 for k in kernel), "padding \"same\" of an even kernel")
        padding = [k // 2 for k in kernel]
    t.node(out, "conv", [x], named=t.layer(weight, bias), out=weight.shape[0], kernel=kernel, stride=two(stride),
           pad=[0, 0] if padding == "valid" else two(padding), groups=groups, bias=bias is not None)


def linear(t, out, x, weight, bias=None):
    known(x._mc.axes[-1] == "c", "its input's last axis is not the channels")
    settings = {"out": weight.shape[0], "bias": bias is not None}
    if len(x._mc.axes) == 1:
        return t.node(out, "linear", [x], named=t.layer(weight, bias), axes="c", **settings)
    t.node(out, "conv", [x], named=t.layer(weight, bias), axes=x._mc.axes, kernel=[1, 1], stride=[1, 1], pad=[0, 0],
           groups=1, **settings)


def batch_norm(t, out, x, running_mean, running_var, weight=None, bias=None, training=False, momentum=.1, eps=1e-5):
    known(weight is not None and running_mean is not None, "without weight and bias, or without running statistics")
    known(x._mc.axes[0] == "c", "its input's channels are not axis 1")
    t.node(out, "batchnorm", [x], named=t.layer(weight, bias), axes=x._mc.axes, eps=eps, momentum=momentum)


def layer_norm(t, out, x, normalized_shape, weight=None, bias=None, eps=1e-5):
    known(x._mc.axes[-1] == "c" and len(normalized_shape) == 1, "over other axes than the channels")
    known(weight is not None and bias is not None, "without weight and bias")
    t.node(out, "layernorm", [x], named=t.layer(weight, bias), axes=x._mc.axes, eps=eps)


def pointwise(op):
    def handler(t, out, x, *args, **kwargs):
        known(kwargs.get("approximate", "none") == "none", "approximate=%r" % kwargs.get("approximate"))
        t.node(out, op, [x], axes=x._mc.axes)
    return handler


def hardtanh(t, out, x, min_val=-1., max_val=1., inplace=False):
    known((min_val, max_val) == (0, 6), "from %g to %g" % (min_val, max_val))
    t.node(out, "relu6", [x], axes=x._mc.axes)


def max_pool2d(t, out, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    known(two(dilation) == [1, 1], "dilation %s" % (tuple(two(dilation)),))
    pool(t, out, "maxpool", x, kernel_size, stride, padding, ceil_mode)


def avg_pool2d(t, out, x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
               divisor_override=None):
    known(not (any(two(padding)) and count_include_pad) and divisor_override is None,
          "it averages over the padding (count_include_pad), or has a divisor of its own")
    pool(t, out, "avgpool", x, kernel_size, stride, padding, ceil_mode)


def pool(t, out, op, x, kernel, stride, pad, ceil_mode):
    c, h, w = x._mc.shape
    if op == "avgpool" and two(kernel) == [h, w] and not any(two(pad)):
        return t.node(out, "globalpool", [x])
    t.node(out, op, [x], kernel=two(kernel), stride=two(kernel if stride is None or stride == [] else stride),
           pad=two(pad), ceil=bool(ceil_mode))


def adaptive_avg_pool2d(t, out, x, output_size):
    size = [s if k is None else k for k, s in zip(two_or_none(output_size), x._mc.shape[1:])]
    if size == [1, 1]:
        return t.node(out, "globalpool", [x])
    if size == list(x._mc.shape[1:]):
        return t.same(out, x)
    t.node(out, "adaptpool", [x], size=size)


def adaptive_max_pool2d(t, out, x, output_size, return_indices=False):
    size = [s if k is None else k for k, s in zip(two_or_none(output_size), x._mc.shape[1:])]
    known(all(s % k == 0 for k, s in zip(size, x._mc.shape[1:])), "windows of more than one size")
    kernel = [s // k for k, s in zip(size, x._mc.shape[1:])]
    pool(t, out, "maxpool", x, kernel, kernel, 0, False)


def two_or_none(v):
    return list(v) if isinstance(v, (list, tuple)) else [v, v]


def mean(t, out, x, dim=None, keepdim=False, **rest):
    dims = [dim] if isinstance(dim, int) else list(dim or [])
    over = {x._mc.axes[d % (len(x._mc.axes) + 1) - 1] if d % (len(x._mc.axes) + 1) else "n" for d in dims}
    spatial = set(x._mc.axes) - {"c"}
    known(over == spatial and spatial, "over other axes than all of the image's")
    t.node(out, "globalpool", [x], axes=x._mc.axes if keepdim else "c", any_axes=True)


def reshape(t, out, x, *shape, **rest):
    v, new = x._mc, list(out.shape[1:])
    c, h, w = v.shape
    forms = {"c h w": [c, h, w], "h w c": [h, w, c], "c l": [c, h * w], "l c": [h * w, c], "c": [c]}
    channels_first = v.axes[0] == "c" or h * w == 1
    known(out.shape[0] == BATCH, "it moves something into the batch")
    for axes, want in forms.items():
        if new == want and (h * w == 1 or axes != "c" and (axes[0] == "c") == (v.axes[0] == "c")):
            return t.same(out, x, axes.split())
    known(new == [c * h * w] and channels_first, "%s from %s" % (tuple(new), tuple(x.shape[1:])))
    t.node(out, "flatten", [x], any_axes=True, axes="c")


def permute(t, out, x, *dims, **rest):
    dims = list(dims[0]) if dims and isinstance(dims[0], (list, tuple)) else list(dims or rest["dims"])
    reorder(t, out, x, dims)


def transpose(t, out, x, a, b):
    dims = list(range(x.dim()))
    dims[a], dims[b] = dims[b], dims[a]
    reorder(t, out, x, dims)


def reorder(t, out, x, dims):
    dims = [d % x.dim() for d in dims]
    known(dims[0] == 0, "it moves the batch")
    t.same(out, x, [x._mc.axes[d - 1] for d in dims[1:]])


def cat(t, out, tensors, dim=0, **rest):
    dim = rest.get("axis", dim)
    known(all(whole_value(x) for x in tensors), "with a tensor that no node makes")
    first = tensors[0]._mc
    known(all(x._mc.axes == first.axes for x in tensors) and dim % (len(first.axes) + 1) == first.axes.index("c") + 1,
          "along another axis than the channels")
    if len(tensors) == 1:
        return t.same(out, tensors[0])
    t.node(out, "concat", list(tensors), axes=first.axes)


def add(t, out, x, y, alpha=1, **rest):
    if whole_value(x) and whole_value(y):
        known(alpha == 1, "times alpha=%g" % alpha)
        known(x._mc.shape == y._mc.shape and x._mc.axes == y._mc.axes, "of %s and %s" %
              (tuple(x.shape[1:]), tuple(y.shape[1:])))
        return t.node(out, "add", [x, y], axes=x._mc.axes)
    x, y = (x, y) if whole_value(x) else (y, x)
    t.affine(out, x, 1, y if alpha == 1 else y * alpha, "a summand that no node makes")


def sub(t, out, x, y, **rest):
    known(whole_value(x) and not whole_value(y), "of two nodes")
    t.affine(out, x, 1, -y, "a summand that no node makes")


def mul(t, out, x, y):
    if whole_value(x) and whole_value(y):
        x, y = (y, x) if x._mc.shape[1:] == (1, 1) else (x, y)
        known(y._mc.shape in (x._mc.shape, (x._mc.shape[0], 1, 1)), "of %s and %s" %
              (tuple(x.shape[1:]), tuple(y.shape[1:])))
        return t.node(out, "mul", [x, y], axes=x._mc.axes, any_axes=True)
    x, y = (x, y) if whole_value(x) else (y, x)
    name, axes = t.names.get(id(y)), x._mc.axes
    if name and y.numel() == x._mc.shape[0] == dict(zip(reversed(axes), reversed(y.shape))).get("c"):
        return t.node(out, "scale", [x], named=name, axes=axes)
    t.affine(out, x, y, 0, "a factor that is no parameter of one value a channel")


def div(t, out, x, y, **rest):
    known(whole_value(x) and not whole_value(y), "of two nodes")
    t.affine(out, x, 1 / y, 0, "a divisor")


def dropout(t, out, x, p=.5, training=True, inplace=False):
    known(not training, "it drops values in evaluation too")
    return t.node(out, "dropout", [x], axes=x._mc.axes, p=p) if p else t.same(out, x)


def dropout2d(t, out, x, p=.5, training=True, inplace=False):
    known(not training, "it drops channels in evaluation too")
    t.note("dropout of whole channels is left out: training here is without it")
    t.same(out, x)


def identity(t, out, x, *args, **kwargs):
    t.same(out, x)


def log_softmax(t, out, x, dim=None, **rest):
    known(x._mc.axes == ("c",), "of no logits")
    t.note("log_softmax is left out: the loss has it")
    t.same(out, x, ["logits"])


TABLE = {
    "conv2d": conv2d, "linear": linear, "batch_norm": batch_norm, "layer_norm": layer_norm,
    "relu": pointwise("relu"), "relu6": pointwise("relu6"), "hardtanh": hardtanh, "gelu": pointwise("gelu"),
    "silu": pointwise("silu"), "hardswish": pointwise("hardswish"), "hardsigmoid": pointwise("hardsigmoid"),
    "sigmoid": pointwise("sigmoid"),
    "max_pool2d": max_pool2d, "avg_pool2d": avg_pool2d, "adaptive_avg_pool2d": adaptive_avg_pool2d,
    "adaptive_max_pool2d": adaptive_max_pool2d, "mean": mean,
    "flatten": reshape, "view": reshape, "reshape": reshape, "squeeze": reshape, "unsqueeze": reshape,
    "permute": permute, "transpose": transpose, "cat": cat, "concat": cat, "concatenate": cat,
    "add": add, "sub": sub, "mul": mul, "div": div,
    "dropout": dropout, "dropout2d": dropout2d, "log_softmax": log_softmax,
    "contiguous": identity, "clone": identity, "detach": identity, "to": identity, "float": identity, "alias": identity,
}
ALIASES = {
    "iadd": "add", "radd": "add", "isub": "sub", "imul": "mul", "rmul": "mul", "itruediv": "div", "truediv": "div",
    "multiply": "mul", "divide": "div", "subtract": "sub", "max_pool2d_with_indices": "max_pool2d",
    "adaptive_max_pool2d_with_indices": "adaptive_max_pool2d"}


class Trace:
    def __init__(self, net, image):
        self.net, self.image = net, list(image)
        self.names = {id(p): n for n, p in list(net.named_parameters()) + list(net.named_buffers())}
        self.path, self.nodes, self.used, self.problems, self.notes = [], [], {"pixels", "loss"}, [], []
        self.constants = 0
        self.normalise = None  # (factor, summand) a channel that were used

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

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
        path, module = self.path[-1] if self.path else ("", self.net)
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
        known(op in graph.INPUTS, "there is no node %s" % op)
        for x in ins:
            known("logits" not in x._mc.axes, "something follows log_softmax")
            known(any_axes or axes != "chw" or x._mc.axes == ("c", "h", "w"), "its input is no image")
        sources = [self.source(x) for x in ins]
        name = named or self.functional(op)
        n = graph.Node(op, name, [graph.Node("", s, [], {}) for s in sources], settings)
        for i, x in zip(n.ins, ins):
            i.shape = x._mc.shape
        try:
            n.shape = graph.shape(n, self.image)
        except Error as e:
            raise NoNode(str(e)) from None
        self.used.add(name)
        self.nodes.append({"op": op, "name": name, "in": sources, **settings})
        want = [{"c": n.shape[0], "h": n.shape[1], "w": n.shape[2], "l": n.shape[1] * n.shape[2]}[a] for a in axes]
        known(list(out.shape[1:]) == want, "gives %s, not %s" % (tuple(out.shape[1:]), tuple(want)))
        out._mc = Value(name, n.shape, axes)

    def same(self, out, x, axes=None):
        self_axes = x._mc.axes if axes is None else axes
        out._mc = Value(x._mc.node, x._mc.shape, self_axes, x._mc.affine)

    def affine(self, out, x, factor, summand, why):
        """Constants: of the image they are its normalisation, 0 and 1 are nothing."""
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
            handler(self, result, *args, **kwargs)
            out._mc = result._mc
        except NoNode as e:
            path = self.path[-1][0] if self.path else ""
            self.problems.append("%s: %s: %s" % (path or "(the network itself)", name, e))
            for o in flat([out]):  # so that what follows is told of itself
                if isinstance(o, Traced):
                    o._mc = stand_in(o, values[0])


def stand_in(x, v):
    """What a tensor may be that no node makes."""
    if x.dim() == len(v.axes) + 1:
        sides = dict(zip(v.axes, x.shape[1:]))
        return Value("pixels", [sides.get(a, s) for a, s in zip("chw", v.shape)], v.axes)
    if x.dim() in (2, 4):
        return Value("pixels", (list(x.shape[1:]) + [1, 1])[:3], "chw" if x.dim() == 4 else "c")
    return None


class Result:
    """Of an operation in place: the shape of a tensor whose value is still the input's."""

    def __init__(self, tensor):
        self.shape, self._mc = tensor.shape, None


def run(net, x):
    """The logits among what a network returns."""
    out = net(x)
    if hasattr(out, "logits") and not isinstance(out, torch.Tensor):
        return out.logits
    if isinstance(out, dict):
        return next(iter(out.values()))
    return out[0] if isinstance(out, (tuple, list)) else out


def graph_of(net, image, classes, mean=None, std=None, name=None):
    """(the graph as a map, {tensor: array} in the graph's order, notes) of a network in evaluation, whose input are
    pixels normalised by mean and std (none: pixels in [0, 1]). Error names everything that has no node."""
    training = net.training
    device = next((p.device for p in net.parameters()), torch.device("cpu"))
    net.eval().cpu()
    t = Trace(net, image)
    hooks = []
    for path, m in net.named_modules():
        hooks.append(m.register_forward_pre_hook(lambda m, _, path=path: t.path.append((path, m))))
        hooks.append(m.register_forward_hook(lambda *_: t.path.pop() and None))
        if type(m).__name__ in ("StochasticDepth", "DropPath") and getattr(m, "p", getattr(
                m, "drop_prob", 0)):
            t.note("%s is left out: training here is without it" % type(m).__name__)
    Traced.trace = t
    try:
        with torch.no_grad():
            x = torch.rand(BATCH, *image, generator=torch.Generator().manual_seed(1)).as_subclass(Traced)
            x._mc = Value("pixels", image, "chw", (np.ones(image[0]), np.zeros(image[0])))
            out = run(net, x)
        need(isinstance(out, torch.Tensor), "the network returns no tensor")
        if not t.problems:
            v = whole_value(out)
            need(v and v.axes in (("c",), ("logits",)) and v.shape[0] == classes,
                 "the network returns %s, not %d logits" % (tuple(out.shape[1:]), classes))
        m = finish(t, out, classes, mean, std, name) if not t.problems else None
        if m:
            verify(net, m, t)
    finally:
        Traced.trace = None
        for h in hooks:
            h.remove()
        net.train(training).to(device)
    need(not t.problems, "\n".join(["has no node:"] + ["  " + p for p in t.problems]))
    g = graph.Graph(m)
    state = net.state_dict()
    tensors = {n: np.full(s, constant(n), "f4") if n not in state else
               state[n].detach().cpu().float().numpy().reshape(s) for n, s in g.parameters + g.statistics}
    parameters = [n for n, _ in net.named_parameters()]
    left = sorted({n.rpartition(".")[0] or n for n in parameters if n not in tensors})
    if left:
        t.note("not used in evaluation, and left out: %s" % ", ".join(left))
    return m, tensors, t.notes


def constant(name):
    """The value of a scale that is no parameter, or None."""
    found = re.search(r"(?:^|\.)%s(-?[0-9.]+(?:e[+-]?[0-9]+)?)_[0-9]+$" % TIMES, name)
    return float(found[1]) if found else None


def finish(t, out, classes, mean, std, name):
    c = t.image[0]
    mean, std = (np.broadcast_to(np.asarray(v, float), (c,))
                 for v in (0 if mean is None else mean, 1 if std is None else std))
    a, b = t.normalise or (1, 0)
    # a ((x - mean) / std) + b
    mean, std = mean - b * std / a, std / a
    needed, nodes = {out._mc.node}, []
    for n in reversed(t.nodes):
        if n["name"] in needed:
            needed.update(n["in"])
            nodes.insert(0, n)
    return {"net": (name or type(t.net).__name__)[:63], "input": t.image, "classes": classes, "nodes":
            [{"op": "normalise", "name": "pixels", "in": [], "mean": [float(str(np.float32(v))) for v in mean],
              "std": [float(str(np.float32(v))) for v in std]}] + nodes +
            [{"op": "loss", "name": "loss", "in": [out._mc.node], "weight": 1, "train_only": False}]}


# ---- what was traced, computed from its nodes ------------------------------------------------------------------------

def settle(n):
    return {k: n[k] for k in ("stride",)} | {"padding": n["pad"]}


EVALUATE = {
    "conv": lambda n, x, w: F.conv2d(x, w("weight").reshape(n["out"], -1, *n["kernel"]),
                                     w("bias") if n["bias"] else None, groups=n["groups"], **settle(n)),
    "linear": lambda n, x, w: F.linear(x.flatten(1), w("weight"), w("bias") if n["bias"] else None)[..., None, None],
    "batchnorm": lambda n, x, w: F.batch_norm(x, w("running_mean"), w("running_var"), w("weight"), w("bias"),
                                              eps=n["eps"]),
    "layernorm": lambda n, x, w: F.layer_norm(x.movedim(1, -1), x.shape[1:2], w("weight"), w("bias"),
                                              n["eps"]).movedim(-1, 1),
    "scale": lambda n, x, w: x * (w(None).reshape(-1, 1, 1) if constant(n["name"]) is None else constant(n["name"])),
    "add": lambda n, *x: sum(x[1:-1], x[0]), "concat": lambda n, *x: torch.cat(x[:-1], 1),
    "mul": lambda n, x, y, w: x * y, "sigmoid": lambda n, x, w: torch.sigmoid(x),  # functional.sigmoid warns
    "maxpool": lambda n, x, w: F.max_pool2d(x, n["kernel"], ceil_mode=n["ceil"], **settle(n)),
    "avgpool": lambda n, x, w: F.avg_pool2d(x, n["kernel"], ceil_mode=n["ceil"], count_include_pad=False, **settle(n)),
    "globalpool": lambda n, x, w: x.mean((2, 3), keepdim=True),
    "adaptpool": lambda n, x, w: F.adaptive_avg_pool2d(x, n["size"]),
    "flatten": lambda n, x, w: x.flatten(1)[..., None, None], "dropout": lambda n, x, w: x, "loss": lambda n, x, w: x,
}


def verify(net, m, t):
    """The logits of the nodes are those of the network, on other images than the one that was traced."""
    x = torch.rand(3, *m["input"], generator=torch.Generator().manual_seed(2))
    state, made, first = net.state_dict(), {}, m["nodes"][0]
    a, b = (torch.tensor(np.broadcast_to(v, (len(first["mean"]),)).copy(), dtype=x.dtype).view(-1, 1, 1)
            for v in t.normalise or (1., 0.))
    with torch.no_grad():
        made["pixels"], theirs = x * a + b, run(net, x).as_subclass(torch.Tensor)
        for n in m["nodes"][1:]:
            f = EVALUATE.get(n["op"], lambda n, x, w: getattr(F, n["op"])(x))
            made[n["name"]] = f(n, *(made[i] for i in n["in"]),
                                lambda s, n=n: state["%s.%s" % (n["name"], s) if s else n["name"]])
        ours = made["loss"].flatten(1)
        if "log_softmax is left out: the loss has it" in t.notes:
            ours = ours.log_softmax(1)
        off, most = (ours - theirs).abs().max().item(), theirs.abs().max().item()
    if not off <= 1e-4 * max(most, 1e-3) or not math.isfinite(off):
        t.problems.append("(the network itself): logits of other images are not those of its nodes (by %g of %g): it "
                          "branches on what it sees, or works in place on what it needs later" % (off, most))

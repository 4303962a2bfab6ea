# SPDX-License-Identifier: Apache-2.0
"""The registry of rules, one operation of a network as rules see it, and helpers that most rules
use."""

import torch

from ..axes import atoms, confine, fix, fixed, free, outer, renew, unify, vary
from ..capture import BATCH

ROWS, DIFFERENCE = 1, 2  # Axes.zeros
RULES: dict = {}  # {operation: (function, labels)}
CARRY, READ = (
    "carry",
    "read",
)  # the outputs have the label of the first input; the rule itself reads labels


def rule(*names, labels=None):
    """Registers a function from a Call to the axes of its output. names: of ATen operations, or
    NAMESPACE::NAME."""

    def add(f):
        RULES.update(dict.fromkeys(names, (f, labels)))
        return f

    return add


class Label:
    """Numbers in a tensor that refer to units of an axis: new numbers must name the places to which
    units move.

    axis      the axis to which the numbers refer
    ends      if not None, the tensor has one number per unit: the place on this data atom after the
              last entry of the unit
    data      the data atom each entry of which these numbers assign to its unit, or None
    ordered   True if the numbers ascend along `data`
    distinct  the atom along which no number occurs twice, or None"""

    def __init__(self, axis, ends=None, data=None, ordered=False, distinct=None):
        self.axis, self.ends, self.data, self.ordered, self.distinct = (
            axis,
            ends,
            data,
            ordered,
            distinct,
        )


class Axes(list):
    """The axes of a tensor, with its label, if its numbers are labels. counts: the data atom whose
    entries it counts. apart: True if no two of its numbers are equal, for almost all parameters.
    zeros: ROWS if all its numbers for an input may be 0, DIFFERENCE if it may cancel another
    tensor, else 0."""

    def __init__(self, axes, label=None, counts=None, apart=False, zeros=0):
        super().__init__(axes)
        self.label, self.counts, self.apart, self.zeros = label, counts, apart, zeros


class Value:
    """A tensor of the network: the name of its node and its axes. `origin`: the value that this one
    is a copy of."""

    def __init__(self, node, axes, origin=None):
        self.node, self.axes, self.origin = node, axes, origin or self

    def renewed(self):
        """The same tensor with copies of its loose atoms: an operation that gives them an order
        does so for itself alone."""
        if not any(a.loose for e in self.axes for a in atoms(e)):
            return self
        copies: dict = {}
        axes, label = [renew(e, copies) for e in self.axes], self.label
        if label:
            label = Label(
                renew(label.axis, copies),
                label.ends,
                label.data,
                label.ordered,
                label.distinct and renew(label.distinct, copies),
            )
        return Value(
            self.node,
            Axes(axes, label, getattr(self.axes, "counts", None), self.apart, self.zeros),
            self.origin,
        )

    @property
    def label(self):
        return getattr(self.axes, "label", None)

    @property
    def apart(self):
        return getattr(self.axes, "apart", False)

    @property
    def zeros(self):
        return getattr(self.axes, "zeros", 0)

    @property
    def references(self):
        """[the axis to which its numbers refer], or []."""
        return [self.label.axis] if self.label else []

    def is_activation(self):
        return any(e.size >= BATCH for e in self.axes)

    def __str__(self):
        return self.node


class Call:
    """One operation: its arguments by name, the sizes of its outputs, the reason to give if it
    fixes an axis. observe(value): called for each value that a layer contracts. `read`: (weight,
    axis) that a layer contracts. `units`: True if the operation takes each entry of a data atom
    from its unit. `inner`: [axes of a tensor that the operation computes on the way], such as the
    products that a layer sums. If each head has its own order of channels, then a product of two
    heads has none."""

    def __init__(self, name, arguments, sizes, reason, used, observe):
        self.name, self.arguments, self.sizes, self.reason, self.used = (
            name,
            arguments,
            sizes,
            reason,
            used,
        )
        self.observe, self.read, self.units, self.inner = observe, [], False, []

    def __getattr__(self, name):
        return self.arguments.get(name)

    def values(self):
        """All tensors among the arguments."""
        for a in self.arguments.values():
            for v in a if isinstance(a, (list, tuple)) else [a]:
                if isinstance(v, Value):
                    yield v

    def renew(self):
        """Gives the tensors among the arguments copies of their loose atoms."""
        self.arguments = {
            k: a.renewed()
            if isinstance(a, Value)
            else [v.renewed() if isinstance(v, Value) else v for v in a]
            if isinstance(a, (list, tuple))
            else a
            for k, a in self.arguments.items()
        }

    def several(self):
        """True if the operation returns several tensors."""
        return bool(self.sizes) and isinstance(self.sizes[0], list)

    def fix(self, *axes):
        for e in axes:
            fix(e, self.reason)

    def fixed(self, sizes):
        return [fixed(n, self.reason) for n in sizes]

    def unify(self, *pairs):
        """Unifies pairs of axes, outer ones first: the order within heads may vary with the head if
        the heads are one."""
        depth = [max((len(outer(a)) for e in pair for a in atoms(e)), default=0) for pair in pairs]
        for _, (e, f) in sorted(zip(depth, pairs), key=lambda p: p[0]):
            unify(e, f, self.reason)


def anything(size, axes):
    """A new axis along which all entries are equal, in a tensor with these other axes."""
    new = free(size)
    if size > 1:
        new.loose = True
        for a in dict.fromkeys(a for e in axes for a in atoms(e)):
            vary(new, a)
    return new


def uniform(sizes):
    """The axes of a tensor of equal numbers."""
    axes = []
    for n in sizes:
        axes.append(anything(n, axes))
    return axes


def index(dim, axes):
    return dim + len(axes) if dim < 0 else dim


def without(axes, dim):
    """The axes of sums over one axis."""
    k = index(dim, axes)
    return [*axes[:k], *axes[k + 1 :]]


def dims(c, axes):
    """The axes in the argument `dim` or `dims`: all of them if it is missing."""
    d = c.dim if c.dim is not None else c.dims
    if d is None or d == []:
        return list(range(len(axes)))
    return [index(k, axes) for k in (d if isinstance(d, (list, tuple)) else [d])]


def broadcast(c, tensors, *pairs):
    """The axes of an elementwise operation on tensors with these axes. Unifies further pairs of
    axes with them."""
    out, pairs = [], list(pairs)
    for k in range(max(map(len, tensors), default=0)):
        own = [t[-1 - k] for t in tensors if k < len(t)]
        longest = max(own, key=lambda e: e.size)
        pairs += [(longest, e) for e in own if e is not longest and e.size > 1]
        out.insert(0, longest)
    c.unify(*pairs)
    return out


def unknown(c):
    for v in c.values():
        c.fix(*v.axes)
    return [c.fixed(s) for s in c.sizes] if c.several() else c.fixed(c.sizes)


# operations whose outputs are apart: always, if the first input is, if one input is, if all are
ALWAYS = (
    "linear",
    "matmul",
    "mm",
    "bmm",
    "addmm",
    "baddbmm",
    "einsum",
    "tensordot",
    "bilinear",
    "convolution",
    "conv1d",
    "conv2d",
    "conv3d",
)
IF_FIRST = (
    "softmax",
    "_softmax",
    "log_softmax",
    "_log_softmax",
    "sigmoid",
    "tanh",
    "exp",
    "log",
    "neg",
    "softplus",
    "sum",
    "mean",
    "topk",
    "sort",
    "to",
    "_to_copy",
)
IF_ONE, IF_ALL = ("add",), ("mul", "div")
# further operations whose outputs are 0 for an input only if the inputs are
DENSE = (
    "gelu",
    "silu",
    "mish",
    "elu",
    "leaky_relu",
    "pow",
    "square",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "layer_norm",
    "native_layer_norm",
    "rms_norm",
    "_fused_rms_norm",
    "embedding",
    "scaled_dot_product_attention",
    "view",
    "reshape",
    "_unsafe_view",
    "flatten",
    "unflatten",
    "squeeze",
    "unsqueeze",
    "permute",
    "transpose",
    "t",
    "expand",
    "clone",
    "alias",
    "contiguous",
    "detach",
    "dropout",
    "cat",
    "stack",
    "slice",
    "select",
    "split",
    "split_with_sizes",
    "chunk",
    "unbind",
)


def _marked(axes, label, apart, zeros):
    """Axes whose numbers have this label, or the label that they have, or are apart. zeros: as in
    Axes."""
    label = label or getattr(axes, "label", None)
    return Axes(axes, label, getattr(axes, "counts", None), apart and not label, zeros)


def _zeros(c, inputs):
    """The output's zeros, as in Axes. After ReLU, or from an input of zeros, all numbers may be 0.
    A bias prevents it."""
    bias = (
        c.bias if isinstance(c.bias, Value) else c.self if c.name in ("addmm", "baddbmm") else None
    )
    if bias is not None and not bias.zeros:
        return 0
    worst = max((v.zeros for v in inputs), default=ROWS)
    if c.name == "sub" and len(inputs) > 1:
        return DIFFERENCE
    if c.name == "add" and worst < DIFFERENCE:
        return min(v.zeros for v in inputs)
    if c.name == "embedding":
        return c.weight.zeros if c.padding_idx in (None, -1) else ROWS
    if c.name in ALWAYS:
        return min(worst, ROWS)
    return worst if c.name in DENSE + IF_FIRST + IF_ONE + IF_ALL else max(worst, ROWS)


def _apart(c, inputs, labels, zeros):
    """True if no two numbers of the output are equal, for almost all parameters. Activations such
    as ReLU are 0 in many places, and so is their product without a bias. Masks of -inf are left
    aside, since no network chooses what it masks."""
    first = bool(inputs) and inputs[0].apart
    masked = c.name == "masked_fill" and c.value == -float("inf")
    return (
        (c.name in ALWAYS and not zeros)
        or (first and (labels == CARRY or c.name in IF_FIRST or masked))
        or (c.name in IF_ONE and zeros < DIFFERENCE and any(v.apart for v in inputs))
        or (c.name in IF_ALL and all(v.apart for v in inputs))
    )


def apply(c, op):
    """The axes of the outputs of an operation."""
    from .elementwise import pointwise

    space, packet = getattr(op, "namespace", "aten"), getattr(op, "overloadpacket", None)
    function, labels = RULES.get(
        c.name if space == "aten" else f"{space}::{c.name}", (unknown, None)
    )
    if (
        function is unknown
        and packet
        and any(torch.Tag.pointwise in getattr(packet, o).tags for o in packet.overloads())
    ):
        function = pointwise
    c.renew()
    several, inputs = c.several(), list(c.values())
    if all(
        0 in s for s in (c.sizes if several else [c.sizes])
    ):  # no number of the inputs has an effect
        return [uniform(s) for s in c.sizes] if several else uniform(c.sizes)
    if labels is None:
        for v in inputs:
            c.fix(*v.references)
    given = [(v, list(v.axes)) for v in inputs]
    out = function(c)
    out = [uniform(s) if 0 in s else axes for axes, s in zip(out, c.sizes)] if several else out
    label = next((v.label for v in inputs), None) if labels == CARRY else None
    zeros = _zeros(c, inputs)
    marks = label, bool(label) or _apart(c, inputs, labels, zeros), zeros
    if any(marks) or any(v.zeros for v in inputs):
        out = [_marked(e, *marks) for e in out] if several else _marked(out, *marks)
    for axes in c.inner + (out if several else [out]):
        confine(axes, [] if c.units else [axes for _, axes in given])
    return out

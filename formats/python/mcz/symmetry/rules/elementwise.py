# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations, copies and constants."""

import torch

from ..axes import Product, elements, free
from .call import CARRY, READ, Axes, Label, anything, broadcast, rule, uniform, unknown, without

WHOLE = (
    torch.int64,
    torch.int32,
    torch.float64,
    torch.float32,
    None,
)  # types that hold any index, and the same type


@rule(
    "hardswish",
    "log_sigmoid",
    "special_expit",
    "negative",
    "multiply",
    "divide",
    "subtract",
    "absolute",
    "arctan",
    "complex",
    "polar",
    "real",
    "imag",
)  # without PyTorch's tag for elementwise operations
def pointwise(c):
    out = broadcast(c, [v.axes for v in c.values()])
    return [out] * len(c.sizes) if c.several() else out


@rule("eq", "ne", labels=READ)
def equal(c):
    """Comparing labels of one axis does not depend on its order."""
    x, y = c.self, c.other
    if (
        x.label
        and getattr(y, "label", None)
        and x.label.ends is y.label.ends is None
        and (x.label.axis.size == y.label.axis.size)
    ):
        c.unify((x.label.axis, y.label.axis))
    else:
        c.fix(*[e for v in c.values() for e in v.references])
    return pointwise(c)


@rule("floor_divide", labels=READ)
def floor_divide(c):
    """The numbers of entries of an axis A * B, divided by B, are numbers of entries of A."""
    label, out = c.self.label, pointwise(c)
    if label and label.ends is None and isinstance(c.other, int):
        lead = leading(label.axis, c.other)
        if lead is not None:
            return Axes(out, Label(lead))
    c.fix(*[e for v in c.values() for e in v.references])
    return out


def leading(axis, size):
    """The outer factors of an axis, without inner ones of this size in all; None if it has no such
    factors."""
    parts = elements(axis)
    while parts and size % parts[-1].size == 0 and size > 1:
        size //= parts.pop().size
    return Product(parts) if size == 1 else None


@rule("alias", "clone", "detach", "contiguous", "lift_fresh", "lift_fresh_copy", labels=CARRY)
def same(c):
    return next(c.values()).axes


@rule("to", "_to_copy", labels=READ)
def convert(c):
    """Labels remain labels in a type that holds them."""
    v = next(c.values())
    if v.label and (c.dtype not in WHOLE or c.other is not None):
        c.fix(*v.references)
        return list(v.axes)
    return v.axes


@rule(
    "dropout",
    "feature_dropout",
    "alpha_dropout",
    "native_dropout",
    "type_as",
    "softmax",
    "log_softmax",
    "_softmax",
    "_log_softmax",
    "_safe_softmax",
    "softmin",
    "special_softmax",
    "special_log_softmax",
)
def keep(c):
    """The sums of softmax do not depend on the order of their terms."""
    axes = list(next(c.values()).axes)
    if c.dim is not None:
        c.inner.append(without(axes, c.dim))
    return [axes] * len(c.sizes) if c.several() else axes


@rule("copy", labels=READ)
def copy(c):
    """The numbers of `src`; none of `self` remains."""
    c.fix(*c.src.references)
    return spread(c.src.axes, c.sizes)


def spread(axes, sizes):
    """Axes broadcast to these sizes: entries along new axes are equal."""
    axes = [*uniform([1] * (len(sizes) - len(axes))), *axes]
    for k, n in enumerate(sizes):
        if axes[k].size != n:
            axes[k] = anything(n, axes[:k] + axes[k + 1 :])
    return axes


# ---- constants: uniform only if the operation itself writes one number everywhere ----------------


@rule(
    "zeros",
    "ones",
    "full",
    "zeros_like",
    "ones_like",
    "full_like",
    "new_zeros",
    "new_ones",
    "new_full",
    "fill",
    "zero",
    "empty",
    "empty_like",
    "new_empty",
    "empty_strided",
    "new_empty_strided",
    "empty_permuted",
    labels=READ,
)
def constant(c):
    """A network writes to empty memory before it reads it."""
    return uniform(c.sizes)


@rule("eye")
def eye(c):
    """The identity is equal to itself with rows and columns in another order."""
    if c.sizes[0] != c.sizes[1]:
        return unknown(c)
    e = anything(c.sizes[0], [])
    return [e, e]


@rule("arange")
def arange(c):
    """0, 1, 2, ... name the places on the axis itself, in any order."""
    if (c.start or 0) != 0 or (1 if c.step is None else c.step) != 1 or c.dtype not in WHOLE:
        return unknown(c)
    e = anything(c.sizes[0], [])
    return Axes([e], Label(e, distinct=e))


@rule("tril", "triu")
def triangle(c):
    """Each entry is kept or cleared by its row and column; all matrices of a batch are treated
    alike."""
    c.fix(*c.self.axes[-2:])
    return c.self.axes


@rule("one_hot", labels=READ)
def one_hot(c):
    """A vector per number: it moves as the places do that the numbers name."""
    label, n = c.self.label, c.sizes[-1]
    if label and label.ends is None and label.axis.size == n:
        return [*c.self.axes, label.axis]
    c.fix(*c.self.references)
    return [*c.self.axes, *c.fixed([n])]


@rule("meshgrid")
def meshgrid(c):
    """Each output repeats one of the vectors along the axes of the others."""
    axes = [v.axes[0] if v.axes else free(1) for v in c.tensors]
    if c.indexing == "xy":
        axes[:2] = axes[1::-1]
    return [list(axes) for _ in c.sizes]

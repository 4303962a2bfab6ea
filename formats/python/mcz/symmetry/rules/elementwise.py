# SPDX-License-Identifier: Apache-2.0
"""Operations on each entry by itself: y[i] = f(x[i], ...)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..axes import Axis, Product, elements
from .helpers import broadcast, spread, strip, without
from .operation import CARRY, READ, Axes, Label, Operation, Result, Value, rule

# types that hold any index; None: the same type
WHOLE = torch.int64, torch.int32, torch.float64, torch.float32, None


@rule(  # those without PyTorch's tag for elementwise operations
    "hardswish log_sigmoid special_expit negative multiply divide subtract absolute arctan complex "
    "polar real imag"
)
def pointwise(op: Operation) -> Result:
    """y[i] = f(a[i], b[i], ...): one order for all, so P f(a, b) = f(P a, P b)."""
    return op.each(broadcast(op, [v.axes for v in op.tensors]))


@rule("eq ne", labels=READ)
def equal(op: Operation, self: Value, other: Any = None) -> Result:
    """y[i] = (a[i] == b[i]). If a and b name units of one axis, both are renamed alike when it is
    permuted, and y is unchanged."""
    x, y = self.label, other.label if isinstance(other, Value) else None
    if x and y and x.ends is None and y.ends is None and x.axis.size == y.axis.size:
        op.unify((x.axis, y.axis))
    else:
        strip(op, *op.tensors)
    return pointwise(op)


@rule("floor_divide", labels=READ)
def floor_divide(op: Operation, self: Value, other: Any = None) -> Result:
    """y[i] = a[i] // b. If a has numbers of entries of an axis A * B, where B has b entries, then y
    has numbers of entries of A."""
    label, out = self.label, broadcast(op, [v.axes for v in op.tensors])
    if label and label.ends is None and isinstance(other, int):
        lead = leading(label.axis, other)
        if lead is not None:
            return Axes(out, Label(lead))
    strip(op, *op.tensors)
    return out


def leading(axis: Axis, size: int) -> Axis | None:
    """The outer factors of an axis, without inner ones of this size in all; None if it has no such
    factors."""
    parts = elements(axis)
    while parts and size % parts[-1].size == 0 and size > 1:
        size //= parts.pop().size
    return Product(parts) if size == 1 else None


@rule("alias clone detach contiguous lift_fresh lift_fresh_copy", labels=CARRY, kind="same")
def same(op: Operation) -> Result:
    """y = x."""
    return op.tensors[0].axes


@rule("to _to_copy", labels=READ, kind="same")
def convert(op: Operation, dtype: torch.dtype | None = None, other: Value | None = None) -> Result:
    """y = x in another type. Numbers of units remain such if the type holds them."""
    v = op.tensors[0]
    if v.label and (dtype not in WHOLE or other is not None):
        op.fix(*v.references)
        return list(v.axes)
    return v.axes


@rule("dropout feature_dropout alpha_dropout type_as", kind="same")
@rule(
    "native_dropout softmax log_softmax _softmax _log_softmax _safe_softmax softmin "
    "special_softmax special_log_softmax"
)
def softmax(op: Operation, dim: int | None = None) -> Result:
    """y[i] = f(x[i], sum over j of g(x[j])) along `dim`, such as softmax: the sum does not depend
    on the order of its terms. Without `dim`, as dropout in evaluation, y = x."""
    axes = list(op.tensors[0].axes)
    if dim is not None:
        op.inner.append(without(axes, dim))
    return op.each(axes)


@rule("copy", labels=READ)
def copy(op: Operation, src: Value) -> Result:
    """y = src, broadcast; nothing of `self` remains."""
    op.fix(*src.references)
    return spread(src.axes, op.sizes)


@rule("expand broadcast_to", labels=CARRY, kind="repeat")
@rule("expand_as", labels=CARRY)  # which reads the sizes of another tensor
def expand(op: Operation, self: Value) -> Result:
    """y[j, i] = x[i]: entries along a new axis j are equal, so that any order of it is right."""
    return spread(self.axes, op.sizes)


@rule("tril triu")
def triangle(op: Operation, self: Value) -> Result:
    """y[i, j] = x[i, j] if i >= j, else 0: rows and columns keep their order. All matrices of a
    batch are treated alike."""
    op.fix(*self.axes[-2:])
    return self.axes


@rule("view_as_real view_as_complex", kind="pair")
def as_real(op: Operation, self: Value) -> Result:
    """Complex numbers to pairs on a new last axis, and back: real and imaginary parts keep their
    places."""
    if op.name == "view_as_real":
        return [*self.axes, *op.fixed([2])]
    op.fix(self.axes[-1])
    return self.axes[:-1]


def numbers_of(axes: Sequence[Axis], label: Label | None) -> Result:
    """Axes of numbers picked from a tensor: they refer to the axis that the tensor's numbers refer
    to."""
    return Axes(axes, Label(label.axis)) if label else axes

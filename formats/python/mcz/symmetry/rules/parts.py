# SPDX-License-Identifier: Apache-2.0
"""Operations that cut axes, or write to a part of one."""

from __future__ import annotations

from collections.abc import Sequence

from ..axes import EMPTY, ONE, Axis, at, atoms, fixed
from ..orders import cut, unrolled
from .helpers import broadcast, position, unknown
from .operation import Operation, Result, Value, rule

PICKED = 4096  # maximum size of an axis of which one entry is selected without fixing it as a whole


def pick(op: Operation, axes: Sequence[Axis], k: int, i: int) -> list[Axis]:
    """The axes after selecting entry i of axis k, without that axis."""
    rest = [*axes[:k], *axes[k + 1 :]]
    if axes[k].size == 1:
        return rest
    if axes[k].size > PICKED:
        op.fix(axes[k])
        return rest
    for p, j in unrolled(axes[k], op.reason)[i]:
        rest = [at(e, p, j) for e in rest]
    return rest


def part(
    op: Operation, axes: Sequence[Axis], k: int, first: int, end: int, step: int = 1
) -> list[Axis]:
    """The axes after x[first:end:step] on axis k."""
    size, axes = axes[k].size, list(axes)
    first, end = (min(max(v + size if v < 0 else v, 0), size) for v in (first, end))
    length = max(0, -(-(end - first) // step))
    if not length:
        return [*axes[:k], EMPTY, *axes[k + 1 :]]
    if first == 0 and length == size:
        return axes
    cheap = all(not a.fixed or a.unrolled or a.dependents for a in atoms(axes[k]))
    if length == 1 and size <= PICKED and cheap:
        rest = pick(op, axes, k, first)
        return [*rest[:k], ONE, *rest[k:]]
    if step != 1:
        op.fix(axes[k])
        return [*axes[:k], fixed(length, op.reason), *axes[k + 1 :]]
    pieces = cut(axes[k], first, op.reason)
    pieces = pieces and cut(pieces[1], length, op.reason)
    if pieces is None:
        op.fix(axes[k])
        return [*axes[:k], fixed(length, op.reason), *axes[k + 1 :]]
    return [*axes[:k], pieces[0], *axes[k + 1 :]]


@rule("select", kind="cut")
def select(op: Operation, self: Value, dim: int, index: int) -> Result:
    """y = x[i]: the network distinguishes entry i, so the axis keeps its order. Axes that vary with
    it have the order of unit i."""
    k = position(dim, self.axes)
    return pick(op, self.axes, k, position(index, range(self.axes[k].size)))


@rule("slice narrow", kind="cut")
def slice_(
    op: Operation,
    self: Value,
    dim: int = 0,
    start: int | Value = 0,
    end: int | None = None,
    step: int = 1,
    length: int | None = None,
) -> Result:
    """y = x[a:b:s]: the parts before a, from a to b, and after b have independent orders."""
    k = position(dim, self.axes)
    size = self.axes[k].size
    if not isinstance(start, int):
        return unknown(op)
    if op.name == "narrow" and size and length is not None:
        end = start % size + length
    return part(op, self.axes, k, start, size if end is None else end, step)


@rule("split split_with_sizes chunk tensor_split unsafe_split unsafe_chunk", kind="cut")
def split(op: Operation, self: Value, dim: int = 0) -> Result:
    """x = (y_1, y_2, ...): parts of an axis, with independent orders."""
    k, start, out = position(dim, self.axes), 0, []
    for sizes in op.outputs:
        out.append(part(op, self.axes, k, start, start + sizes[k]))
        start += sizes[k]
    return out


@rule("unbind", kind="cut")
def unbind(op: Operation, self: Value, dim: int = 0) -> Result:
    """y_i = x[i] for all entries of an axis."""
    k = position(dim, self.axes)
    return [pick(op, self.axes, k, i) for i in range(len(op.outputs))]


@rule("glu")
def glu(op: Operation, self: Value, dim: int = -1) -> Result:
    """y[i] = x[i] sigmoid(x[n + i]): both halves of an axis have one order."""
    k = position(dim, self.axes)
    half = self.axes[k].size // 2
    return broadcast(op, [part(op, self.axes, k, i * half, (i + 1) * half) for i in range(2)])


@rule("slice_scatter")
def slice_scatter(
    op: Operation,
    self: Value,
    src: Value,
    dim: int = 0,
    start: int = 0,
    end: int | None = None,
    step: int = 1,
) -> Result:
    """y = x with y[a:b:s] = src, whose axes are those of that part of x."""
    k = position(dim, self.axes)
    if src.axes[k].size:
        last = self.axes[k].size if end is None else end
        broadcast(op, [part(op, self.axes, k, start, last, step), src.axes])
    return self.axes


@rule("select_scatter")
def select_scatter(op: Operation, self: Value, src: Value, dim: int, index: int) -> Result:
    """y = x with y[i] = src, whose axes are those of x[i]."""
    k = position(dim, self.axes)
    broadcast(op, [pick(op, self.axes, k, index % self.axes[k].size), src.axes])
    return self.axes

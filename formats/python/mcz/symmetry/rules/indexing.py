# SPDX-License-Identifier: Apache-2.0
"""Operations that read or write entries by number.

Numbers that refer to an axis are labels (Label): if units of the axis move, so do the numbers.
Numbers without a label are the same in every network of these groups, so that the axis that they
index is fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..axes import ONE, Axis, find, normal
from ..orders import fix
from .elementwise import numbers_of
from .helpers import broadcast, position, strip, unknown, without
from .operation import READ, Axes, Label, Operation, Result, Value, rule
from .sorting import is_distinct


def refer(op: Operation, numbers: Value, axis: Axis, reason: str | None = None) -> bool:
    """Requires that numbers refer to an axis. True if they are labels; else the axis is fixed."""
    label = numbers.label
    if label and label.ends is None and label.axis.size == axis.size:
        op.unify((label.axis, axis))
        return True
    fix(axis, reason or op.reason)
    op.fix(*numbers.references)
    return False


def assigns_units(numbers: Value) -> bool:
    """True if numbers assign the entries of a data atom to their units."""
    return numbers.label is not None and numbers.label.data is not None


@rule("embedding", labels=READ)
def embedding(op: Operation, weight: Value, indices: Value) -> Result:
    """y[n, c] = W[x[n], c]: rows by number. Numbers of units name the rows, which move with their
    axis; other numbers are a vocabulary."""
    op.units = refer(op, indices, weight.axes[0], "vocabulary") and assigns_units(indices)
    return [*indices.axes, *weight.axes[1:]]


@rule("_grouped_mm", labels=READ)
def grouped_mm(
    op: Operation, self: Value, mat2: Value, offs: Value | None = None, bias: Value | None = None
) -> Result:
    """y[n, o] = sum over i of x[n, i] W[e(n), i, o]: each row n of x, sorted by unit e, times the
    matrix of its unit. `offs` are the ends of the units' rows."""
    return _grouped_product(op, self, mat2, offs if bias is None else None)


@rule("transformers::grouped_mm_fallback", labels=READ)
def grouped_mm_fallback(
    op: Operation, input: Value, weight: Value, offs: Value | None = None
) -> Result:
    """As _grouped_mm."""
    return _grouped_product(op, input, weight, offs)


def _grouped_product(op: Operation, x: Value, w: Value, ends: Value | None) -> Result:
    label, rows = ends.label if ends else None, normal(x.axes[0])
    is_sorted = label is not None and label.ends is not None and find(label.ends) is rows
    if label is None or not is_sorted or len(x.axes) != 2 or len(w.axes) != 3:
        strip(op, *op.tensors)
        return unknown(op)
    op.observe(x)
    op.read.append((w, 1))
    op.unify((label.axis, w.axes[0]), (x.axes[1], w.axes[1]))
    op.units = True
    return [x.axes[0], w.axes[2]]


@rule("index _unsafe_index", labels=READ, kind="pick")
def index(op: Operation, self: Value, indices: Sequence[Value | None]) -> Result:
    """y[n, j] = x[k[n], j]: entries by their numbers on some axes. The axes n of the numbers come
    first, unless the indexed axes are neighbours."""
    out: list[Axis] = []
    places = []
    for k, e in enumerate(self.axes):
        i = indices[k] if k < len(indices) else None
        if i is None:
            out.append(e)
        else:
            op.units |= refer(op, i, e) and assigns_units(i)
            places.append((k, len(out)))
    new = broadcast(op, [i.axes for i in indices if i is not None])
    if len(new) + len(out) != len(op.sizes):  # a mask of several axes
        strip(op, self)
        return unknown(op)
    indexed = [k for k, _ in places]
    together = not places or indexed == list(range(indexed[0], indexed[-1] + 1))
    first = places[0][1] if places and together else 0
    return numbers_of([*out[:first], *new, *out[first:]], self.label)


@rule("index_select", labels=READ, kind="pick")
def index_select(op: Operation, self: Value, dim: int, index: Value) -> Result:
    """y[n] = x[k[n]] on one axis."""
    axes, k = list(self.axes), position(dim, self.axes)
    op.units = refer(op, index, axes[k]) and assigns_units(index)
    axes[k] = index.axes[0] if index.axes else ONE
    return numbers_of(axes, self.label)


def prefix(op: Operation, x: Sequence[Axis], y: Sequence[Axis], k: int | None) -> None:
    """Requires that y is the start of x on all axes except k: the whole axis, or fixed entries."""
    for d, (e, f) in enumerate(zip(x, y)):
        if d != k and e.size == f.size:
            op.unify((e, f))
        elif d != k:
            op.fix(e, f)


@rule("gather", labels=READ)
def gather(op: Operation, self: Value, dim: int, index: Value) -> Result:
    """y[n, j] = x[k[n, j], j]: entries by their numbers on one axis, for each place on the
    others."""
    k, numbers = position(dim, self.axes), list(index.axes)
    prefix(op, self.axes, numbers, k)
    op.inner.append(without(self.axes, k))
    op.units = refer(op, index, self.axes[k]) and assigns_units(index)
    return numbers_of(numbers, self.label)


@rule("scatter scatter_add scatter_reduce", labels=READ)
def scatter(
    op: Operation,
    self: Value,
    dim: int,
    index: Value,
    src: Any = None,
    value: Any = None,
    reduce: str | None = None,
) -> Result:
    """y = x with y[k[n, j], j] = or += s[n, j]: writes entries by their numbers on one axis. If a
    place is written twice without a sum, the order of the entries counts."""
    k, numbers = position(dim, self.axes), index.axes
    src = value if src is None else src
    strip(op, self, src)
    prefix(op, self.axes, numbers, k)
    op.inner.append(without(self.axes, k))
    refer(op, index, self.axes[k])
    if isinstance(src, Value) and src.axes:
        prefix(op, src.axes, numbers, None)
        last_wins = op.name == "scatter" and reduce is None
        if last_wins and not is_distinct(index.label, numbers[k]):
            op.fix(numbers[k])
    return list(self.axes)


@rule("index_add index_copy index_fill index_reduce", labels=READ)
def index_add(
    op: Operation,
    self: Value,
    dim: int,
    index: Value,
    source: Value | None = None,
    value: Any = None,
) -> Result:
    """y = x with y[k[n], j] = or += s[n, j]: writes slices by their numbers on one axis."""
    k, axes = position(dim, self.axes), list(self.axes)
    strip(op, self, source, value)
    refer(op, index, axes[k])
    op.inner.append(without(axes, k))
    numbers = index.axes[0] if index.axes else ONE
    if source is not None and source.axes:
        others = [(e, f) for d, (e, f) in enumerate(zip(axes, source.axes)) if d != k]
        op.unify((numbers, source.axes[k]), *others)
        if op.name == "index_copy" and not is_distinct(index.label, numbers):
            op.fix(numbers)
    return axes


@rule("index_put _unsafe_index_put", labels=READ)
def index_put(
    op: Operation,
    self: Value,
    indices: Sequence[Value | None],
    values: Value,
    accumulate: bool = False,
) -> Result:
    """y = x with y[k[n], j] = or += v[n, j]: writes entries by their numbers on some axes. If each
    place of an axis is written once, the numbers are an order of entries, and the result has the
    inverse order."""
    axes, given = list(self.axes), [(k, i) for k, i in enumerate(indices) if i is not None]
    (k, numbers), *others = given
    strip(op, self)
    if others or not numbers.label or len(numbers.axes) != 1:  # such as masks
        strip(op, values, *(i for _, i in others))
        return unknown(op)
    own = numbers.axes[0]
    known, once = refer(op, numbers, axes[k]), is_distinct(numbers.label, own)
    whole = known and once and not accumulate and own.size == axes[k].size
    if not whole:
        strip(op, values)
    if values.axes and not accumulate and not once:
        op.fix(own)
    broadcast(op, [[*axes[:k], own, *axes[k + 1 :]], values.axes])
    op.inner.append(without(axes, k))
    return Axes(axes, Label(values.label.axis)) if values.label and whole else axes

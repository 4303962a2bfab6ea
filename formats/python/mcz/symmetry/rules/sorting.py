# SPDX-License-Identifier: Apache-2.0
"""Operations that order numbers, or count them. Their results name places (Label)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..axes import ONE, Atom, Axis, atoms, find, fixed, free, normal, vary
from .helpers import places_of, position, strip
from .operation import READ, Axes, Label, Operation, Result, Value, rule


def is_distinct(label: Label | None, axis: Axis) -> bool:
    """True if no number with this label occurs twice along an axis."""
    found = label.distinct if label else None
    return found is not None and find(found) is normal(axis)


def data_axis(size: int, rows: Sequence[Axis], needs: Iterable[Axis], labels: Axis) -> Axis:
    """A new data atom whose entries are in units of the axis `labels`. If its order depends on the
    axes `needs`, it varies with rows. ONE if it has one entry."""
    new, needs = free(size), list(needs)
    if isinstance(new, Atom) and size > 1:
        new.data, new.within = (*needs, ONE), [(labels, list(rows))]
        for a in dict.fromkeys(a for e in rows for a in atoms(e)) if needs else ():
            vary(new, a)
    return new


@rule("topk")
def topk(op: Operation, self: Value, dim: int = -1, sorted: bool = True) -> Result:
    """y[k] = the k-th largest of x[i] over i, in the order of size or in any order, and its place:
    y does not depend on the order of i, and the places name entries of i."""
    axes, k = list(self.axes), position(dim, self.axes)
    rest, own = axes[:k] + axes[k + 1 :], axes[k]
    largest = data_axis(op.outputs[0][k], rest, [] if sorted else [own], own)
    out = [*axes[:k], largest, *axes[k + 1 :]]
    return [out, places_of(op, self, out, [own], op.used(1), data=largest, distinct=largest)]


@rule("sort argsort msort", labels=READ)
def sort(op: Operation, self: Value, dim: int | None = None, descending: bool = False) -> Result:
    """y[k] = the k-th smallest of x[i] over i, and its place. Sorted numbers of units are in an
    order that depends on that of their axis; sorted other numbers are in a fixed one."""
    axes, label = list(self.axes), self.label
    default = 0 if op.name == "msort" else -1
    k = position(default if dim is None else dim, axes)
    rest, own = axes[:k] + axes[k + 1 :], axes[k]
    if label and is_distinct(label, own) and label.axis.size == own.size and not descending:
        axes[k] = label.axis  # the numbers of all units, in order
        values = Axes(axes, Label(label.axis))
        places = Axes(axes, Label(own, distinct=normal(label.axis)))
    elif label and label.ends is None:
        axes[k] = new = data_axis(own.size, rest, [label.axis, own], label.axis)
        values = Axes(axes, Label(label.axis, data=new, ordered=not descending))
        places = Axes(axes, Label(own, distinct=new))
    else:
        strip(op, self)
        axes[k] = new = fixed(own.size, "sort")
        used = op.name == "argsort" or (op.name == "sort" and op.used(1))
        values = Axes(axes)
        places = places_of(op, self, axes, [own], used, distinct=new)
    if op.name == "sort":
        return [values, places]
    return places if op.name == "argsort" else values


@rule("histc bincount", labels=READ)
def count(
    op: Operation,
    self: Value,
    weights: Value | None = None,
    min: float = 0,
    max: float | None = None,
) -> Result:
    """y[k] = the number of i with x[i] = k: if x names units, y has their order. histc has bins of
    width (max - min) / bins; bin i has number i if min is 0 and max is bins - 1."""
    n, label = op.sizes[0], self.label
    right = (op.name == "bincount" and weights is None) or (min == 0 and max == n - 1)
    if label and label.ends is None and right and label.axis.size == n:
        return Axes([label.axis], counts=label.data if label.ordered else None)
    strip(op, self, weights)
    op.fix(*self.axes)
    return op.fixed(op.sizes)

# SPDX-License-Identifier: Apache-2.0
"""Axes that many rules return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..axes import Atom, Axis, Product, atoms, free, vary
from .operation import Axes, Label, Operation, Result, Value


def anything(size: int, axes: Iterable[Axis]) -> Axis:
    """A new axis along which all entries are equal, in a tensor with these other axes."""
    new = free(size)
    if isinstance(new, Atom) and size > 1:
        new.loose = True
        for a in dict.fromkeys(a for e in axes for a in atoms(e)):
            vary(new, a)
    return new


def uniform(sizes: Iterable[int]) -> list[Axis]:
    """The axes of a tensor of equal numbers."""
    axes: list[Axis] = []
    for n in sizes:
        axes.append(anything(n, axes))
    return axes


def position(dim: int, axes: Sequence[Any]) -> int:
    """The number of an axis from 0; `dim` may count from the end."""
    return dim + len(axes) if dim < 0 else dim


def without(axes: Sequence[Axis], dim: int) -> list[Axis]:
    """The axes of sums over one axis."""
    k = position(dim, axes)
    return [*axes[:k], *axes[k + 1 :]]


def positions(dim: int | Sequence[int] | None, axes: Sequence[Axis]) -> list[int]:
    """The numbers of the axes in an argument `dim`: all of them if it is missing or empty."""
    if dim is None or dim == []:
        return list(range(len(axes)))
    return [position(k, axes) for k in ([dim] if isinstance(dim, int) else dim)]


def broadcast(
    op: Operation, tensors: Iterable[Sequence[Axis]], *pairs: tuple[Axis, Axis]
) -> list[Axis]:
    """The axes of an elementwise operation on tensors with these axes. Unifies further pairs of
    axes with them."""
    tensors = list(tensors)
    out: list[Axis] = []
    found = list(pairs)
    for k in range(max(map(len, tensors), default=0)):
        own = [t[-1 - k] for t in tensors if k < len(t)]
        longest = max(own, key=lambda e: e.size)
        found += [(longest, e) for e in own if e is not longest and e.size > 1]
        out.insert(0, longest)
    op.unify(*found)
    return out


def spread(axes: Sequence[Axis], sizes: Sequence[int]) -> list[Axis]:
    """Axes broadcast to these sizes: entries along new axes are equal."""
    out = [*uniform([1] * (len(sizes) - len(axes))), *axes]
    for k, n in enumerate(sizes):
        if out[k].size != n:
            out[k] = anything(n, out[:k] + out[k + 1 :])
    return out


def unknown(op: Operation) -> Result:
    """The outputs of an operation of which nothing is known: all axes are fixed."""
    for v in op.tensors:
        op.fix(*v.axes)
    return [op.fixed(s) for s in op.outputs] if op.several else op.fixed(op.sizes)


def blocks(n: int, size: int) -> tuple[Axis, Axis]:
    """(n blocks, the entries of a block): new axes. The order in a block may vary with the
    block."""
    outer, inner = free(n), free(size)
    for a in atoms(inner):
        for b in atoms(outer):
            vary(a, b)
    return outer, inner


def places_of(
    op: Operation,
    numbers: Value,
    axes: Iterable[Axis],
    reduced: Sequence[Axis],
    used: bool,
    data: Axis | None = None,
    distinct: Axis | None = None,
) -> Axes:
    """The axes of numbers of places on the axes `reduced` of a tensor. Which of several equal
    numbers is taken depends on their order, so the axes are fixed unless no two numbers are equal.
    used: whether the network reads the places."""
    if used and (not numbers.axes.apart or any(a.loose for e in reduced for a in atoms(e))):
        op.fix(*reduced)
    return Axes(axes, Label(Product(reduced), data=data, distinct=distinct))


def strip(op: Operation, *values: Any) -> None:
    """Fixes the axes to which numbers refer that an operation reads as numbers."""
    op.fix(*[e for v in values if isinstance(v, Value) for e in v.references])


def as_list(v: Value | Sequence[Value]) -> list[Value]:
    """An argument that is a tensor or a list of tensors, as a list."""
    return [v] if isinstance(v, Value) else list(v)

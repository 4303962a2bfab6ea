# SPDX-License-Identifier: Apache-2.0
"""The axes of a tensor together: reshape them, and tie orders that a tensor cannot have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import prod

from .axes import ONE, Atom, Axis, Product, Sum, atoms, elements, fixed, outer, vary
from .orders import UNROLLED, fix, split, tie, unify, unroll


def confine(axes: Iterable[Axis], inputs: Iterable[Sequence[Axis]] = ()) -> None:
    """Ties each atom of a tensor that varies with an atom that the tensor lacks or has on two other
    axes: a product of heads i and j has neither the order of i nor that of j. inputs: the axes of
    the tensors that it was computed from, unless the operation itself takes each entry of a data
    atom from its unit."""
    while True:
        sets = [dict.fromkeys(atoms(e)) for e in axes]
        own = Counter(a for s in sets for a in s)
        missing = [
            (a, p)
            for s in sets
            for a in s
            for p in outer(a)
            if own[p] != 1 and p not in s and not _known(a, p, own, inputs)
        ]
        if not missing:
            return
        for a, p in missing:
            tie(a, p)


def _known(a: Atom, p: Atom, own: Collection[Atom], inputs: Iterable[Sequence[Axis]]) -> bool:
    """True if a data atom of a tensor with the atoms `own` shows the units of p in which a has its
    orders, as it did in the inputs."""
    for y in own:
        for e, rows in y.within:
            if (
                p in set(atoms(e))
                and all(x in own for r in rows for x in atoms(r))
                and all(
                    y in found
                    for found in ({x for f in v for x in atoms(f)} for v in inputs)
                    if a in found
                )
            ):
                return True
    return False


def regroup(axes: Sequence[Axis], sizes: Sequence[int], reason: str) -> list[Axis]:
    """The axes after a reshape from `axes` to these sizes."""
    if prod(sizes) != prod(e.size for e in axes):  # other numbers: a view as another type
        for e in axes:
            fix(e, reason)
        return [fixed(n, reason) for n in sizes]
    rest = [p for e in axes for p in elements(e)]
    out: list[Axis] = []
    for size in sizes:
        own, need = [], size
        while need > 1:
            first = rest[0] if rest else ONE
            if first.size > need and first.size % need == 0:
                rest[:1] = _factor(first, need) or rest[:1]
                first = rest[0]
            if first.size == 1 or need % first.size:
                for e in axes:
                    fix(e, reason)
                return [fixed(n, reason) for n in sizes]
            own.append(rest.pop(0))
            need //= first.size
        out.append(Product(own))
    return out


def _factor(e: Axis, size: int) -> tuple[Axis, Axis] | None:
    """The factors of an atom or Sum of which the first has this size, or None."""
    if isinstance(e, Atom):
        return split(e, size)
    parts = e.parts
    if len(parts) % size == 0 and all(p.size == parts[0].size for p in parts) and size <= UNROLLED:
        n = len(parts) // size  # one unit: n segments
        units = [Sum(parts[i * n : (i + 1) * n]) for i in range(size)]
        reason = "its units are different segments"
        first, rest = Atom(size, reason), Atom(units[0].size)
        vary(rest, first)
        unroll(first, reason)
        for c, u in zip(rest.cases[first], units):
            unify(c, u)
        return first, rest
    return None

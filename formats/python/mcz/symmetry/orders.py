# SPDX-License-Identifier: Apache-2.0
"""Orders of axes: require that they are equal (unify), fix them, cut and unroll axes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from .axes import (
    EMPTY,
    ONE,
    Atom,
    Axis,
    Product,
    Sum,
    at,
    atoms,
    find,
    fixed,
    like,
    normal,
    outer,
    terms,
    vary,
)

UNROLLED = 128  # maximum size of an atom to unroll
DATA = "its order depends on data"


def fix(e: Axis, reason: str) -> None:
    """Fixes the order of an axis, for this reason."""
    for a in list(atoms(e)):
        if not a.fixed:
            a.fixed, a.loose = reason, False
            for cases in a.cases.values():
                for c in cases:
                    fix(c, reason)
            release(a)


def release(a: Atom) -> None:
    """Makes a data atom, which is now fixed, an atom like others."""
    units, axes, a.within, a.data = a.within, a.data, [], ()
    for e in axes:
        fix(e, DATA)
    for p in [p for e, _ in units for p in atoms(e)]:
        for d in list(p.dependents):
            tie(d, p)


def tie(a: Axis, p: Atom) -> None:
    """Requires one order of a for all units of p."""
    a = find(a)
    if not isinstance(a, Atom):
        for b in list(atoms(a)):
            tie(b, p)
        return
    if a.data and p in a.varies:
        fix(a, DATA)
    a.varies.pop(p, None)
    p.dependents.pop(a, None)
    for q, cases in list(a.cases.items()):
        for i, c in enumerate(cases if q is not p else ()):
            tie(c, cast(Atom, at(p, q, i)))
    for c in a.cases.pop(p, ()):
        unify(a, c)


def unroll(p: Atom, reason: str) -> None:
    """Fixes p and lets each atom that varies with it have its own order in each unit."""
    if p.unrolled:
        return
    fix(p, reason)
    for a in list(p.dependents):
        if p not in a.varies or a.value is not None:
            continue
        if a.cases or p.size > UNROLLED:
            tie(a, p)
            continue
        a.varies.pop(p, None)
        a.cases[p] = [like(a, a.size) for _ in range(p.size)]
    for a in list(p.dependents):
        for i, c in enumerate(a.cases.get(p, ())):
            for q in [q for q in c.varies if p in q.cases]:
                c.varies.pop(q, None)
                q.dependents.pop(c, None)
                vary(c, q.cases[p][i])
    p.unrolled = True


def unroll_all(e: Axis, reason: str) -> None:
    """Unrolls all atoms of an axis."""
    for x in list(atoms(e)):
        unroll(x, reason)


def unify(e: Axis, f: Axis, reason: str = "its axis is cut") -> None:
    """Requires that the entries of two axes of equal size have the same order. If their structures
    are incompatible, both are fixed for this reason."""
    e, f = normal(e), normal(f)
    if e is f or e.size == f.size < 2:
        return
    if e.size != f.size:
        raise ValueError(f"axes of sizes {e.size} and {f.size}")
    if isinstance(e, Atom) and isinstance(f, Atom):
        _merge(e, f)
    elif isinstance(e, Atom):
        _assign(e, f)
    elif isinstance(f, Atom):
        _assign(f, e)
    elif (
        isinstance(e, Product)
        and isinstance(f, Product)
        and (
            e.parts[0].size == f.parts[0].size
            or (isinstance(e.parts[0], Atom) and isinstance(f.parts[0], Atom))
        )
    ):
        _unify_products(e, f, reason)
    else:
        _unify_sums(terms(e), terms(f), reason)


def _merge(a: Atom, b: Atom) -> None:
    """Lets a replace b."""
    if a is b:
        return
    if (a.data and not b.loose) or (b.data and not a.loose):
        fix(a, DATA)
        fix(b, DATA)
    for x, y in ((a, b), (b, a)):
        if y in outer(x):
            tie(x, y)
    e, f = find(a), find(b)
    if e is f or not (isinstance(e, Atom) and isinstance(f, Atom)):
        unify(e, f)
        return
    a, b = e, f
    if a.loose and not b.loose:
        a, b = b, a
    if a.unrolled or b.unrolled:
        for x, y in ((a, b), (b, a)):
            if y.fixed:
                unroll(x, y.fixed)
    for x, y in ((a, b), (b, a)):
        for p in [p for p in outer(x) if p not in outer(y) and not (y is b and _follows(b, p))]:
            tie(x, p)
    e, f = find(a), find(b)
    if e is f or not (isinstance(e, Atom) and isinstance(f, Atom)):
        unify(e, f)
        return
    _replace(e, f)


def _replace(a: Atom, b: Atom) -> None:
    """Lets a replace b, which has the same outer atoms."""
    reason = a.fixed or b.fixed
    if reason:
        fix(a, reason)
        fix(b, reason)
    b.value = a
    for p in list(b.varies):
        p.dependents.pop(b, None)
    pairs = [(x, y) for p in b.cases for x, y in zip(a.cases.get(p, []), b.cases[p])]
    for d in list(b.dependents):
        a.dependents[d] = None
        if b in d.varies:
            d.varies.pop(b, None)
            d.varies[a] = None
        if b in d.cases:
            own = d.cases.pop(b)
            pairs += zip(d.cases.setdefault(a, own), own)
    for x, y in pairs:
        unify(x, y)


def _follows(a: Atom, p: Atom) -> bool:
    """True if a may have the order of an atom that varies with p: if it is loose, and p does not
    vary with it in turn."""
    return a.loose and p is not a and all(_follows(a, q) for q in outer(p))


def _assign(a: Atom, e: Axis) -> None:
    """Replaces atom a by the expression e."""
    inner = list(atoms(e))
    for x in [x for x in inner if x.data and not a.loose] + [a] * bool(a.data):
        fix(x, DATA)
    for x in inner:
        x.loose = x.loose and a.loose
    if a.fixed:
        fix(e, a.fixed)
    for x in inner:
        for p in list(outer(x)):
            if p not in a.varies and p not in a.cases and p not in inner and not _follows(a, p):
                tie(x, p)
    e = normal(e)
    inner = list(atoms(e))
    if (isinstance(find(a), Atom) and find(a) is not a) or a.value is not None:
        unify(a, e)
        return
    if a.unrolled and a.fixed:
        unroll_all(e, a.fixed)
    ordered = isinstance(e, Product) and all(isinstance(p, Atom) for p in e.parts)
    for d in list(a.dependents):
        if a in d.varies and ordered:
            d.varies.pop(a, None)
            for x in inner:
                vary(d, x)
        elif a in outer(d):
            tie(d, a)
    if a.value is not None or any(x is a for x in atoms(e)):
        unify(a, e)
        return
    a.value = e
    for p in a.varies:
        p.dependents.pop(a, None)
    for p, cases in a.cases.items():
        for i, c in enumerate(cases):
            unify(c, at(e, p, i))


def _unify_products(e: Product, f: Product, reason: str) -> None:
    """Unifies the first factors, then the rest."""
    x, y = e.parts[0], f.parts[0]
    if x.size < y.size:
        e, f, x, y = f, e, y, x
    if x.size == y.size:
        unify(x, y, reason)
    elif not isinstance(x, Atom) or x.size % y.size or split(x, y.size) is None:
        fix(e, reason)
        fix(f, reason)
        return
    else:
        unify(e, f, reason)
        return
    unify(Product(e.parts[1:]), Product(f.parts[1:]), reason)


def _unify_sums(left: Iterable[Axis], right: Iterable[Axis], reason: str) -> None:
    """Unifies segment by segment, and cuts the longer one."""
    left, right = list(left), list(right)
    while left and right:
        a, b = left[0], right[0]
        if a.size == b.size:
            unify(left.pop(0), right.pop(0), reason)
            continue
        longer, size = (left, b.size) if a.size > b.size else (right, a.size)
        pieces = cut(longer[0], size, reason)
        if pieces is None:
            for x in left + right:
                fix(x, reason)
            return
        longer[:1] = pieces


def split(a: Atom, size: int) -> tuple[Atom, Atom] | None:
    """Cuts an atom into a product of an atom of this size and a rest, which varies with it. Returns
    them, or None."""
    if a.size % size or a.unrolled:
        return None
    if a.data:
        fix(a, DATA)
    first, rest = like(a, size), like(a, a.size // size)
    vary(rest, first)
    for p in rest.cases:
        for c, d in zip(rest.cases[p], first.cases[p]):
            vary(c, d)
    _assign(a, Product([first, rest]))
    return first, rest


def cut(e: Axis, size: int, reason: str) -> tuple[Axis, Axis] | None:
    """Cuts an axis into its first `size` entries and the rest. Returns both, or None if that is
    impossible."""
    e = normal(e)
    if size in (0, e.size):
        return (e, EMPTY) if size else (EMPTY, e)
    if isinstance(e, Sum):
        return _cut_sum(e, size, reason)
    if isinstance(e, Product):
        return _cut_product(e, size, reason)
    return _cut_atom(e, size, reason)


def _cut_sum(e: Sum, size: int, reason: str) -> tuple[Axis, Axis] | None:
    """cut() of a Sum."""
    parts = list(e.parts)
    first: list[Axis] = []
    while size and parts[0].size <= size:
        size -= parts[0].size
        first.append(parts.pop(0))
    if size:
        pieces = cut(parts[0], size, reason)
        if pieces is None:
            return None
        first.append(pieces[0])
        parts[0] = pieces[1]
    return Sum(first), Sum(parts)


def _cut_product(e: Product, size: int, reason: str) -> tuple[Axis, Axis] | None:
    """cut() of a Product: between units of its first factor, or within one, which unrolls it."""
    p, rest = e.parts[0], Product(e.parts[1:])
    if not isinstance(p, Atom):  # a Sum
        return cut(Sum(terms(e)), size, reason)
    varies = any(p in outer(a) for a in atoms(rest))
    if varies or p.unrolled or size % rest.size:
        if p.size > UNROLLED:
            return None
        unroll(p, reason)
        return cut(Sum([at(rest, p, i) for i in range(p.size)]), size, reason)
    if cut(p, size // rest.size, reason) is None:
        return None
    return cut(e, size, reason)


def _cut_atom(e: Atom, size: int, reason: str) -> tuple[Axis, Axis]:
    """cut() of an Atom: its two parts have own orders, unless others vary with it."""
    if e.unrolled:
        return fixed(size, reason), fixed(e.size - size, reason)
    if e.data:
        fix(e, DATA)
    if any(e in outer(d) for d in e.dependents):
        if e.size > UNROLLED:
            for d in list(e.dependents):
                tie(d, e)
        else:
            unroll(e, reason)
            return fixed(size, reason), fixed(e.size - size, reason)
    first, rest = (like(e, n) if n > 1 else ONE for n in (size, e.size - size))
    _assign(e, Sum([first, rest]))
    return first, rest


def unrolled(e: Axis, reason: str) -> list[list[tuple[Atom, int]]]:
    """The entries of an axis: a list of [(unrolled atom, index)...] per entry. Fixes the axis."""
    e = normal(e)
    if isinstance(e, Atom):
        unroll(e, reason)
        return [[(e, i)] for i in range(e.size)]
    if isinstance(e, Sum):
        return [entry for p in e.parts for entry in unrolled(p, reason)]
    entries: list[list[tuple[Atom, int]]] = [[]]
    for p in e.parts:
        entries = [entry + own for entry in entries for own in unrolled(p, reason)]
    return entries

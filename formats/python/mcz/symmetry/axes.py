# SPDX-License-Identifier: Apache-2.0
"""Axes of tensors and the orders that their entries may have.

An axis is an expression: an Atom, a Product (row-major, as after a flatten) or a Sum (one after
another, as after a concatenation). An Atom is a set of entries whose order may be free or fixed.
Orders that must be equal are unified. If an operation cuts an atom, an expression replaces it
everywhere.

The order of an atom may vary with another atom: each head has an order of its channels. An
operation may distinguish the units of the other atom, as when it separates queries from keys. Then
that atom is unrolled. It is fixed, and each atom that varies with it has one case per unit.

Some orders depend on data. A mixture of experts sorts its tokens by expert: if experts change
places, so do tokens. The axis of such a tensor is a data atom. It may only be unified with itself
and with loose atoms, along which all entries are equal. Every token is in a known expert, so that
an order may vary with the expert in a tensor that has no axis of experts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import cast


class Atom:
    """A set of entries with one order.

    size        the number of entries
    value       the expression that replaces the atom, or None
    fixed       the reason why the order is fixed, or None
    varies      atoms: the order may vary with each of them
    cases       {unrolled atom: an atom per unit}: the orders in its units
    dependents  atoms that vary with this one or have cases of it
    unrolled    True if the atoms that varied with this one have cases
    loose       any order is right, even one that depends on data
    data        for a data atom, the axes that must be fixed if it is
    within      for a data atom, [(axis, rows)]: in a tensor with the axes `rows`, each entry is in
                one unit of `axis`

    Sets of atoms are keys of dictionaries, whose order is the same in every run."""

    __slots__ = (
        *("size", "value", "fixed", "varies", "cases", "dependents", "unrolled"),
        *("loose", "data", "within"),
    )

    def __init__(self, size: int, fixed: str | None = None) -> None:
        self.size, self.fixed, self.unrolled, self.loose = size, fixed, False, False
        self.value: Axis | None = None
        self.varies: dict[Atom, None] = {}
        self.cases: dict[Atom, list[Atom]] = {}
        self.dependents: dict[Atom, None] = {}
        self.data: tuple[Axis, ...] = ()
        self.within: list[tuple[Axis, list[Axis]]] = []

    def __repr__(self) -> str:
        return "{}{}".format("=" if self.fixed else "", self.size)


class Product:
    """Axes inside each other, the outermost first: entry (i, j) has number i * size of j + j."""

    __slots__ = ("parts", "size")

    def __init__(self, parts: Iterable[Axis]) -> None:
        self.parts = tuple(parts)
        self.size: int = prod(p.size for p in self.parts)

    def __repr__(self) -> str:
        return "({})".format("*".join(map(repr, self.parts)))


class Sum:
    """Axes one after another."""

    __slots__ = ("parts", "size")

    def __init__(self, parts: Iterable[Axis]) -> None:
        self.parts = tuple(parts)
        self.size: int = sum(p.size for p in self.parts)

    def __repr__(self) -> str:
        return "({})".format("+".join(map(repr, self.parts)))


Axis = Atom | Product | Sum
# the names of groups, by their atom and the units around it: (outer atom, unit)
Names = Mapping[tuple[Atom, frozenset[tuple[Atom, int | None]]], str]
ONE = Product(())
EMPTY = Atom(0, "empty")


def free(size: int) -> Axis:
    """A new axis without constraints."""
    return Atom(size) if size > 1 else ONE if size else EMPTY


def fixed(size: int, reason: str) -> Axis:
    """A new axis whose order is fixed for this reason."""
    return Atom(size, reason) if size > 1 else ONE if size else EMPTY


def find(e: Axis) -> Axis:
    """The atom or expression that now replaces e."""
    while isinstance(e, Atom) and e.value is not None:
        e = e.value
    return e


def elements(e: Axis) -> list[Axis]:
    """The factors of an axis, outermost first: atoms and Sums of several segments."""
    e = find(e)
    if isinstance(e, Atom):
        return [e]
    if not e.size:
        return [EMPTY]
    if isinstance(e, Sum):
        parts = [p for q in e.parts for p in terms(q) if p.size]
        return [Sum(parts)] if len(parts) > 1 else elements(parts[0]) if parts else []
    return [q for p in e.parts for q in elements(p)]


def normal(e: Axis) -> Axis:
    """The axis as an atom, a Sum, or a Product of several factors."""
    parts = elements(e)
    return parts[0] if len(parts) == 1 else Product(parts)


def terms(e: Axis) -> list[Axis]:
    """The segments of an axis. No segment starts with a Sum."""
    parts = elements(e)
    if not parts or isinstance(parts[0], Atom):
        return [Product(parts) if len(parts) != 1 else parts[0]]
    return [t for p in parts[0].parts for t in terms(Product([p, *parts[1:]]))]


def atoms(e: Axis) -> Iterator[Atom]:
    """All atoms of an axis."""
    for p in elements(e):
        if isinstance(p, Atom):
            yield p
        else:
            for q in p.parts:
                yield from atoms(q)


def at(e: Axis, p: Atom, i: int) -> Axis:
    """The axis e in unit i of the unrolled atom p."""
    e = find(e)
    if isinstance(e, Atom):
        return e.cases[p][i] if p in e.cases else e
    return type(e)([at(q, p, i) for q in e.parts])


def vary(a: Atom, p: Atom) -> None:
    """Lets the order of a vary with p."""
    if not p.unrolled:
        a.varies[p] = None
        p.dependents[a] = None


def outer(a: Atom) -> dict[Atom, None]:
    """The atoms that the order of a varies with."""
    return {**a.varies, **dict.fromkeys(a.cases)}


def like(a: Atom, size: int) -> Atom:
    """A new atom that varies as a does."""
    new = Atom(size, a.fixed)
    new.loose = a.loose
    for p in a.varies:
        vary(new, p)
    for p in a.cases:
        new.cases[p] = [Atom(size, a.fixed) for _ in range(p.size)]
        for c in new.cases[p]:
            c.loose = a.loose
            for q in a.varies:
                vary(c, q)
        p.dependents[new] = None
    return new


def renew(e: Axis, copies: dict[Atom, Atom]) -> Axis:
    """The axis e with a copy of each loose atom. copies: {atom: its copy}, to which it adds."""
    e = find(e)
    if not isinstance(e, Atom):
        return type(e)([renew(p, copies) for p in e.parts])
    if e.loose and e not in copies:
        copies[e] = new = like(e, e.size)
        for p in [p for p in new.varies if p.loose]:
            new.varies.pop(p)
            p.dependents.pop(new)
            vary(new, cast(Atom, renew(p, copies)))
    return copies.get(e, e)

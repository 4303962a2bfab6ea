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

from collections import Counter
from math import prod

UNROLLED = 128  # maximum size of an atom to unroll
DATA = "its order depends on data"


class Atom:
    """`value`: the expression that replaces the atom, or None. `varies`: atoms. `cases`: {unrolled
    atom: [Atom]}. `dependents`: atoms that vary with this one or have cases of it. `fixed`: the
    reason, or None. Sets of atoms are keys of dictionaries, whose order is the same in every run.

    `loose`: any order is right, even one that depends on data. `data`: for a data atom, the axes
    that must be fixed if it is. `within`: for a data atom, [(axis, rows)]: in a tensor with the
    axes `rows`, each entry is in one unit of `axis`."""

    __slots__ = (
        "cases",
        "data",
        "dependents",
        "fixed",
        "loose",
        "size",
        "unrolled",
        "value",
        "varies",
        "within",
    )

    def __init__(self, size, fixed=None):
        self.size, self.fixed, self.value, self.unrolled = size, fixed, None, False
        self.varies, self.cases, self.dependents = {}, {}, {}
        self.loose, self.data, self.within = False, (), []

    def __repr__(self):
        return "{}{}".format("=" if self.fixed else "", self.size)


class Product:
    __slots__ = "parts", "size"

    def __init__(self, parts):
        self.parts, self.size = tuple(parts), prod(p.size for p in parts)

    def __repr__(self):
        return "({})".format("*".join(map(repr, self.parts)))


class Sum:
    __slots__ = "parts", "size"

    def __init__(self, parts):
        self.parts, self.size = tuple(parts), sum(p.size for p in parts)

    def __repr__(self):
        return "({})".format("+".join(map(repr, self.parts)))


ONE = Product(())
EMPTY = Atom(0, "empty")


def free(size):
    """A new axis without constraints."""
    return Atom(size) if size > 1 else ONE if size else EMPTY


def fixed(size, reason):
    return Atom(size, reason) if size > 1 else ONE if size else EMPTY


def find(e):
    """The atom or expression that now replaces e."""
    while isinstance(e, Atom) and e.value is not None:
        e = e.value
    return e


def elements(e):
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


def normal(e):
    parts = elements(e)
    return parts[0] if len(parts) == 1 else Product(parts)


def terms(e):
    """The segments of an axis. No segment starts with a Sum."""
    parts = elements(e)
    if not parts or isinstance(parts[0], Atom):
        return [Product(parts) if len(parts) != 1 else parts[0]]
    return [t for p in parts[0].parts for t in terms(Product([p, *parts[1:]]))]


def atoms(e):
    """All atoms of an axis."""
    for p in elements(e):
        if isinstance(p, Atom):
            yield p
        else:
            for q in p.parts:
                yield from atoms(q)


def at(e, p, i):
    """The axis e in unit i of the unrolled atom p."""
    e = find(e)
    if isinstance(e, Atom):
        return e.cases[p][i] if p in e.cases else e
    return type(e)([at(q, p, i) for q in e.parts])


def fix(e, reason):
    for a in list(atoms(e)):
        if not a.fixed:
            a.fixed, a.loose = reason, False
            for cases in a.cases.values():
                for c in cases:
                    fix(c, reason)
            release(a)


def release(a):
    """Makes a data atom, which is now fixed, an atom like others."""
    units, axes, a.within, a.data = a.within, a.data, [], ()
    for e in axes:
        fix(e, DATA)
    for p in [p for e, _ in units for p in atoms(e)]:
        for d in list(p.dependents):
            tie(d, p)


def vary(a, p):
    if not p.unrolled:
        a.varies[p] = None
        p.dependents[a] = None


def tie(a, p):
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
            tie(c, at(p, q, i))
    for c in a.cases.pop(p, ()):
        unify(a, c)


def outer(a):
    """The atoms that the order of a varies with."""
    return {**a.varies, **dict.fromkeys(a.cases)}


def like(a, size):
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


def renew(e, copies):
    """The axis e with a copy of each loose atom. copies: {atom: its copy}, to which it adds."""
    e = find(e)
    if not isinstance(e, Atom):
        return type(e)([renew(p, copies) for p in e.parts])
    if e.loose and e not in copies:
        copies[e] = new = like(e, e.size)
        for p in [p for p in new.varies if p.loose]:
            new.varies.pop(p)
            p.dependents.pop(new)
            vary(new, renew(p, copies))
    return copies.get(e, e)


def unroll(p, reason):
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


def _follows(a, p):
    """True if a may have the order of an atom that varies with p: if it is loose, and p does not
    vary with it in turn."""
    return a.loose and p is not a and all(_follows(a, q) for q in outer(p))


def _merge(a, b):
    """Lets a replace b."""
    if a is b:
        return
    if (a.data and not b.loose) or (b.data and not a.loose):
        fix(a, DATA)
        fix(b, DATA)
    for x, y in ((a, b), (b, a)):
        if y in outer(x):
            tie(x, y)
    a, b = find(a), find(b)
    if a is b:
        return
    if a.loose and not b.loose:
        a, b = b, a
    if a.unrolled or b.unrolled:
        unroll(a, b.fixed)
        unroll(b, a.fixed)
    for x, y in ((a, b), (b, a)):
        for p in [p for p in outer(x) if p not in outer(y) and not (y is b and _follows(b, p))]:
            tie(x, p)
    a, b = find(a), find(b)
    if a is b or not (isinstance(a, Atom) and isinstance(b, Atom)):
        unify(a, b)
        return
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


def _assign(a, e):
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
    if a.unrolled:
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


def unroll_all(e, reason):
    for x in list(atoms(e)):
        unroll(x, reason)


def unify(e, f, reason="its axis is cut in incompatible ways"):
    """Requires that the entries of two axes of equal size have the same order. If their structures
    are incompatible, both are fixed for this reason."""
    e, f = normal(e), normal(f)
    if e is f or e.size == f.size < 2:
        return
    if e.size != f.size:
        raise AssertionError(f"axes of sizes {e.size} and {f.size}")
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


def _unify_products(e, f, reason):
    x, y = e.parts[0], f.parts[0]
    if x.size < y.size:
        e, f, x, y = f, e, y, x
    if x.size == y.size:
        unify(x, y, reason)
    elif x.size % y.size or split(x, y.size) is None:
        fix(e, reason)
        fix(f, reason)
        return
    else:
        unify(e, f, reason)
        return
    unify(Product(e.parts[1:]), Product(f.parts[1:]), reason)


def _unify_sums(left, right, reason):
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


def split(a, size):
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


def cut(e, size, reason):
    """Cuts an axis into its first `size` entries and the rest. Returns both, or None if that is
    impossible."""
    e = normal(e)
    if size in (0, e.size):
        return (e, EMPTY) if size else (EMPTY, e)
    if isinstance(e, Sum):
        parts, first = list(e.parts), []
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
    if isinstance(e, Product):
        p, rest = e.parts[0], Product(e.parts[1:])
        if isinstance(p, Sum):
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
    pieces = [like(e, n) if n > 1 else ONE for n in (size, e.size - size)]
    _assign(e, Sum(pieces))
    return tuple(pieces)


def unrolled(e, reason):
    """The entries of an axis: a list of [(unrolled atom, index)...] per entry. Fixes the axis."""
    e = normal(e)
    if isinstance(e, Atom):
        unroll(e, reason)
        return [[(e, i)] for i in range(e.size)]
    if isinstance(e, Sum):
        return [entry for p in e.parts for entry in unrolled(p, reason)]
    entries = [[]]
    for p in e.parts:
        entries = [entry + own for entry in entries for own in unrolled(p, reason)]
    return entries


def confine(axes, inputs=()):
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


def _known(a, p, own, inputs):
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


def regroup(axes, sizes, reason):
    """The axes after a reshape from `axes` to these sizes."""
    if prod(sizes) != prod(e.size for e in axes):  # other numbers: a view as another type
        for e in axes:
            fix(e, reason)
        return [fixed(n, reason) for n in sizes]
    rest, out = [p for e in axes for p in elements(e)], []
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


def _factor(e, size):
    """The factors of an atom or Sum of which the first has this size, or None."""
    if isinstance(e, Atom):
        return split(e, size)
    parts = e.parts
    if len(parts) % size == 0 and all(p.size == parts[0].size for p in parts) and size <= UNROLLED:
        n = len(parts) // size  # one unit: n segments
        units = [Sum(parts[i * n : (i + 1) * n]) for i in range(size)]
        first, rest = Atom(size, "its units are different segments"), Atom(units[0].size)
        vary(rest, first)
        unroll(first, first.fixed)
        for c, u in zip(rest.cases[first], units):
            unify(c, u)
        return first, rest
    return None

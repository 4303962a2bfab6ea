# SPDX-License-Identifier: Apache-2.0
"""Operations that read or write entries by number, and those that compute such numbers.

Numbers that refer to an axis are labels (call.py): if units of the axis move, so do the numbers.
Numbers without a label are the same in every network of these groups, so that the axis that they
index is fixed."""

from ..axes import ONE, atoms, find, fixed, free, normal, vary
from .call import READ, Axes, Label, broadcast, index, rule, unknown, without
from .norms import places_of


def refer(c, numbers, axis):
    """Requires that numbers refer to an axis. True if they are labels."""
    label = numbers.label
    if label and label.ends is None and label.axis.size == axis.size:
        c.unify((label.axis, axis))
        return True
    c.fix(axis, *numbers.references)
    return False


def strip(c, *values):
    """Fixes the axes to which numbers refer that an operation reads as numbers."""
    c.fix(*[e for v in values for e in getattr(v, "references", [])])


def data_axis(size, rows, needs, labels):
    """A new data atom whose entries are in units of the axis `labels`. If its order depends on the
    axes `needs`, it varies with rows. ONE if it has one entry."""
    new = free(size)
    if new is not ONE:
        new.data, new.within = (*needs, ONE), [(labels, list(rows))]
        for a in dict.fromkeys(a for e in rows for a in atoms(e)) if needs else ():
            vary(new, a)
    return new


@rule("topk")
def topk(c):
    """The largest numbers of an axis, in the order of their size or in any order, and the places
    where they were."""
    axes, k = list(c.self.axes), index(-1 if c.dim is None else c.dim, c.self.axes)
    rest = axes[:k] + axes[k + 1 :]
    largest = data_axis(c.sizes[0][k], rest, [axes[k]] * (c.sorted is False), axes[k])
    out = [*axes[:k], largest, *axes[k + 1 :]]
    return [out, places_of(c, out, axes[k : k + 1], c.used(1), data=largest, distinct=largest)]


@rule("sort", "argsort", "msort", labels=READ)
def sort(c):
    """Numbers in order, and the places where they were. Sorted labels are in an order that depends
    on that of their axis."""
    axes, label = list(c.self.axes), c.self.label
    k = index(0 if c.name == "msort" else -1 if c.dim is None else c.dim, axes)
    rest, own = axes[:k] + axes[k + 1 :], axes[k]
    if label and _distinct(label, own) and label.axis.size == own.size and not c.descending:
        axes[k] = label.axis  # the numbers of all units, in order
        values, places = (
            Axes(axes, Label(label.axis)),
            Axes(axes, Label(own, distinct=normal(label.axis))),
        )
    elif label and label.ends is None:
        axes[k] = new = data_axis(own.size, rest, [label.axis, own], label.axis)
        values = Axes(axes, Label(label.axis, data=new, ordered=not c.descending))
        places = Axes(axes, Label(own, distinct=new))
    else:
        strip(c, c.self)
        axes[k] = new = fixed(own.size, "sort")
        values, places = (
            axes,
            places_of(
                c,
                axes,
                [own],
                c.name == "argsort" or (c.name == "sort" and c.used(1)),
                distinct=new,
            ),
        )
    return places if c.name == "argsort" else values if c.name == "msort" else [values, places]


@rule("cummax", "cummin")
def extreme(c):
    axes, k = list(c.self.axes), index(c.dim, c.self.axes)
    c.fix(axes[k])
    c.inner.append(without(axes, k))
    return [axes, axes]


@rule("histc", "bincount", labels=READ)
def count(c):
    """How often labels name each unit. histc has bins of width (max - min) / bins; bin i has label
    i if min is 0 and max is bins - 1."""
    v, n = c.self, c.sizes[0]
    label = v.label
    right = (c.name == "bincount" and c.weights is None) or ((c.min or 0) == 0 and c.max == n - 1)
    if label and label.ends is None and right and label.axis.size == n:
        return Axes([label.axis], counts=label.data if label.ordered else None)
    strip(c, v, c.weights)
    c.fix(*v.axes)
    return c.fixed(c.sizes)


@rule("cumsum")
def cumsum(c):
    """Sums from the start. The sums of the sizes of sorted units are the ends of these units."""
    axes, k = list(c.self.axes), index(c.dim, c.self.axes)
    counts = getattr(c.self.axes, "counts", None)
    if counts is not None and counts is not ONE and len(axes) == 1:
        return Axes(axes, Label(axes[0], ends=counts))
    c.fix(axes[k])
    c.inner.append(without(axes, k))
    return axes


@rule("_grouped_mm", "transformers::grouped_mm_fallback", labels=READ)
def grouped_product(c):
    """Each row of x, sorted by unit, times the matrix of its unit."""
    x, w, ends = [
        c.arguments.get(k) or c.arguments.get(v)
        for k, v in (("self", "input"), ("mat2", "weight"), ("offs", "offsets"))
    ]
    label, rows = ends and ends.label, normal(x.axes[0])
    sorted_rows = label and label.ends is not None and find(label.ends) is rows
    if not sorted_rows or len(x.axes) != 2 or len(w.axes) != 3 or c.bias is not None:
        strip(c, *c.values())
        return unknown(c)
    c.observe(x)
    c.read.append((w, 1))
    c.unify((label.axis, w.axes[0]), (x.axes[1], w.axes[1]))
    c.units = True
    return [x.axes[0], w.axes[2]]


@rule("index", "_unsafe_index", labels=READ)
def index_(c):
    """Entries by their numbers on some axes. The axes of the numbers come first, unless the indexed
    axes are neighbours."""
    axes, out, places = c.self.axes, [], []
    for k, e in enumerate(axes):
        i = c.indices[k] if k < len(c.indices) else None
        if i is None:
            out.append(e)
        else:
            known = refer(c, i, e)
            c.units |= known and i.label.data is not None
            places.append((k, len(out)))
    numbers = [i for i in c.indices if i is not None]
    new = broadcast(c, [i.axes for i in numbers])
    if len(new) + len(out) != len(c.sizes):  # a mask of several axes
        strip(c, c.self)
        return unknown(c)
    together = (
        [k for k, _ in places] == list(range(places[0][0], places[-1][0] + 1)) if places else True
    )
    first = places[0][1] if places and together else 0
    out = out[:first] + new + out[first:]
    return Axes(out, Label(c.self.label.axis)) if c.self.label else out


@rule("index_select", labels=READ)
def index_select(c):
    axes, k = list(c.self.axes), index(c.dim, c.self.axes)
    c.units = refer(c, c.index, axes[k]) and c.index.label.data is not None
    axes[k] = c.index.axes[0] if c.index.axes else ONE
    return Axes(axes, Label(c.self.label.axis)) if c.self.label else axes


def prefix(c, x, y, k):
    """Requires that y is the start of x on all axes except k: the whole axis, or fixed entries."""
    for d, (e, f) in enumerate(zip(x, y)):
        if d != k and e.size == f.size:
            c.unify((e, f))
        elif d != k:
            c.fix(e, f)


@rule("gather", labels=READ)
def gather(c):
    """Entries by their numbers on one axis, for each place on the others."""
    k, numbers = index(c.dim, c.self.axes), list(c.index.axes)
    prefix(c, c.self.axes, numbers, k)
    c.inner.append(without(c.self.axes, k))
    c.units = refer(c, c.index, c.self.axes[k]) and c.index.label.data is not None
    return Axes(numbers, Label(c.self.label.axis)) if c.self.label else numbers


@rule("scatter", "scatter_add", "scatter_reduce", labels=READ)
def scatter(c):
    """Writes entries by their numbers on one axis, for each place on the others. If a place is
    written twice without a sum, the order of the entries counts."""
    k, numbers, label = index(c.dim, c.self.axes), c.index.axes, c.index.label
    src = c.src if c.src is not None else c.value
    strip(c, c.self, src)
    prefix(c, c.self.axes, numbers, k)
    c.inner.append(without(c.self.axes, k))
    refer(c, c.index, c.self.axes[k])
    if hasattr(src, "axes") and src.axes:
        prefix(c, src.axes, numbers, None)
        if c.name == "scatter" and c.reduce is None and not _distinct(label, numbers[k]):
            c.fix(numbers[k])
    return list(c.self.axes)


def _distinct(label, axis):
    return bool(label) and label.distinct is not None and find(label.distinct) is normal(axis)


@rule("index_add", "index_copy", "index_fill", "index_reduce", labels=READ)
def index_add(c):
    """Writes slices by their numbers on one axis."""
    k, axes, new = index(c.dim, c.self.axes), list(c.self.axes), c.source
    strip(c, c.self, new, c.value)
    refer(c, c.index, axes[k])
    c.inner.append(without(axes, k))
    numbers = c.index.axes[0] if c.index.axes else ONE
    if new is not None and new.axes:
        c.unify(
            (numbers, new.axes[k]),
            *((e, f) for d, (e, f) in enumerate(zip(axes, new.axes)) if d != k),
        )
        if c.name == "index_copy" and not _distinct(c.index.label, numbers):
            c.fix(numbers)
    return axes


@rule("index_put", "_unsafe_index_put", labels=READ)
def index_put(c):
    """Writes entries by their numbers on some axes. If each place of an axis is written once, the
    numbers are an order of entries, and the result has the inverse order."""
    new, axes, (k, *others) = (
        c.arguments["values"],
        list(c.self.axes),
        [k for k, i in enumerate(c.indices) if i is not None],
    )
    numbers = c.indices[k]
    strip(c, c.self)
    if others or not numbers.label or len(numbers.axes) != 1:  # such as masks
        strip(c, new, *(c.indices[j] for j in others))
        return unknown(c)
    whole = (
        refer(c, numbers, axes[k])
        and _distinct(numbers.label, numbers.axes[0])
        and not c.accumulate
        and (numbers.axes[0].size == axes[k].size)
    )
    if not whole:
        strip(c, new)
    if new.axes and not c.accumulate and not _distinct(numbers.label, numbers.axes[0]):
        c.fix(numbers.axes[0])
    broadcast(c, [axes[:k] + list(numbers.axes) + axes[k + 1 :], new.axes])
    c.inner.append(without(axes, k))
    return Axes(axes, Label(new.label.axis)) if new.label and whole else axes

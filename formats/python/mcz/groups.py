# SPDX-License-Identifier: Apache-2.0
"""Groups of units that are permuted together, declared for networks that no graph says.

A row is (tensor, axis, offset, count, block, group): on that axis of the tensor, from place `offset` on, `count` units
of the group follow each other, each of `block` places. All rows of a group have the same count. Rows of one axis do not
overlap, or one lies within a unit of the other: smaller blocks move first, then the blocks with what they hold. A group
file holds rows one a line, separated by tabs, below a line with these six names; # begins a comment. Or, in Python,

    {"hidden": {"out": ["fc1.*:0"], "in": ["fc2.weight:1"], "at": "fc2:in"},
     "heads": {"out": ["qkv.weight:0", ...], "size": 12}}

a name, a colon and an axis, the axis whole; * stands for what belongs to it (fc1.* is fc1.weight and fc1.bias and, of
batch norm, its statistics). "size" is the number of units where a unit takes more than one place. "at", for
mcz.torch.moments, is a module whose output (or, with :in, whose input) shows the units; PATH[32:64] are these places of
its last axis (or of "axis"). Of groups that lie alike in the units of another, those in unit 0 say it for all: the module
shows the units of all of them, one unit's after the other's."""
import fnmatch
import os
from collections import namedtuple

import numpy as np

from .errors import Error, need
from .files import replacing

FIELDS = "tensor", "axis", "offset", "count", "block", "group"
Row = namedtuple("Row", FIELDS)


def read(path):
    """The rows of a group file."""
    with open(path) as f:
        lines = [(i, line.rstrip("\n").split("\t")) for i, line in enumerate(f, 1)
                 if line.strip() and not line.startswith("#")]
    need(lines and tuple(lines[0][1]) == FIELDS,
         "%s: its first line is not %s, with tabs between" % (path, " ".join(FIELDS)))
    for i, words in lines[1:]:
        need(len(words) == 6 and all(w.isdecimal() for w in words[1:5]), "%s: line %d: is not %s" %
             (path, i, ", ".join(FIELDS)))
    return [Row(w[0], *map(int, w[1:5]), w[5]) for _, w in lines[1:]]


def text(rows):
    """The text of a group file with these rows, which streams have as their \"symmetry\"."""
    return "".join("\t".join(map(str, r)) + "\n" for r in [FIELDS, *rows])


def write(path, rows):
    """Writes a group file with these rows, whole or not at all."""
    with replacing(path, "t") as f:
        f.write(text(rows))


def _declared(groups, shapes, wrong):
    for group, g in groups.items():
        extra = set(g) - {"out", "in", "at", "size", "axis"}
        if extra:
            wrong.append("group \"%s\": no such key: %s" % (group, ", ".join(sorted(extra))))
        if not isinstance(g.get("size", 2), (int, np.integer)) or g.get("size", 2) < 2:
            wrong.append("group \"%s\": \"size\" is %r, and not a whole number from 2 on" % (group, g["size"]))
            continue
        for entry in list(g.get("out", [])) + list(g.get("in", [])):
            pattern, _, axis = entry.rpartition(":")
            names = [n for n in shapes if fnmatch.fnmatchcase(n, pattern) and not n.endswith(".num_batches_tracked")]
            if not names or not axis.isdigit():
                wrong.append("group \"%s\": \"%s\" is no NAME:AXIS of a tensor here" % (group, entry))
                continue
            for n in names:
                places = shapes[n][int(axis)] if int(axis) < len(shapes[n]) else 0
                size = g.get("size", places)
                if not places or places % size:
                    wrong.append("group \"%s\": axis %s of \"%s\", which is %s, holds no %d units" %
                                 (group, axis, n, tuple(shapes[n]), size))
                else:
                    yield Row(n, int(axis), 0, size, places // size, group)


def _clash(a, b):
    """Two rows of one axis overlap, and neither lies within one unit of the other."""
    a, b = sorted((a, b), key=lambda r: r.block * r.count)
    first, last = a.offset - b.offset, a.offset + a.count * a.block - 1 - b.offset
    if last < 0 or first >= b.count * b.block:
        return False
    return first < 0 or last >= b.count * b.block or first // b.block != last // b.block


def rows(groups, shapes):
    """The rows of groups (a path, a list of rows, or a dictionary) in a network whose tensors have these shapes, and
    {group: units}. Error names all that does not fit."""
    wrong, sizes, taken = [], {}, {}
    if isinstance(groups, (str, os.PathLike)):
        groups = read(groups)
    found = list(_declared(groups, shapes, wrong)) if isinstance(groups, dict) else [Row(*r) for r in groups]
    for r in found:
        shape = tuple(shapes.get(r.tensor, ()))
        places = shape[r.axis] if r.axis < len(shape) else 0
        if r.tensor not in shapes:
            wrong.append("group \"%s\": there is no tensor \"%s\"" % (r.group, r.tensor))
        elif r.count < 2 or r.block < 1 or r.offset < 0 or r.offset + r.count * r.block > places:
            wrong.append("group \"%s\": %d units, places %d to %d, are not on axis %d of \"%s\", which is %s" % (
                r.group, r.count, r.offset, r.offset + r.count * r.block - 1, r.axis, r.tensor, shape))
        elif sizes.setdefault(r.group, r.count) != r.count:
            wrong.append("group \"%s\": has %d units, and %d in \"%s\"" % (r.group, sizes[r.group], r.count, r.tensor))
        elif any(_clash(r, other) for other in taken.setdefault((r.tensor, r.axis), [])):
            wrong.append("group \"%s\": places of axis %d of \"%s\" belong to another row too" %
                         (r.group, r.axis, r.tensor))
        else:
            taken[r.tensor, r.axis].append(r)
    if wrong:
        raise Error("; ".join(wrong))
    need(found, "there are no groups")
    return found, sizes


def nesting(found):
    """{group: (the group around it, the unit of that)} of the groups that lie within units of others, of the rows found."""
    lies, around, here = {}, [], None
    for r in sorted(found, key=lambda r: (r.tensor, r.axis, r.offset, -r.count * r.block)):
        if (r.tensor, r.axis) != here:
            here, around = (r.tensor, r.axis), []
        while around and around[-1].offset + around[-1].count * around[-1].block <= r.offset:
            around.pop()
        at = (around[-1].group, (r.offset - around[-1].offset) // around[-1].block) if around else None
        need(lies.setdefault(r.group, at) == at, "group \"%s\" does not lie in the same unit in all its rows" % r.group)
        around.append(r)
    return {g: at for g, at in lies.items() if at}


def gather(places, some, permutation):
    """Which old place of an axis goes to each new one, by the rows that are on it."""
    index = np.arange(places)
    for r in sorted(some, key=lambda r: r.block):
        here = slice(r.offset, r.offset + r.count * r.block)
        index[here] = index[here].reshape(r.count, r.block)[np.asarray(permutation[r.group])].reshape(-1)
    return index

# SPDX-License-Identifier: Apache-2.0
"""Groups of units that are permuted together, for networks without a graph (formats/exchange/groups.md).

A unit is one index of a hidden layer: a channel, a neuron or a head. A group lists every axis of every tensor on which its
units appear. Declare groups as a dictionary, a list of rows or a group file:

    groups = {"hidden": {"out": ["fc1.*:0"], "in": ["fc2.weight:1"], "at": "fc2:in"},
              "heads": {"out": ["qkv.weight:0"], "in": ["proj.weight:1"], "size": 12, "at": "proj:in"}}
    rows, sizes = mcz.groups.rows(groups, {k: v.shape for k, v in net.state_dict().items()})
    mcz.groups.write("groups.tsv", rows)             # for mc-convert --groups

The keys of a group in a dictionary:

    out, in  lists of "NAME:AXIS". NAME may contain *: fc1.* is fc1.weight, fc1.bias and batch norm's statistics.
    size     number of units. Required if a unit is a block of several indices; default: the length of the axis.
    at       for mcz.torch.moments: the module, or modules, whose output shows the units; "PATH:in" for its input.
             PATH[32:64] selects these indices of the last axis (or of "axis").
    axis     for mcz.torch.moments: the axis of that output on which the units are.

A row is (tensor, axis, offset, count, block, group): from index `offset`, that axis holds `count` units of the group, each
of `block` indices. All rows of a group have the same count. Two rows of one axis must not overlap, except that one may be
within a unit of the other. Then the smaller blocks move first, and the larger blocks move with their contents.

If each unit of a group contains such a group (head0, head1, ...), only the one in unit 0 has "at". Its module shows the
units of all of them, one unit after the other."""
import fnmatch
import os
from collections import namedtuple

import numpy as np

from .errors import Error, need
from .files import replacing

FIELDS = "tensor", "axis", "offset", "count", "block", "group"
Row = namedtuple("Row", FIELDS)


def read(path):
    """The rows of a group file: tab-separated, below a line with the names of the fields. Lines that start with # are
    comments. Raises Error with the number of a malformed line."""
    with open(path) as f:
        lines = [(i, line.rstrip("\n").split("\t")) for i, line in enumerate(f, 1)
                 if line.strip() and not line.startswith("#")]
    need(lines and tuple(lines[0][1]) == FIELDS,
         "%s: its first line must be %s, separated by tabs" % (path, " ".join(FIELDS)))
    for i, words in lines[1:]:
        need(len(words) == 6 and all(w.isdecimal() for w in words[1:5]), "%s: line %d: %s expected" %
             (path, i, ", ".join(FIELDS)))
    return [Row(w[0], *map(int, w[1:5]), w[5]) for _, w in lines[1:]]


def text(rows):
    """The text of a group file with these rows, and of the "symmetry" in streams."""
    return "".join("\t".join(map(str, r)) + "\n" for r in [FIELDS, *rows])


def write(path, rows):
    """Writes a group file with these rows, for `mc-convert --groups`. If this raises, `path` is unchanged."""
    with replacing(path, "t") as f:
        f.write(text(rows))


def _declared(groups, shapes, problems):
    """The rows of a dictionary of groups. Adds what is wrong to `problems`."""
    for group, g in groups.items():
        extra = set(g) - {"out", "in", "at", "size", "axis"}
        if extra:
            problems.append("group \"%s\": unknown key %s (out, in, size, at, axis)" % (group, ", ".join(sorted(extra))))
        if not isinstance(g.get("size", 2), (int, np.integer)) or g.get("size", 2) < 2:
            problems.append("group \"%s\": \"size\" must be an integer of at least 2 (got %r)" % (group, g["size"]))
            continue
        for entry in list(g.get("out", [])) + list(g.get("in", [])):
            pattern, _, axis = entry.rpartition(":")
            names = [n for n in shapes if fnmatch.fnmatchcase(n, pattern) and not n.endswith(".num_batches_tracked")]
            if not names or not axis.isdigit():
                problems.append("group \"%s\": \"%s\" is not NAME:AXIS of a tensor of this network" % (group, entry))
                continue
            for n in names:
                length = shapes[n][int(axis)] if int(axis) < len(shapes[n]) else 0
                size = g.get("size", length)
                if not length or length % size:
                    problems.append("group \"%s\": axis %s of \"%s\", of shape %s, cannot hold %d units" %
                                    (group, axis, n, tuple(shapes[n]), size))
                else:
                    yield Row(n, int(axis), 0, size, length // size, group)


def _clash(a, b):
    """True if two rows of one axis overlap, and neither is within one unit of the other."""
    a, b = sorted((a, b), key=lambda r: r.block * r.count)
    first, last = a.offset - b.offset, a.offset + a.count * a.block - 1 - b.offset
    if last < 0 or first >= b.count * b.block:
        return False
    return first < 0 or last >= b.count * b.block or first // b.block != last // b.block


def rows(groups, shapes):
    """Checks groups against a network and expands them to rows.

    groups: a dictionary, a list of rows or the path of a group file.
    shapes: {tensor: shape} of the network.
    Returns (rows, {group: number of units}). Raises Error with every row that does not fit.
    """
    problems, sizes, checked = [], {}, {}
    if isinstance(groups, (str, os.PathLike)):
        groups = read(groups)
    found = list(_declared(groups, shapes, problems)) if isinstance(groups, dict) else [Row(*r) for r in groups]
    for r in found:
        shape = tuple(shapes.get(r.tensor, ()))
        length = shape[r.axis] if r.axis < len(shape) else 0
        if r.tensor not in shapes:
            problems.append("group \"%s\": unknown tensor \"%s\"" % (r.group, r.tensor))
        elif r.count < 2 or r.block < 1 or r.offset < 0 or r.offset + r.count * r.block > length:
            problems.append("group \"%s\": %d units at indices %d to %d do not fit axis %d of \"%s\", of shape %s" % (
                r.group, r.count, r.offset, r.offset + r.count * r.block - 1, r.axis, r.tensor, shape))
        elif sizes.setdefault(r.group, r.count) != r.count:
            problems.append("group \"%s\": %d units expected in \"%s\", got %d" %
                            (r.group, sizes[r.group], r.tensor, r.count))
        elif any(_clash(r, other) for other in checked.setdefault((r.tensor, r.axis), [])):
            problems.append("group \"%s\": overlaps another row on axis %d of \"%s\"" % (r.group, r.axis, r.tensor))
        else:
            checked[r.tensor, r.axis].append(r)
    if problems:
        raise Error("; ".join(problems))
    need(found, "no groups")
    return found, sizes


def nesting(found):
    """{group: (outer group, unit)} of the groups within a unit of another, from their rows."""
    parents, outer, current = {}, [], None
    for r in sorted(found, key=lambda r: (r.tensor, r.axis, r.offset, -r.count * r.block)):
        if (r.tensor, r.axis) != current:
            current, outer = (r.tensor, r.axis), []
        while outer and outer[-1].offset + outer[-1].count * outer[-1].block <= r.offset:
            outer.pop()
        parent = (outer[-1].group, (r.offset - outer[-1].offset) // outer[-1].block) if outer else None
        need(parents.setdefault(r.group, parent) == parent,
             "group \"%s\" is not within the same unit in all its rows" % r.group)
        outer.append(r)
    return {g: parent for g, parent in parents.items() if parent}


def gather(length, rows, permutation):
    """The old index of each new index of an axis, for the rows on it."""
    index = np.arange(length)
    for r in sorted(rows, key=lambda r: r.block):
        part = slice(r.offset, r.offset + r.count * r.block)
        index[part] = index[part].reshape(r.count, r.block)[np.asarray(permutation[r.group])].reshape(-1)
    return index

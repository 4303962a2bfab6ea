# SPDX-License-Identifier: Apache-2.0
"""Groups of units that are permuted together, for networks without a graph
(formats/exchange/groups.md).

mcz.torch.groups derives the groups of a module. To declare groups by hand, write a dictionary, a
list of rows or a group file. A unit is one index of a hidden layer: a channel, a neuron or a head.
A group lists every axis of every tensor on which its units appear:

    groups = {"hidden": {"out": ["fc1.*:0"], "in": ["fc2.weight:1"], "at": "fc2:in"},
              "heads": {"out": ["qkv.weight:0"], "in": ["proj.weight:1"], "size": 12, "at":
              "proj:in"}}

The keys of a group in a dictionary:

out, in  lists of "NAME:AXIS". NAME may contain `*`: `fc1.*` is fc1.weight, fc1.bias and batch
         norm's statistics.
size     number of units. Required if a unit is a block of several indices; default: the length of
         the axis.
at       for mcz.torch.moments: the module, or modules, whose output shows the units; "PATH:in" for
         its input. `PATH[32:64]` selects these indices of the last axis (or of "axis").
axis     for mcz.torch.moments: the axis of that output on which the units are. If it is longer than
         the tensors' axes, the indices of a unit must be adjacent.

A Row lists the units on one axis of one tensor. All rows of a group have the same count. Two rows
of one axis must not overlap, except that one may be within a unit of the other. Then the smaller
blocks move first, and the larger blocks move with their contents. In grouped-query attention, query
heads share the order of the value channels. So the value group appears in every query head, and
counts as outside them, as does any group with rows at the same places in all units of a row.

The weight of a convolution in G groups has shape (out, in / G, ...). Axis 0 has G equal parts, one
per group. With parts=G, axis 1 has G * (in / G) indices: those of the first part, then those of the
second, and so on. Group files write 1/G. Any axis after the first can be counted over parts, as in
the weights of a mixture of experts, whose experts are on axis 0.

If each unit of a group contains a group (head0, head1, ...), give "at" only for head0. It serves
all heads: its module shows their units, one head after the other."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import Error, inside, need
from .files import Path, replacing
from .nesting import (
    ALLOWS,
    PAIRS,
    Row,
    Shapes,
    allows_of,
    check_units,
    direct_places,
    end_of,
    nesting,
)

__all__ = ["Row", "gather", "nesting", "read", "rows", "text", "write"]

FIELDS = "tensor", "axis", "offset", "count", "block", "group", "within", "unit", "allows"
HEADERS = FIELDS[:6], FIELDS[:8], FIELDS
MAX_TEXT, MAX_GROUPS = 2 << 20, 65536  # bytes of a group file, groups
NUMBER = re.compile("0|[1-9][0-9]{0,9}")
AXIS = re.compile(f"({NUMBER.pattern})|[1-9][0-9]{{0,9}}/([2-9]|[1-9][0-9]{{1,9}})")
NAME = re.compile("[!-~]{1,119}")


def read(path: Path) -> list[Row]:
    """The rows of a group file (formats/exchange/groups.md).

        mcz.groups.read("groups.tsv")[0].group

    Returns a list of Row. Raises mcz.Error with the number of a malformed line, OSError if the file
    cannot be read."""
    with open(path, "rb") as f:
        raw = f.read(MAX_TEXT + 1)
    with inside(os.fsdecode(path)):
        need(len(raw) <= MAX_TEXT and b"\0" not in raw, f"not a text of at most {MAX_TEXT} bytes")
        numbered = enumerate(raw.decode(errors="surrogateescape").split("\n"), 1)
        texts = [(i, line.removesuffix("\r")) for i, line in numbered]
        lines = [(i, line.split("\t")) for i, line in texts if line and not line.startswith("#")]
        header = tuple(lines[0][1]) if lines else ()
        need(
            header in HEADERS,
            "its first line must be {} (or also {}), separated by tabs".format(
                " ".join(FIELDS[:6]), " ".join(FIELDS[6:])
            ),
        )
        for i, words in lines[1:]:
            need(
                len(words) == len(header)
                and AXIS.fullmatch(words[1])
                and all(NUMBER.fullmatch(w) for w in words[2:5])
                and (words[6:8] in ([], ["-", "-"]) or NUMBER.fullmatch(words[7]))
                and (words[8:] == [] or words[8] in ALLOWS),
                "line {}: {} expected".format(i, ", ".join(header)),
            )
    return [parse(w) for _, w in lines[1:]]


def parse(words: Sequence[str]) -> Row:
    """The row in the words of a group file's line."""
    axis, _, parts = words[1].partition("/")
    offset, count, block = map(int, words[2:5])
    row = Row(words[0], int(axis), offset, count, block, words[5], int(parts or 1))
    row = row._replace(allows="".join(words[8:]) or "permutation")
    if words[6:8] in ([], ["-", "-"]):
        return row
    return row._replace(within=words[6], unit=int(words[7]))


def text(rows: Iterable[Sequence[Any]]) -> str:
    """The text of a group file with these rows, and of the "symmetry" in streams.

        rows = [("fc1.weight", 0, 0, 64, 1, "hidden"), ("fc2.weight", 1, 0, 64, 1, "hidden")]
        print(mcz.groups.text(rows))

    rows  a list of Row, or of tuples in its order. rows() checks them, and finds which groups are
          within units of others."""
    found = [Row(*r) for r in rows]
    columns = 8 if any(r.within for r in found) else 6
    if any(r.allows != "permutation" for r in found):
        columns = 9
    lines = [
        (
            r.tensor,
            r.axis if r.parts == 1 else f"{r.axis}/{r.parts}",
            *r[2:6],
            *(r[7:9] if r.within else "--"),
            r.allows,
        )
        for r in found
    ]
    return "".join("\t".join(map(str, line[:columns])) + "\n" for line in [FIELDS, *lines])


def write(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Writes a group file with these rows, for `mc-convert --groups`.

        rows, sizes = mcz.groups.rows(groups, {k: v.shape for k, v in net.state_dict().items()})
        mcz.groups.write("groups.tsv", rows)

    Does not check the rows. If this raises OSError, `path` is unchanged."""
    with replacing(path, "t") as f:
        f.write(text(rows))


def _declared(groups: Mapping[str, Any], shapes: Shapes, problems: list[str]) -> Iterator[Row]:
    """The rows of a dictionary of groups. Adds what is wrong to `problems`."""
    for group, g in groups.items():
        extra = set(g) - {"out", "in", "at", "size", "axis"}
        if extra:
            problems.append(
                'group "{}": unknown key {} (out, in, size, at, axis)'.format(
                    group, ", ".join(sorted(extra))
                )
            )
        if not isinstance(g.get("size", 2), (int, np.integer)) or g.get("size", 2) < 2:
            problems.append(
                'group "{}": "size" must be an integer of at least 2 (got {!r})'.format(
                    group, g["size"]
                )
            )
            continue
        for entry in list(g.get("out", [])) + list(g.get("in", [])):
            pattern, _, axis = str(entry).rpartition(":")
            names = [
                n
                for n in shapes
                if fnmatch.fnmatchcase(n, pattern) and not n.endswith(".num_batches_tracked")
            ]
            if not names or not NUMBER.fullmatch(axis):
                problems.append(
                    f'group "{group}": "{entry}" is not NAME:AXIS of a tensor of this network'
                )
                continue
            for n in names:
                length = shapes[n][int(axis)] if int(axis) < len(shapes[n]) else 0
                size = g.get("size", length)
                if not length or length % size:
                    problems.append(
                        f'group "{group}": axis {axis} of "{n}", of shape {tuple(shapes[n])}, '
                        f"cannot hold {size} units"
                    )
                else:
                    yield Row(n, int(axis), 0, size, length // size, group)


def _leaves_parts(row: Row, shape: Sequence[int], parts: int) -> bool:
    """True if a row on an axis of parts is in more than one, or a row on axis 0 moves entries
    between parts."""
    part = shape[row.axis] if row.axis else shape[0] // parts
    return row.offset // part != (end_of(row) - 1) // part and bool(
        row.axis or row.offset % part or row.block % part
    )


def _row(r: Iterable[Any]) -> Row:
    """A Row with Python's integers. Error if a value has another type."""
    r = tuple(r)
    integers = r[1:5] + r[6:7] + r[8:9]
    need(
        6 <= len(r) <= 10
        and all(isinstance(v, str) for v in (r[0], *r[5:6], *r[7:8], *r[9:]))
        and all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in integers),
        "row {!r}: ({}) expected, with integers from axis to block".format(
            r, ", ".join(FIELDS[:6])
        ),
    )
    values: list[Any] = [v if isinstance(v, str) else int(v) for v in r]
    return Row(*values)


def rows(groups: Any, shapes: Shapes) -> tuple[list[Row], dict[str, int]]:
    """Checks groups against a network and expands them to rows.

        shapes = {k: v.shape for k, v in net.state_dict().items()}
        rows, sizes = mcz.groups.rows("groups.tsv", shapes)

    groups  a dictionary, a list of rows, the path of a group file, or the result of
            mcz.torch.groups.
    shapes  {tensor: shape} of the network.

    Returns (list of Row, {group: number of units}). Raises mcz.Error with every row that does not
    fit.
    """
    need(
        not isinstance(groups, str) or "\n" not in groups,
        "a path expected, got the text of a group file (write it to a file)",
    )
    _check_shapes(getattr(groups, "shapes", {}), shapes)
    if isinstance(groups, (str, os.PathLike)):
        groups = read(groups)
    problems: list[str] = []
    declared = _declared(groups, shapes, problems) if isinstance(groups, Mapping) else groups
    found = [_row(r) for r in declared]
    sizes: dict[str, int] = {}
    counted: dict[str, dict[int, int]] = {}  # the parts of each axis
    for r in found:
        problem = _problem(r, shapes, sizes, counted)
        if problem:
            problems.append(f'group "{r.group}": {problem}')
    if not problems:
        problems = [
            f'group "{r.group}": moves entries of "{r.tensor}" between its {parts} parts'
            for r in found
            for axis, parts in counted[r.tensor].items()
            if parts > 1 and r.axis in (0, axis) and _leaves_parts(r, shapes[r.tensor], parts)
        ]
    if not problems:
        problems = [
            f'group "{r.group}": overlaps another row on axis {r.axis} of "{r.tensor}"'
            for r in direct_places(found, shapes)[1]
        ]
    if problems:
        raise Error("; ".join(dict.fromkeys(problems)))
    need(found, "no groups: nothing can be permuted")
    need(len(sizes) <= MAX_GROUPS, f"more than {MAX_GROUPS} groups")
    check_units(found, shapes, sizes)
    placed = nested(found, shapes)
    _check_allows(placed)
    for r, own in zip(found, placed):
        need(
            r == own or r.within not in sizes,
            'group "{}": its rows in "{}" are {}, against within and unit'.format(
                r.group,
                r.tensor,
                f'in unit {own.unit} of "{own.within}"' if own.within else "not in a unit",
            ),
        )
    return placed, sizes


def _check_allows(found: Sequence[Row]) -> None:
    """Raises Error unless each group allows one kind of maps that it can have, or signs in some
    rows."""
    kinds = allows_of(found)
    for r in found:
        need(r.allows in ALLOWS, f'group "{r.group}": allows is one of {", ".join(ALLOWS)}')
        plain = kinds[r.group] == "signed" and r.allows == "permutation" and not r.within
        need(
            plain or r.allows == kinds[r.group],
            f'group "{r.group}": allows {kinds[r.group]} and {r.allows}',
        )
        need(
            r.allows not in PAIRS or r.count % 2 == 0,
            f'group "{r.group}": {r.allows} requires an even number of units (got {r.count})',
        )
        need(
            not r.within or kinds.get(r.within, "permutation") == "permutation",
            f'group "{r.within}" allows {kinds.get(r.within)}, but contains group "{r.group}"',
        )


def nested(found: Sequence[Row], shapes: Shapes) -> list[Row]:
    """The rows of rows() with the group and the unit within which each is."""
    parents = nesting(found, shapes)
    return [r._replace(within=w, unit=u) for r in found for w, u in [parents.get(r.group, ("", 0))]]


def _check_shapes(expected: Shapes, shapes: Shapes) -> None:
    """Raises Error if groups were derived for a network with other shapes."""
    wrong = [
        f"{k}: {v} expected, got {tuple(shapes[k])}"
        for k, v in expected.items()
        if k in shapes and tuple(shapes[k]) != v
    ]
    some = "; ".join(wrong[:3] + ["..."] * (len(wrong) > 3))
    need(not wrong, f"the groups are of a network with other shapes ({some})")


def _problem(
    r: Row, shapes: Shapes, sizes: dict[str, int], counted: dict[str, dict[int, int]]
) -> str:
    """The reason why a row does not fit the network, or "". Adds the row to sizes and counted."""
    shape = tuple(shapes.get(r.tensor, ()))
    length = shape[r.axis] * r.parts if 0 <= r.axis < len(shape) and 0 not in shape else 0
    parts = counted.setdefault(r.tensor, {}).setdefault(r.axis, r.parts)
    axis = f'axis {r.axis} of "{r.tensor}"'
    if not NAME.fullmatch(r.group):
        return "a name must be 1 to 119 printable ASCII characters without spaces"
    if r.tensor not in shapes:
        return f'unknown tensor "{r.tensor}"'
    if r.tensor.startswith("#") or any(c in r.tensor for c in "\0\t\n"):
        return f'"{r.tensor}" is not a name that group files can hold'
    if r.parts != 1 and (r.axis < 1 or r.parts < 2 or not length or shape[0] % r.parts):
        return f"{axis}, of shape {shape}, cannot be counted over {r.parts} parts"
    if parts != r.parts:
        return f"{axis} must be counted over the same parts in all rows"
    if r.count < 2 or r.block < 1 or r.offset < 0 or end_of(r) > length:
        units = f"{r.count} units at indices {r.offset} to {end_of(r) - 1}"
        return f"{units} do not fit {axis}, of shape {shape}"
    if sizes.setdefault(r.group, r.count) != r.count:
        return f'{sizes[r.group]} units expected in "{r.tensor}", got {r.count}'
    return ""


def gather(
    length: int, rows: Iterable[Row], permutation: Mapping[str, ArrayLike]
) -> NDArray[np.intp]:
    """The old index of each new index of an axis, for the rows on it.

        row = mcz.groups.Row("fc.weight", 0, 0, 2, 2, "g")
        order = mcz.groups.gather(4, [row], {"g": [1, 0]})       # 2, 3, 0, 1

    length       the length of the axis, over all parts.
    rows         the rows on this axis of one tensor.
    permutation  {group: integers (K)}: the new unit i is the old unit p[i].

    Returns integers (length). Reshaped to (parts, length / parts), they have part k's indices in
    row k, from k * length / parts. Does not check the rows."""
    index = np.arange(length)
    for r in sorted(rows, key=lambda r: r.block):
        part = slice(r.offset, r.offset + r.count * r.block)
        index[part] = (
            index[part].reshape(r.count, r.block)[np.asarray(permutation[r.group])].reshape(-1)
        )
    return index

# SPDX-License-Identifier: Apache-2.0
"""The rows of groups, and groups within the units of others. mcz.groups has the public names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .errors import need


class Row(NamedTuple):
    """One axis of one tensor on which a group has units: count units of `block` indices from index
    `offset`.

        mcz.groups.Row("fc1.weight", axis=0, offset=0, count=64, block=1, group="hidden")

    tensor  its name in the state_dict
    axis    from 0
    offset  the group's first index on that axis
    count   its number of units, the same in all rows of the group
    block   indices per unit
    group   the group's name
    parts   1; G if the axis is counted over the G parts of axis 0 (grouped convolutions, mixtures
            of experts)
    within  the group in whose unit `unit` this group is, or "" (rows() finds both)
    allows  the maps of its units: "permutation", "signed" (also with signs), "rotation" (of each
            pair of units i and i + count / 2), "half-turn" (a sign of each such pair),
            "orthogonal", or "centred" (orthogonal, and fixes the vector of ones). In a group that
            allows signs, "permutation" marks a row that moves without them"""

    tensor: str
    axis: int
    offset: int
    count: int  # type: ignore[assignment]  # tuple.count is not needed
    block: int
    group: str
    parts: int = 1
    within: str = ""
    unit: int = 0
    allows: str = "permutation"


ALLOWS = "permutation", "signed", "rotation", "half-turn", "orthogonal", "centred"
PAIRS = "rotation", "half-turn"  # of pairs of units that stay in place
Shapes = Mapping[str, Sequence[int]]
Place = tuple[Row, Row | None, int, int]  # row, row around it, its unit, offset in the unit


def allows_of(found: Iterable[Row]) -> dict[str, str]:
    """{group: the maps that it allows}: those of a row that allows more than permutations."""
    return {r.group: r.allows for r in sorted(found, key=lambda r: r.allows != "permutation")}


def end_of(row: Row) -> int:
    """The index after the last unit of a row."""
    return row.offset + row.count * row.block


def _width(r: Row, shapes: Shapes) -> int:
    """The indices per part of a row's axis; 1 if it is not counted over parts."""
    return shapes[r.tensor][r.axis] if r.parts > 1 else 1


def direct_places(found: Iterable[Row], shapes: Shapes) -> tuple[dict[Row, Place], list[Row]]:
    """({row: (row, innermost row around it, unit, offset in the unit)}, [row that overlaps
    another])."""
    direct: dict[Row, Place] = {}
    overlaps: list[Row] = []
    # the rows around the current one: on whole axes, on axes of parts
    outer: list[Row] = []
    inner: list[Row] = []

    def whole(r: Row) -> tuple[int, int]:
        size = shapes[r.tensor][0] // r.parts
        first = r.offset // _width(r, shapes) * size
        return (first, first + size) if r.parts > 1 else (r.offset, end_of(r))

    def around(rows: list[Row], r: Row, axis: int, first: int) -> Row | None:
        while rows and (
            (rows[-1].tensor, rows[-1].axis) != (r.tensor, axis) or end_of(rows[-1]) <= first
        ):
            rows.pop()
        return rows[-1] if rows else None

    for r in sorted(
        found,
        key=lambda r: (
            r.tensor,
            r.axis if r.parts == 1 else 0,
            whole(r)[0],
            -whole(r)[1],
            -r.axis,
            r.offset,
            -r.count * r.block,
            -r.block,
        ),
    ):
        rows, first, scale = (inner if r.parts > 1 else outer), r.offset, 1
        up = own = around(rows, r, r.axis, first)
        if r.parts > 1 and not up:
            first, scale = whole(r)[0], _width(r, shapes)
            up = around(outer, r, 0, first)
        unit, offset = divmod(first - up.offset, up.block) if up else (0, 0)
        if own and (offset + r.count * r.block > own.block or r.group == own.group):
            overlaps.append(r)
            continue
        direct[r] = r, up, unit, offset * scale + (r.offset % scale if up else 0)
        rows.append(r)
    return direct, overlaps


def places(found: Iterable[Row], shapes: Shapes) -> list[Place]:
    """The place of each row within another: a list of (row, outer row, unit, offset in the unit),
    or (row, None, 0, 0). Rows that contain a group at the same places in all their units are
    skipped. If only the row's axis is counted over parts, each index of the outer row counts as the
    row's indices per part. The rows must not overlap otherwise."""
    direct = direct_places(found, shapes)[0]
    of: dict[str, list[Place]] = {}
    result: list[Place] = []
    for r in found:
        of.setdefault(r.group, []).append(direct[r])
    while of:
        for group, at in list(of.items()):
            units: dict[Row | None, dict[int, list[tuple[int, int, int]]]] = {}
            of[group] = []
            for p in at:
                units.setdefault(p[1], {}).setdefault(p[2], []).append(
                    (p[0].axis, p[3], p[0].block)
                )
            tied = {
                up
                for up, v in units.items()
                if up and len(v) == up.count and all(sorted(w) == sorted(v[0]) for w in v.values())
            }
            if not tied:
                result += at
                del of[group]
                continue
            for r, up, unit, offset in at:
                if up is not None and up in tied:
                    scale = _width(r, shapes) if up.parts != r.parts else 1
                    offset += (unit * up.block + direct[up][3]) * scale
                    up, unit = direct[up][1:3]
                of[group].append((r, up, unit, offset))
    return result


def nesting(found: Iterable[Row], shapes: Shapes) -> dict[str, tuple[str, int]]:
    """The groups within a unit of another, such as the channels of a head.

        shapes = {k: v.shape for k, v in net.state_dict().items()}
        mcz.groups.nesting(mcz.groups.rows(groups, shapes)[0], shapes)

    found   the rows of rows().
    shapes  {tensor: shape} of the network.

    Returns {group: (outer group, unit)}. Raises mcz.Error if a group's rows are within different
    units."""
    return _parents(places(found, shapes))


def _parents(placed: Iterable[Place]) -> dict[str, tuple[str, int]]:
    """The result of nesting() for the result of places()."""
    parents: dict[str, tuple[str, int] | None] = {}
    for r, up, unit, _ in placed:
        parent = (up.group, unit) if up else None
        need(
            parents.setdefault(r.group, parent) == parent,
            f'group "{r.group}" is not within the same unit in all its rows',
        )
    return {g: parent for g, parent in parents.items() if parent}


def check_units(found: Iterable[Row], shapes: Shapes, sizes: Mapping[str, int]) -> None:
    """Raises Error unless the units of each group contain equal groups, in the same places and the
    same order."""
    placed, slot = places(found, shapes), {}
    own: dict[str, list[Place]] = {g: [] for g in sizes}
    parents = _parents(placed)
    for p in placed:
        own[p[0].group].append(p)
    units_of: dict[str, list[list[str]]] = {
        up: [[] for _ in range(sizes[up])] for up in {up for up, _ in parents.values()}
    }
    for g in filter(parents.get, sizes):
        up, unit = parents[g]
        slot[g] = len(units_of[up][unit])
        units_of[up][unit].append(g)
    for g, units in units_of.items():
        need(len(set(map(len, units))) == 1, f'the units of group "{g}" contain different groups')

    def depth(g: str) -> int:
        return 1 + depth(parents[g][0]) if g in parents else 0

    ordered = sorted(sizes, key=depth)
    first: dict[str, str] = {}  # the equal group in the first units
    forms: dict[str, Any] = {}  # what must be equal
    rank: dict[Row, int] = {}  # a row's number in its group
    for g in ordered:
        own[g].sort(key=lambda p: (rank[p[1]], p[0].axis, p[3]) if p[1] else tuple(p[0]))
        rank.update((p[0], i) for i, p in enumerate(own[g]))
        rows = [(p[1] and rank[p[1]], p[0].axis, p[3], p[0].count, p[0].block) for p in own[g]]
        forms[g] = len(units_of.get(g, [[]])[0]), rows
    for g in ordered:
        up = parents[g][0] if g in parents else ""
        first[g] = units_of[first[up]][0][slot[g]] if up else g
        need(
            not up or forms[g] == forms[first[g]],
            f'group "{g}" does not match its counterpart in the first unit of "{up}"',
        )

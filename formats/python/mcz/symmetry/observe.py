# SPDX-License-Identifier: Apache-2.0
"""Where the units of derived groups are seen, and their activations there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from . import capture
from .axes import Atom, Axis, Names, Product, at, atoms, elements, outer, terms
from .interpret import Interpretation, flat
from .rules import Value

TAPS = 8  # values per group, spread evenly over the network's depth


class Tap:
    """A value in which a group's units are seen. index: its number among the outputs of its node.
    axes: its axes, in the unit given by `unit` of an unrolled atom, {atom: number}. around: the
    atom that it shows instead of the units within it, such as a router's experts instead of their
    hidden units, which no value shows. entries: instead of axes, the places of the units on the
    last axis (units of the enclosing group, rows, units); the mean over rows is shown. lengths:
    the rows are the units, each seen by the lengths of its pairs i and i + n / 2."""

    def __init__(
        self,
        node: str,
        index: int,
        axes: Sequence[Axis],
        unit: Mapping[Atom, int],
        around: Atom | None = None,
        entries: torch.Tensor | None = None,
        lengths: bool = False,
    ) -> None:
        self.node, self.index, self.axes, self.unit, self.around = node, index, axes, unit, around
        self.entries, self.lengths = entries, lengths

    def __str__(self) -> str:
        return self.node


def taps(run: Interpretation, names: Names, sizes: Mapping[str, int]) -> dict[str, list[Tap]]:
    """{group: [Tap...]}: the values that layers read in which a group's units are seen, or if there
    are none, others. Groups that enclose others and groups in another unit than the first have
    none."""
    top = {
        v: (node, i)
        for node, own in run.values[0].items()
        for i, v in enumerate(flat(own))
        if v.node == node
    }
    read, all_values = (
        _shown(values, top)
        for values in (dict.fromkeys(v.origin for v in run.observed), run.activations())
    )
    found, enclosing = (
        {},
        {q for (_, unit), name in names.items() if name in sizes for q, _ in unit if not q.fixed},
    )
    for (atom, unit), name in names.items():
        if name not in sizes or atom in enclosing or any(i for q, i in unit if not q.fixed):
            continue
        own = (
            read.get(atom)
            or all_values.get(atom)
            or _in_units(all_values, atom)
            or [
                Tap(t.node, t.index, t.axes, t.unit, q)
                for q in atom.varies
                if not q.fixed
                for t in read.get(q) or all_values.get(q) or []
            ]
        )
        own = [t for t in own if not _foreign(t, atom)] or own
        found[name] = [own[i * len(own) // min(TAPS, len(own))] for i in range(min(TAPS, len(own)))]
    return found


def _shown(values: Iterable[Value], top: Mapping[Value, tuple[str, int]]) -> dict[Atom, list[Tap]]:
    """{atom: [Tap...]} of the atoms that values show: with each atom that they vary with, and with
    all inputs apart."""
    shown: dict[Atom, list[Tap]] = {}
    for v in dict.fromkeys(v for v in values if v in top):
        if any(
            p.size >= capture.BATCH and not all(a.fixed for a in atoms(p))
            for e in v.axes
            for p in elements(e)
        ):
            continue
        own, tap = dict.fromkeys(a for e in v.axes for a in atoms(e)), Tap(*top[v], v.axes, {})
        for a in own:
            if a.unrolled or (not a.fixed and all(q in own for q in outer(a))):
                shown.setdefault(a, []).append(tap)
    return shown


def _in_units(shown: Mapping[Atom, Sequence[Tap]], atom: Atom) -> list[Tap]:
    """The taps that show an atom only in one unit of an unrolled atom, such as the last state of
    one of several layers."""
    return [
        Tap(t.node, t.index, axes, {p: i})
        for p, own in shown.items()
        if p.unrolled
        for t in own
        for i in range(p.size)
        for axes in [[at(e, p, i) for e in t.axes]]
        if any(atom in set(atoms(e)) for e in axes)
    ]


def _foreign(v: Tap, atom: Atom) -> bool:
    """True if the samples of a value are units of another group, whose order may differ between two
    networks."""
    own = {atom, *atom.varies}
    for e in v.axes:
        with_atom = [t for t in terms(e) if atom in set(atoms(t))]
        if any(not a.fixed and a not in own for t in with_atom[:1] or [e] for a in atoms(t)):
            return True
    return False


def _grid(e: Axis, atom: Atom, n: int) -> tuple[NDArray[np.intp], list[Atom]]:
    """The positions on an axis as an array with one dimension per atom, and these atoms. Of several
    segments, the first with this atom is used."""
    for t in (own := terms(e)):
        if atom in set(atoms(t)):
            break
    else:
        t = own[0]
    offset = 0
    for s in own[: own.index(t)]:
        offset += capture.size_at(s.size, n)
    parts = elements(t)
    if not parts:
        return np.array(offset), []
    p, rest = cast(Atom, parts[0]), Product(parts[1:])  # no segment starts with a Sum
    step = capture.size_at(rest.size, n)
    if p.unrolled and p is not atom and atom not in set(atoms(rest)):
        i = next((i for i in range(p.size) if atom in set(atoms(at(rest, p, i)))), 0)
        inside, labels = _grid(at(rest, p, i), atom, n)
        return offset + i * step + inside, labels
    inside, labels = _grid(rest, atom, n)
    size = capture.size_at(p.size, n)
    return offset + np.arange(size).reshape(-1, *[1] * inside.ndim) * step + inside, [p, *labels]


def units(x: torch.Tensor, tap: Tap, atom: Atom, unit: Mapping[Atom, int | None]) -> torch.Tensor:
    """The activations x of a value as (samples, units) in float64. unit: {outer atom: index}; if
    the outer atom is free, the units are those of all its units, one after another.

    Units of other groups are not samples, because their order may differ between two networks: the
    mean over them is."""
    if tap.around:
        return units(
            x, Tap(tap.node, tap.index, tap.axes, tap.unit), tap.around, {}
        ).repeat_interleave(atom.size, 1)
    n = next(
        (s * capture.BATCH // e.size for s, e in zip(x.shape, tap.axes) if e.size >= capture.BATCH),
        1,
    )
    labels: list[Axis | None] = []
    unit = {**unit, **tap.unit}
    for e in tap.axes:
        k, inside = len(labels), set(atoms(e))
        outers = [q for q in unit if q in inside]
        if atom not in inside and not outers:
            parts = elements(e)
            x = _split_axis(x, k, [capture.size_at(p.size, n) for p in parts])
            labels += [None if all(a.fixed for a in atoms(p)) else p for p in parts] or [None]
            continue
        grid, own = _grid(e, atom if atom in inside else outers[0], n)
        places = torch.from_numpy(grid.reshape(-1)).to(x.device)
        x = _split_axis(x.index_select(k, places), k, grid.shape)
        labels += [None if q.fixed and q not in unit else q for q in own] or [None]
    for q, i in unit.items():
        if q.fixed and q in labels and i is not None:
            k = labels.index(q)
            x, labels = x.select(k, i), labels[:k] + labels[k + 1 :]
    last = [labels.index(q) for q in [*(q for q in unit if not q.fixed and q in labels), atom]]
    others = [k for k in range(x.dim()) if k not in last]
    x = x.permute(*others, *last).flatten(len(others)).double()
    foreign = [i for i, k in enumerate(others) if labels[k] is not None]
    return (x.mean(foreign) if foreign else x).reshape(-1, x.shape[-1])


def channels(x: torch.Tensor, entries: torch.Tensor, lengths: bool) -> torch.Tensor:
    """The activations x of a tap with entries, as units() returns them."""
    own = x.double()[..., entries]
    if lengths:
        own = own.reshape(*own.shape[:-1], 2, -1).norm(dim=-2).flatten(-3, -2).mT
    else:
        own = own.mean(-2).flatten(-2)
    return own.reshape(-1, own.shape[-1])


def _split_axis(x: torch.Tensor, k: int, sizes: Sequence[int]) -> torch.Tensor:
    """The tensor with axis k split into axes of these sizes; no sizes: one axis."""
    return x.reshape(*x.shape[:k], *(sizes or (1,)), *x.shape[k + 1 :])

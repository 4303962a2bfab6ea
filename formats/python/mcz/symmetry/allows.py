# SPDX-License-Identifier: Apache-2.0
"""Maps that each group of a network allows, and the reason why it allows no more."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import torch

from ..groups import Row
from . import capture
from .axes import Atom, Names
from .calls import Call, Node, Program
from .flow import Stream
from .interpret import Interpretation
from .maps import LINEAR, NONE, Kinds, is_uniform, kinds
from .rules.kinds import NORMS

HALVES = 14  # rows of a group of which all splits are tried
NEAR = 8  # roundings by which a canonical network may differ from the exact one


def gains_of(call: Call) -> list[Node]:
    """The constants by which an operation multiplies the entries of an axis."""
    if call.kind in NORMS:
        own = call.args.get("weight")
        return [] if own is None else [own]
    if call.name != "mul" or call.node in call.program.constants:
        return []
    return [n for n in call.nodes if n in call.program.constants and call.program.gain(n)]


def places_of(row: Row) -> torch.Tensor:
    """The places on its axis of a row's units: (units, block)."""
    return row.offset + torch.arange(row.count * row.block).reshape(row.count, row.block)


def unfolded(tensor: torch.Tensor, row: Row) -> torch.Tensor:
    """The entries of a row's units: (units, others)."""
    own = tensor.detach().double().movedim(row.axis, 0)
    return own[places_of(row).flatten().to(own.device)].reshape(row.count, -1)


class Allowances:
    """The maps that the operations of a network allow along each atom.

    programs   the recorded programs
    kinds      {atom: Kinds}
    reasons    {atom: {kind: the first operation that does not commute with it}}
    gains      {parameter} whose numbers along an axis are all equal, so that they are one factor"""

    def __init__(self, run: Interpretation, names: Names) -> None:
        self.names, self.run = names, run
        self.programs = [Program(self.run, i) for i in range(len(self.run.values))]
        self.kinds: dict[Atom, Kinds] = {}
        self.reasons: dict[Atom, dict[str, str]] = {}
        self.gains: set[str] = set()
        for program in self.programs:
            for call in program.calls:
                self._add(program, call)
            for name in program.written:
                for v in [v for n in program.nodes if n.name == name for v in program.values_of(n)]:
                    for a in set().union(*program.atoms_of(v)):
                        self._limit(a, NONE, "a buffer")

    def _add(self, program: Program, call: Call) -> None:
        found = {
            a: None
            for v in [*call.inputs, *call.outputs]
            for s in program.atoms_of(v)
            for a in sorted(s, key=lambda a: a.size)
        }
        for a in found:
            self._limit(a, kinds(call, a), self._reason(program, call, a))
        for node in gains_of(call):
            own = program.gain(node)
            atoms = {a for v in program.values_of(node) for s in program.atoms_of(v) for a in s}
            if own and atoms and all(is_uniform(call, node, a) for a in atoms):
                self.gains.add(own[0])

    def _limit(self, a: Atom, own: Kinds, reason: str) -> None:
        for kind in LINEAR - own:
            self.reasons.setdefault(a, {}).setdefault(kind, reason)
        self.kinds[a] = self.kinds.get(a, LINEAR) & own

    def _reason(self, program: Program, call: Call, a: Atom) -> str:
        for node in gains_of(call):
            own = program.gain(node)
            mine = any(call.has(v, a) for v in program.values_of(node))
            if own and mine and not is_uniform(call, node, a):
                return f"gain {own[0]}"
        where = capture.place(call.node)
        return call.name + (f" in {where}" if where else "")

    def of(self, a: Atom) -> Kinds:
        """The maps that an atom allows: none but permutations for one whose order depends on data,
        or with which others vary."""
        around = any(q is a for _, unit in self.names for q, _ in unit)
        return NONE if a.data or around or a.fixed else self.kinds.get(a, NONE)

    def writers(self, a: Atom, rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
        """The rows of an atom in parameters that write a stream, if only layer norms read it, and
        those in parameters that read what the norms return with a mean of 0."""
        streams = [Stream(p, a) for p in self.programs]
        read = {k for s in streams for k in s.read}
        fed = {k for k in read if all(s.read.get(k, True) for s in streams)}
        vectors, owners = {v for s in streams for v in s.vectors}, self.run.owners
        if not all(s.only_norms for s in streams):
            return [], []
        own = [r for r in rows if owners[r.tensor] not in vectors | self.gains]
        places = [(owners[r.tensor], r.axis) for r in own]
        return (
            [r for r, p in zip(own, places) if p not in read],
            [r for r, p in zip(own, places) if p in fed],
        )


def grouped(rows: Iterable[Row], owners: dict[str, str]) -> dict[str, list[Row]]:
    """{group: rows}, of each tensor once."""
    found: dict[str, list[Row]] = {}
    for r in rows:
        if owners[r.tensor] == r.tensor:
            found.setdefault(r.group, []).append(r)
    return found


def is_balanced(rows: Sequence[Row], state: dict[str, torch.Tensor]) -> bool:
    """True if the rows of a product have two halves L and R with L L^T = R R^T. Orthogonal maps of
    the units keep that."""
    if not 1 < len(rows) <= HALVES:
        return False
    own = torch.stack([w @ w.T for w in (unfolded(state[r.tensor], r) for r in rows)])
    eps = max(torch.finfo(state[r.tensor].dtype).eps for r in rows)
    limit = NEAR * eps * own.sum(0).norm()
    signs = torch.tensor(list(itertools.product((1.0, -1.0), repeat=len(rows) - 1)))
    splits = torch.cat([torch.ones(len(signs), 1), signs], 1).to(own)
    traces = splits @ own.diagonal(dim1=1, dim2=2).sum(1)
    near = splits[traces.abs() <= limit * own.shape[1] ** 0.5]
    return any(bool((s @ own.flatten(1)).norm() <= limit) for s in near)


def is_centred(rows: Iterable[Row], state: dict[str, torch.Tensor]) -> bool:
    """True if the entries of a stream have a mean of 0 in all tensors that write it."""
    for r in rows:
        own = unfolded(state[r.tensor], r)
        eps = torch.finfo(state[r.tensor].dtype).eps
        if own.sum(0).norm() > NEAR * eps * own.norm():
            return False
    return True


def allowed(
    run: Interpretation, names: Names, rows: Sequence[Row]
) -> tuple[dict[str, str], dict[str, str], set[str]]:
    """({group: allows}, {group: the reason why it allows no more}, parameters that are constant
    under these maps). A network that canonical() would change allows permutations only."""
    found = Allowances(run, names)
    own = grouped(rows, found.run.owners)
    atoms = {name: atom for (atom, _), name in names.items() if name in own}
    allows, reasons = {}, {}
    state = found.run.state
    for name, a in atoms.items():
        base = found.of(a)
        kind = next((k for k in ("orthogonal", "centred", "signed") if k in base), "permutation")
        if any(r.parts > 1 for r in own[name]):
            kind = "permutation"
        why = found.reasons.get(a, {})
        less = "orthogonal" if kind in ("centred", "orthogonal") else "centred"
        reasons[name] = why.get(less) or ("" if kind == "orthogonal" else "groups within its units")
        allows[name] = kind
    products = [
        is_balanced(own[name], state)
        for name, a in atoms.items()
        if "invertible" in found.of(a) and allows[name] == "orthogonal"
    ]
    streams = [
        is_centred(writers, state)
        for name, a in atoms.items()
        if allows[name] == "centred"
        for writers in [found.writers(a, own[name])[0]]
        if any(bool(state[r.tensor].any()) for r in writers)
    ]
    # without either, a new network with gains of one looks as a canonical one
    if not products + streams or not all(products + streams):
        for name, kind in allows.items():
            if kind != "permutation":
                allows[name], reasons[name] = "permutation", "the network is not canonical"
    return allows, reasons, found.gains

# SPDX-License-Identifier: Apache-2.0
"""Derive the permutation groups of any module: list the axes of its parameters as rows of
groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn
from torch.export import ExportedProgram

from ..errors import need
from ..groups import Row, gather, nested
from ..nn.inputs import form
from ..nn.state import listed
from ..nn.structure import attributes, unequal
from . import capture, observe
from .allows import allowed
from .axes import ONE, Atom, Axis, Product, at, atoms, elements, outer, terms
from .interpret import Interpretation
from .orders import fix, tie
from .rules import Value
from .signs import signed

MAX_NAME = 90  # bytes; formats/exchange/groups.md allows 107 in a name
Unit = dict[Atom, int | None]  # the unit of each outer atom
UNUSED = "not used by these examples"
PARTLY_USED = "partly used by these examples"


def _hold_partly_used(tensors: Mapping[str, Sequence[Axis]], activations: Iterable[Value]) -> None:
    """Fixes axes of which the examples use as many entries as an axis of the input has, such as the
    first positions of a table: longer inputs use more. A part of another length is one that the
    module itself chooses."""
    axes = [e for v in activations for e in v.axes]
    seen = {a for e in axes for a in atoms(e)}
    lengths = {e.size for e in axes if all(a.fixed for a in atoms(e))}
    for e in (e for own in tensors.values() for e in own):
        unused = sum(
            t.size
            for t in terms(e)
            if t.size > 1 and not any(a.fixed or a in seen for a in atoms(t))
        )
        if unused and e.size - unused in lengths:
            fix(e, PARTLY_USED)


def _settle(axes: Sequence[Axis]) -> bool:
    """Ties what rows cannot express. Returns whether anything changed. axes: those of one
    tensor."""
    lead = elements(axes[0])[0] if axes and elements(axes[0]) else None

    def check(e: Axis, k: int, enclosing: frozenset[Atom]) -> bool:
        parts = elements(e)
        if len(terms(e)) > 1:
            return any([check(t, k, enclosing) for t in terms(e)])
        for i, p in enumerate(parts):
            if not isinstance(p, Atom):  # a Sum
                return check(Product(parts[i:]), k, enclosing)
            if p in enclosing and not p.fixed:
                fix(p, "one axis counts its units twice")
                return True
            wrong = [q for q in outer(p) if q not in enclosing and not (k and q is lead)]
            free_outer = [q for q in p.varies if not q.fixed]
            wrong += [q for q in free_outer if any(not r.fixed for r in q.varies)] + free_outer[1:]
            if wrong and not p.fixed:
                for q in wrong:
                    tie(p, q)
                return True
            if p.unrolled and parts[i + 1 :]:
                rest = Product(parts[i + 1 :])
                return any([check(at(rest, p, j), k, enclosing | {p}) for j in range(p.size)])
            enclosing = enclosing | {p}
        return False

    return any([check(e, k, frozenset()) for k, e in enumerate(axes)])


def places(e: Axis, unit: Unit, offset: int = 0) -> Iterator[tuple[int, int, int, Atom, Unit]]:
    """Yields (offset, count, block, atom, unit) of the free atoms of an axis. unit: {atom:
    index}."""
    for t in terms(e):
        p, *inner = elements(t) or [ONE]
        rest = Product(inner)
        if isinstance(p, Atom):
            if not p.fixed:
                yield offset, p.size, rest.size, p, {q: unit.get(q) for q in p.varies}
            if any(not a.fixed for a in atoms(rest)) or (p.unrolled and rest.size > 1):
                for j in range(p.size):
                    own = at(rest, p, j) if p.unrolled else rest
                    yield from places(own, {**unit, p: j}, offset + j * rest.size)
        offset += t.size


def rows_of(axes: Sequence[Axis]) -> Iterator[tuple[int, int, int, int, int, Atom, Unit]]:
    """Yields (axis, parts, offset, count, block, atom, unit) of the free atoms of a tensor."""
    for k, e in enumerate(axes):
        lead = elements(axes[0])[0] if k and elements(axes[0]) else None
        if isinstance(lead, Atom) and any(lead in outer(a) for a in atoms(e)):
            for j in range(lead.size):
                own = at(e, lead, j) if lead.unrolled else e
                for row in places(own, {lead: j}, j * e.size):
                    yield (k, lead.size, *row)
        else:
            for row in places(e, {}):
                yield (k, 1, *row)


class Derivation:
    """The groups of a module and how they were derived. Groups has the public part."""

    def __init__(
        self, net: nn.Module, examples: Sequence[Any], unused: str = "refuse", progress: str = ""
    ) -> None:
        self.examples = [dict(e) if isinstance(e, Mapping) else e for e in examples]
        self.net, self.example = net, self.examples[0]
        self.run = Interpretation(net, self.examples, progress)
        self.made = dict(attributes(net))  # to notice that the network was changed since
        self.shapes = {k: tuple(v.shape) for k, v in self.run.state.items()}
        self.difference = 0.0
        self.names: dict[tuple[Atom, frozenset[tuple[Atom, int | None]]], str] = {}
        self._programs = dict(zip(capture.SIZES, self.run.programs[0]))
        self._by_form: dict[str, Derivation] = {form(self.example): self}
        activations = [v for i in range(len(examples)) for v in self.run.activations(i)]
        _hold_partly_used(self.run.axes, activations)
        while any([_settle(axes) for axes in self.run.axes.values()]):
            pass
        self.aliases: dict[str, list[str]] = {}
        for name, owner in self.run.owners.items():
            self.aliases.setdefault(owner, []).append(name)
        self.fixed = self._unused()
        idle = list(dict.fromkeys(tensor for tensor, *_ in self.fixed))
        given = "these examples" if len(examples) > 1 else "this example"
        need(
            unused == "keep" or not idle,
            f"tensors not used by {given}: {listed(idle)} (give further examples that use them, or "
            'leave them in place with unused="keep")',
        )
        self.rows = self._list_rows()
        self._drop_unseen()
        self.rows = self.arranged(self.rows)
        self.sizes: dict[str, int] = {r.group: r.count for r in self.rows}
        self.allows, self.reasons, gains = allowed(self.run, self.names, self.rows)
        still = signed(self.run, self.names, self.rows, self.allows, gains)
        self.allows.update(dict.fromkeys(still, "signed"))
        self.constant = {
            self.run.owners[r.tensor]
            for r in self.rows
            if self.allows[r.group] != "permutation" and self.run.owners[r.tensor] in gains
        }
        self.rows = [
            r._replace(
                allows="permutation"
                if (self.run.owners[r.tensor], r.axis, r.offset) in still.get(r.group, ())
                else self.allows[r.group]
            )
            for r in self.rows
            if self.allows[r.group] == "permutation"
            or self.run.owners[r.tensor] not in self.constant
        ]
        self.taps = observe.taps(self.run, self.names, self.sizes)

    def arranged(self, rows: Iterable[Row]) -> list[Row]:
        """The rows in the order of the tensors, with the groups around them."""
        order = {name: i for i, name in enumerate(self.run.state)}
        found = sorted(rows, key=lambda r: (order[r.tensor], r.axis, r.offset, -r.block))
        return nested(found, self.shapes)

    def _unused(self) -> list[tuple[str, int, int, int, str]]:
        """The axes of tensors that no example uses, as in `fixed`."""
        run = self.run
        return [
            (name, axis, 0, n, UNUSED)
            for name, t in run.state.items()
            if name == run.owners[name] and name not in run.axes
            if t.is_floating_point() and t.numel() > 1
            for axis, n in enumerate(t.shape)
            if n > 1
        ]

    def _list_rows(self) -> list[Row]:
        """The rows of all free atoms, whose groups get names. Adds to `fixed`."""
        found = []
        for tensor, axes in self.run.axes.items():
            if not self.run.state[tensor].numel():
                continue
            for axis, parts, offset, count, block, atom, unit in rows_of(axes):
                group = self.name(tensor, atom, unit)
                for name in self.aliases[tensor]:
                    found.append(Row(name, axis, offset, count, block, group, parts))
            for axis, e in enumerate(axes):
                self.fixed += [(tensor, axis, *segment) for segment in _fixed(e)]
        return found

    def name(self, tensor: str, atom: Atom, unit: Unit) -> str:
        """The name of the group of an atom in a unit, of which this tensor is the first."""
        key = atom, frozenset(unit.items())
        if key not in self.names:
            module = tensor.rpartition(".")[0] or tensor
            base = "".join(c if "!" <= c <= "~" else "_" for c in module)[-MAX_NAME:]
            if unit:
                base += "/block" + ".".join(map(str, unit.values()))
            elif any(d.value is None and not d.fixed and atom in d.varies for d in atom.dependents):
                base += "/blocks"
            used, name, n = set(self.names.values()), base, 2
            while name in used:
                name, n = f"{base}.{n}", n + 1
            self.names[key] = name
        return self.names[key]

    def _drop_unseen(self) -> None:
        """Drops groups whose order no activation shows: equal entries, such as repeated channels,
        and unused entries."""
        alias = {k: v for v, own in self.aliases.items() for k in own}
        seen = {a for v in self.run.activations() for e in v.axes for a in atoms(e)}
        axes: dict[str, set[tuple[str, int]]] = {}
        for r in self.rows:
            axes.setdefault(r.group, set()).add((alias[r.tensor], r.axis))
        reads = self.run.read - self.run.written
        unseen = {
            name
            for (atom, _), name in self.names.items()
            if axes[name] <= reads or (len(axes[name]) == 1 and atom not in seen)
        }
        self.rows = [r for r in self.rows if r.group not in unseen]

    def own_maps(self, e: Axis, maps: Mapping[str, ArrayLike]) -> list[Any]:
        """The maps of the groups on an axis."""
        names = {name for (atom, _), name in self.names.items() if atom in set(atoms(e))}
        return [maps[g] for g in names if g in maps]

    def order_of(self, e: Axis, permutation: Mapping[str, ArrayLike]) -> NDArray[np.intp]:
        """The old entry of each new entry of an axis."""
        rows = [
            Row("", 0, offset, count, block, self.names[atom, frozenset(unit.items())])
            for offset, count, block, atom, unit in places(e, {})
            if (atom, frozenset(unit.items())) in self.names
        ]
        return gather(e.size, rows, permutation)

    def for_shapes_of(self, batch: Any) -> Derivation:
        """These groups with the taps for inputs of a batch's shapes. Raises Error if the network
        has other groups there."""
        shapes = form(batch)
        if shapes not in self._by_form:
            other = type(self)(self.net, [batch, *self.examples], "keep")
            need(
                other.rows == self.rows
                and all(
                    [t.node for t in own] == [t.node for t in other.taps[g]]
                    for g, own in self.taps.items()
                ),
                f"inputs {shapes} have other groups than the example's (give mcz.torch.groups an "
                "example of this shape too)",
            )
            self._by_form[shapes] = other
        return self._by_form[shapes]

    def program(self, n: int) -> ExportedProgram:
        """The exported program for a batch of n, with the same nodes as that of the example."""
        if n not in self._programs:
            program = capture.export(self.net, self.example, n)
            capture.pairs((self.run.programs[0][0], program))
            self._programs[n] = program
        return self._programs[n]

    def difference_of(self, net: nn.Module) -> str:
        """A difference between another network and that of the groups, on the examples: its first
        other operation, or constants that it reads from attributes and buffers outside the
        state_dict; or ""."""
        kinds = {v.dtype for v in net.parameters() if v.is_floating_point()}
        for example, programs in zip(self.examples, self.run.programs):
            if len(kinds) == 1:  # a network in bfloat16 reads bfloat16
                example = torch.utils._pytree.tree_map(
                    lambda v: (
                        v.to(next(iter(kinds)))
                        if isinstance(v, torch.Tensor) and v.is_floating_point()
                        else v
                    ),
                    example,
                )
            program = capture.export(net, example, capture.SIZES[0])
            other = capture.different(programs[0], program)
            if other:
                return "they run " + other
            others = unequal(
                *(capture.constants(p, self.run.owners) for p in (programs[0], program))
            )
            if others:
                return f"tensors outside the state_dict differ ({listed(others)})"
        return ""


def _fixed(e: Axis, offset: int = 0) -> Iterator[tuple[int, int, str]]:
    """Yields (offset, length, reason) of the segments of an axis whose entries all stay in
    place."""
    for t in terms(e):
        if t.size > 1 and all(a.fixed for a in atoms(t)):
            yield offset, t.size, next(atoms(t)).fixed or ""
        offset += t.size

# SPDX-License-Identifier: Apache-2.0
"""Derive the permutation groups of any module: list the axes of its parameters as rows of
groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from ..errors import need
from ..evaluate import form
from ..files import Path
from ..groups import Row, gather, nesting, write
from ..state import listed
from ..structure import attributes, unequal
from . import capture, observe
from .axes import ONE, Product, Sum, at, atoms, elements, fix, outer, terms, tie
from .interpret import Interpretation

MAX_NAME = 90  # bytes; formats/exchange/groups.md allows 107 in a name
UNUSED = "not used by these examples"
PARTLY_USED = "partly used by these examples"


def _hold_partly_used(tensors, activations):
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


def _settle(axes):
    """Ties what rows cannot express. Returns whether anything changed. axes: those of one
    tensor."""
    lead = elements(axes[0])[0] if axes and elements(axes[0]) else None

    def check(e, k, enclosing):
        parts = elements(e)
        if len(terms(e)) > 1:
            return any([check(t, k, enclosing) for t in terms(e)])
        for i, p in enumerate(parts):
            if isinstance(p, Sum):
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


def places(e, unit, offset=0):
    """Yields (offset, count, block, atom, unit) of the free atoms of an axis. unit: {atom:
    index}."""
    for t in terms(e):
        p, *rest = elements(t) or [ONE]
        rest = Product(rest)
        if p is not ONE and not p.fixed:
            yield offset, p.size, rest.size, p, {q: unit.get(q) for q in p.varies}
        if any(not a.fixed for a in atoms(rest)) or (p is not ONE and p.unrolled and rest.size > 1):
            for j in range(p.size):
                yield from places(
                    at(rest, p, j) if p.unrolled else rest, {**unit, p: j}, offset + j * rest.size
                )
        offset += t.size


def rows_of(axes):
    """Yields (axis, parts, offset, count, block, atom, unit) of the free atoms of a tensor."""
    for k, e in enumerate(axes):
        lead = elements(axes[0])[0] if k and elements(axes[0]) else None
        if lead is not None and any(lead in outer(a) for a in atoms(e)):
            for j in range(lead.size):
                for offset, *row in places(
                    at(e, lead, j) if lead.unrolled else e, {lead: j}, j * e.size
                ):
                    yield (k, lead.size, offset, *row)
        else:
            for row in places(e, {}):
                yield (k, 1, *row)


class Groups:
    """The permutation groups of a module, as mcz.torch.groups derives them. Iterates over its rows
    (mcz.groups.Row).

        g = mcz.torch.groups(a, x)
        print(len(g.sizes), [r for r in g if r.tensor == "fc.weight"], g.difference)

    rows        the rows, for mcz.groups.write, mcz.torch.permute and mcz.torch.moments
    sizes       {group: units}
    shapes      {tensor: shape} of the network
    fixed       [(tensor, axis, offset, length, reason)]: the entries of parameters that stay in
                place
    taps        {group: values that show its units}, for mcz.torch.moments. At most eight per group
    difference  the largest relative difference of outputs when the check permuted random networks

    It refers to the network, whose graph it records again for other numbers of inputs."""

    def __init__(
        self, net: nn.Module, examples: Sequence[Any], unused: str = "refuse", progress: str = ""
    ) -> None:
        self.examples = [dict(e) if isinstance(e, Mapping) else e for e in examples]
        self.run, self.net, self.example = (
            Interpretation(net, self.examples, progress),
            net,
            self.examples[0],
        )
        self.made = dict(attributes(net))  # to notice that the network was changed since
        self.shapes = {k: tuple(v.shape) for k, v in self.run.state.items()}
        self.difference: float | None = None
        self.names: dict[Any, str] = {}  # {(atom, {(outer atom, unit)}): group}
        self.rows: list[Row] = []
        self.fixed: list[tuple[str, int, int, int, str]] = []
        self._programs = dict(zip(capture.SIZES, self.run.programs[0]))
        self._shapes = {form(self.example): self}
        tensors, self.aliases = self.run.axes, {}  # type: Any, dict[str, list[str]]
        _hold_partly_used(
            tensors, [v for i in range(len(examples)) for v in self.run.activations(i)]
        )
        while any([_settle(axes) for axes in tensors.values()]):
            pass
        for name, t in self.run.state.items():
            self.aliases.setdefault(self.run.owners[name], []).append(name)
            if (
                name == self.run.owners[name]
                and name not in tensors
                and t.is_floating_point()
                and t.numel() > 1
            ):
                self.fixed += [
                    (name, axis, 0, n, UNUSED) for axis, n in enumerate(t.shape) if n > 1
                ]
        idle = list(dict.fromkeys(tensor for tensor, *_ in self.fixed))
        given = "these examples" if len(examples) > 1 else "this example"
        need(
            unused == "keep" or not idle,
            f"tensors not used by {given}: {listed(idle)} (give further examples that use them, or "
            "leave them "
            'in place with unused="keep")',
        )
        for tensor, axes in ((k, v) for k, v in tensors.items() if self.run.state[k].numel()):
            for axis, parts, offset, count, block, atom, unit in rows_of(axes):
                group = self._name(tensor, atom, unit)
                self.rows += [
                    Row(name, axis, offset, count, block, group, parts)
                    for name in self.aliases[tensor]
                ]
            for axis, e in enumerate(axes):
                self.fixed += [
                    (tensor, axis, offset, length, reason) for offset, length, reason in _fixed(e)
                ]
        self._drop_unseen()
        order = {name: i for i, name in enumerate(self.run.state)}
        self.rows.sort(key=lambda r: (order[r.tensor], r.axis, r.offset, -r.block))
        self.sizes: dict[str, int] = {r.group: r.count for r in self.rows}
        self.taps: dict[str, list[Any]] = observe.taps(self)

    def _name(self, tensor, atom, unit):
        key = atom, frozenset(unit.items())
        if key not in self.names:
            base = "".join(
                c if "!" <= c <= "~" else "_" for c in tensor.rpartition(".")[0] or tensor
            )[-MAX_NAME:]
            if unit:
                base += "/block" + ".".join(map(str, unit.values()))
            elif any(d.value is None and not d.fixed and atom in d.varies for d in atom.dependents):
                base += "/blocks"
            used, name, n = set(self.names.values()), base, 2
            while name in used:
                name, n = f"{base}.{n}", n + 1
            self.names[key] = name
        return self.names[key]

    def _drop_unseen(self):
        """Drops groups whose order no activation shows: equal entries, such as repeated channels,
        and unused entries."""
        alias = {k: v for v, own in self.aliases.items() for k in own}
        seen = {a for v in self.run.activations() for e in v.axes for a in atoms(e)}
        axes = {}
        for r in self.rows:
            axes.setdefault(r.group, set()).add((alias[r.tensor], r.axis))
        reads = self.run.read - self.run.written
        unseen = {
            name
            for (atom, _), name in self.names.items()
            if axes[name] <= reads or (len(axes[name]) == 1 and atom not in seen)
        }
        self.rows = [r for r in self.rows if r.group not in unseen]

    def _order(self, e, permutation):
        """The old entry of each new entry of an axis."""
        rows = [
            Row("", 0, offset, count, block, self.names[atom, frozenset(unit.items())])
            for offset, count, block, atom, unit in places(e, {})
            if (atom, frozenset(unit.items())) in self.names
        ]
        return gather(e.size, rows, permutation)

    def _for_shapes_of(self, batch: Any) -> Groups:
        """These groups with the taps for inputs of a batch's shapes. Raises Error if the network
        has other groups there."""
        shapes = form(batch)
        if shapes not in self._shapes:
            other = Groups(self.net, [batch, *self.examples], "keep")
            need(
                other.rows == self.rows
                and all(
                    [t.node for t in own] == [t.node for t in other.taps[g]]
                    for g, own in self.taps.items()
                ),
                f"inputs {shapes} have other groups than the example's (give mcz.torch.groups an "
                "example of this shape too)",
            )
            self._shapes[shapes] = other
        return self._shapes[shapes]

    def _program(self, n):
        """The exported program for a batch of n, with the same nodes as that of the example."""
        if n not in self._programs:
            program = capture.export(self.net, self.example, n)
            capture.pairs((self.run.programs[0][0], program))
            self._programs[n] = program
        return self._programs[n]

    def _differences(self, net: nn.Module) -> str:
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

    def write(self, path: Path) -> None:
        """Writes a group file for `mc-convert --groups`.

            g.write("groups.tsv")

        If this raises OSError, `path` is unchanged."""
        write(path, self.rows)

    def report(self) -> str:
        """A table of the groups by size, and of what stays in place and why.

            print(g.report())

        Returns the text. Parameters that are "not used by these examples", such as auxiliary heads,
        stay in place. So permute changes the results of calls that use them."""
        parents = nesting(self.rows, {k: t.shape for k, t in self.run.state.items()})
        found: dict[tuple[int, int], list[str]] = {}
        for g, n in self.sizes.items():
            found.setdefault((n, self.sizes[parents[g][0]] if g in parents else 0), []).append(g)
        lines = [("groups", "units", "first group")]
        for (n, around), names in sorted(found.items(), key=lambda e: (e[0][1], e[0][0])):
            lines.append(
                (str(len(names)), f"{n} in each of {around}" if around else str(n), names[0])
            )
        reasons: dict[str, list[str]] = {}
        for tensor, axis, _, _, reason in self.fixed:
            operation = reason if reason == UNUSED else reason.split(" in ")[0]
            reasons.setdefault(operation, []).append(f"axis {axis} of {tensor}")
        fixed = [("fixed axes", "reason", "first axis")]
        fixed += [(str(len(own)), reason, own[0]) for reason, own in sorted(reasons.items())]
        return "\n".join([*_aligned(lines), "", *_aligned(fixed)])

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        units = sum(self.sizes.values())
        return f"<{len(self.sizes)} groups of {units} units, in {len(self.rows)} rows>"


def _aligned(lines):
    """The lines of a table of three columns, the first of numbers."""
    a, b, _ = (max(map(len, column)) for column in zip(*lines))
    return [f"{x:>{a}}  {y:<{b}}  {z}" for x, y, z in lines]


def _fixed(e, offset=0):
    """Yields (offset, length, reason) of the segments of an axis whose entries all stay in
    place."""
    for t in terms(e):
        if t.size > 1 and all(a.fixed for a in atoms(t)):
            yield offset, t.size, next(atoms(t)).fixed
        offset += t.size

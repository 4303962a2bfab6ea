# SPDX-License-Identifier: Apache-2.0
"""The derived groups of a module."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn

from ..files import Path
from ..groups import Row, write
from .axes import Atom
from .calls import Program
from .derive import UNUSED, Derivation
from .observe import Tap
from .probe import Probe
from .rotary import Attention, Pairs, attentions, blocks_of, candidates, pairs_of, signs_of_pairs


class Groups(Derivation):
    """The permutation groups of a module, as mcz.torch.groups derives them. Iterates over its rows
    (mcz.groups.Row).

        g = mcz.torch.groups(a, x)
        print(len(g.sizes), [r for r in g if r.tensor == "fc.weight"], g.difference)

    rows        the rows, for mcz.groups.write, mcz.torch.permute and mcz.torch.moments
    sizes       {group: units}
    allows      {group: "permutation", or the further maps that it allows (mcz.groups.Row)}: more
                than permutations only in a result of mcz.torch.canonical
    reasons     {group: the operation or gain because of which it allows no more}
    shapes      {tensor: shape} of the network
    fixed       [(tensor, axis, offset, length, reason)]: the entries of parameters that stay in
                place
    taps        {group: values that show its units}, for mcz.torch.moments. At most eight per group
    difference  the largest relative difference of outputs when the check permuted random networks

    It refers to the network, whose graph it records again for other numbers of inputs."""

    def __init__(
        self, net: nn.Module, examples: Sequence[Any], unused: str = "refuse", progress: str = ""
    ) -> None:
        super().__init__(net, examples, unused, progress)
        if set(self.allows.values()) - {"permutation"}:  # canonical
            self._add_rotations()

    def _add_rotations(self) -> None:
        """Adds groups of the channels of a key head, and of the queries that read it, that rotary
        positions turn."""
        found = list(attentions(Program(self.run, 0)))
        if not found:
            return
        probe = Probe(self, {}, self.constant, found)
        # layers may be used more than once
        once = {(a.keys[0], int(a.k.min())): (a, s) for a, s in zip(found, probe.products)}
        layers = self._maps_of_pairs(list(once.values()), probe)
        new = {
            name: (*place, allows)
            for own, blocks, allows in layers
            for name, place in self._named(own, blocks)
        }
        rows = [
            Row(name, 0, start, len(block), 1, group, allows=allows)
            for group, (own, h, block, allows) in new.items()
            for tensors, _, places in own.sides
            for start in places[h, :, block[0]].tolist()
            for tensor in tensors
            for name in self.aliases[tensor]
        ]
        self.rows = self.arranged([*self.rows, *rows])
        nested = {r.group for r in self.rows if r.within}
        for group, (own, h, block, allows) in new.items():
            self.sizes[group], self.allows[group] = len(block), allows
            self.reasons[group] = "rotary positions"
            heads = slice(None) if group in nested else slice(h, h + 1)
            self.taps[group] = [
                Tap(node.name, 0, [], {}, entries=places[heads, :, block])
                for _, node, places in own.sides
            ]
        for own, blocks, _ in layers:
            self._show_queries(own, blocks)
        moving = {(r.tensor, r.offset + i) for r in rows for i in range(r.count)}
        self.fixed = [
            f
            for f in self.fixed
            if f[1] or not moving.issuperset((f[0], f[2] + i) for i in range(f[3]))
        ]

    def _maps_of_pairs(
        self, found: Sequence[tuple[Attention, Sequence[torch.Tensor]]], probe: Probe
    ) -> list[tuple[Attention, list[list[int]], str]]:
        """[(attention, blocks of channels that rotary positions turn, the maps that they allow)]"""
        pairs = [pairs_of(sums) for _, sums in found]
        others = {i: candidates(sums) for i, (_, sums) in enumerate(found) if not pairs[i]}
        # all layers at once first, because each choice of signs runs the network
        halves = [(found[i][0], choices[0]) for i, choices in others.items() if choices]
        together = bool(halves) and self._may_flip(halves, probe)
        for i, choices in others.items():
            own = found[i][0]
            fitting = (p for p in choices if together or self._may_flip([(own, p)], probe))
            pairs[i] = next(fitting, [])
        return [
            (
                own,
                [b for b in blocks_of(own, pairs[i]) if not self._move_inside(own, b)],
                "half-turn" if i in others else "rotation",
            )
            for i, (own, _) in enumerate(found)
        ]

    def _may_flip(self, found: Sequence[tuple[Attention, Pairs]], probe: Probe) -> bool:
        """True if the pairs of these attentions may change their signs."""
        signs = (signs_of_pairs(own, pairs, probe.state) for own, pairs in found)
        return all(
            probe.is_unchanged({k: v for one in own for k, v in one.items()}) for own in zip(*signs)
        )

    def _move_inside(self, own: Attention, block: Sequence[int]) -> bool:
        """True if other groups move channels of a block within a head."""
        for names, _, places in own.sides:
            moving = {
                (r.tensor, r.offset + i)
                for r in self.rows
                if r.tensor in names and r.axis == 0 and r.block < places.shape[-1]
                for i in range(r.count * r.block)
            }
            taken = places[..., list(block)].flatten().tolist()
            if any((name, i) in moving for name in names for i in taken):
                return True
        return False

    def _named(
        self, own: Attention, blocks: Sequence[list[int]]
    ) -> Iterator[tuple[str, tuple[Attention, int, list[int]]]]:
        """Yields a name for each block of channels in each key head, and where it is."""
        for h, (u, block) in itertools.product(range(len(own.k)), enumerate(blocks)):
            units = (len(own.k), h), (len(blocks), u)
            unit: dict[Atom, int | None] = {Atom(n): i for n, i in units if n > 1}
            yield self.name(own.keys[0], Atom(len(block)), unit), (own, h, block)

    def _show_queries(self, own: Attention, blocks: Sequence[Sequence[int]]) -> None:
        """Shows the query heads of a key head by numbers that do not depend on its rotation."""
        halves = zip(*((b[: len(b) // 2], b[len(b) // 2 :]) for b in blocks))
        turned = [i for half in halves for b in half for i in b]
        for r in [r for r in self.rows if blocks and (r.tensor, r.axis) == (own.queries[0], 0)]:
            units = (own.q[..., 0] - r.offset) // r.block  # of each query head
            for h in range(len(own.q)):
                if r.group in self.taps and units[h].tolist() == list(range(r.count)):
                    heads = slice(None) if r.within else slice(h, h + 1)
                    entries = own.q[heads, :, turned]
                    node = own.nodes[0].name
                    self.taps[r.group] = [Tap(node, 0, [], {}, entries=entries, lengths=True)]

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
        parents = {r.group: r.within for r in self.rows if r.within}
        found: dict[tuple[int, int, str], list[str]] = {}
        for g, n in self.sizes.items():
            around, allows = self.sizes[parents[g]] if g in parents else 0, self.allows[g]
            key = around, n, "" if allows == "permutation" else ", " + allows
            found.setdefault(key, []).append(g)
        lines = [("groups", "units", "first group")]
        for (around, n, allows), names in sorted(found.items()):
            units = f"{n} in each of {around}" if around else str(n)
            lines.append((str(len(names)), units + allows, names[0]))
        reasons: dict[str, list[str]] = {}
        for tensor, axis, _, _, reason in self.fixed:
            operation = reason if reason == UNUSED else reason.split(" in ")[0]
            reasons.setdefault(operation, []).append(f"axis {axis} of {tensor}")
        fixed = [("fixed axes", "reason", "first axis")]
        fixed += [(str(len(own)), reason, own[0]) for reason, own in sorted(reasons.items())]
        return "\n".join([*_aligned(lines), "", *self._permuted(), *_aligned(fixed)])

    def _permuted(self) -> list[str]:
        """The lines that say why groups of a canonical network allow permutations only."""
        if set(self.allows.values()) == {"permutation"}:
            return []
        found: dict[str, list[str]] = {}
        for g, allows in self.allows.items():
            if allows == "permutation":
                found.setdefault(self.reasons[g].split(" in ")[0], []).append(g)
        lines = [("groups", "permuted only: read by", "first group")]
        lines += [(str(len(own)), reason, own[0]) for reason, own in sorted(found.items())]
        return [*_aligned(lines), ""]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        units = sum(self.sizes.values())
        return f"<{len(self.sizes)} groups of {units} units, in {len(self.rows)} rows>"


def _aligned(lines: Sequence[tuple[str, str, str]]) -> list[str]:
    """The lines of a table of three columns, the first of numbers."""
    a, b, _ = (max(map(len, column)) for column in zip(*lines))
    return [f"{x:>{a}}  {y:<{b}}  {z}" for x, y, z in lines]

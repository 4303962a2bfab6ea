# SPDX-License-Identifier: Apache-2.0
"""The derived groups of a module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..files import Path
from ..groups import Row, write
from .derive import UNUSED, Derivation


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

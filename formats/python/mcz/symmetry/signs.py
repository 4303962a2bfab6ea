# SPDX-License-Identifier: Apache-2.0
"""Signs that some rows of a group may change while the others stay. The hidden units of SwiGLU are
silu(g) * u. The network stays the same if unit i of u and column i of the next layer change sign,
but not if the gate g does.

Each row of the group has a bit, which is 1 if its units change sign. A product changes sign if one
of its factors does, so the bits of factors are added modulo 2. Here a sum is an integer with a
binary digit per row: for silu(g) * u it is that of u's row. Operations require that some sums are
0, such as that of g. Labels are tensors with the number of a sum for each entry of a value."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from ..groups import Row
from ..nesting import end_of
from .allows import grouped
from .axes import Atom, Names
from .calls import Call, Node, Program
from .interpret import Interpretation
from .maps import RULES, addition, kinds, linear_map, odd
from .rules.kinds import MOVES

Labels = torch.Tensor | None  # None: all sums are 0
Place = tuple[str, int, int]  # tensor, axis, offset of a row
DIMS = "01234567"  # letters for ... in an equation
PLAIN = torch.zeros((), dtype=torch.long)


def small(x: torch.Tensor) -> torch.Tensor:
    """Labels with one entry along the axes to which they were expanded."""
    return x[tuple(slice(0, 1) if s == 0 else slice(None) for s in x.stride())]


def equation(call: Call) -> tuple[str, list[Node], Node | None]:
    """(equation, operands, bias) of an operation that is an einsum plus a bias; "" if it is not."""
    args, nodes = call.args, call.nodes
    if call.name == "linear":
        return "...i,oi->...o", [args["input"], args["weight"]], args.get("bias")
    if call.kind == "convolution":
        own = [args["input"], args["weight"]]
        x, w = (len(n.meta["val"].shape) for n in own)
        if x == w and args.get("groups", 1) == 1 and not args.get("transposed"):
            return "bi...,oi...->bo...", own, args.get("bias")
    if call.kind in ("matmul", "addmm"):
        own = nodes[-2:] if len(nodes) > 1 else nodes * 2
        return "...ij,...jk->...ik", own, args["self"] if call.kind == "addmm" else None
    if call.name == "einsum" and args["equation"].count(",") == len(nodes) - 1:
        return args["equation"].replace(" ", ""), nodes, None
    return "", [], None


def letters_of(term: str, dims: int) -> str:
    """The letters of a term of an equation, one per axis; "" if they do not fit."""
    n = dims - len(term.replace("...", ""))
    found = term.replace("...", DIMS[len(DIMS) - n :] if n > 0 else "")
    return found if len(found) == dims else ""


class Signs:
    """The sums in the values of a network, for the rows of one group.

    sums  {sum: its number}
    zero  the sums that must be 0
    read  the sums of the units that layers read
    used  the rows that a program reads, as a sum"""

    def __init__(self, atom: Atom, rows: Sequence[Row]) -> None:
        self.atom, self.rows = atom, rows
        self.sums, self.used = {0: 0}, 0
        self.zero: set[int] = set()
        self.read: set[int] = set()

    def follow(self, program: Program) -> None:
        """Computes the labels of all values of a program."""
        labels: dict[Node, Any] = {}
        for node in program.nodes:
            found: Any = None
            if node.op == "placeholder":
                found = self._parameter(program, node)
            elif not any(n in labels for n in node.all_input_nodes):
                continue
            elif node.target is operator.getitem:
                found = labels[node.args[0]][node.args[1]]
            elif node in program.of:
                found = self._call(program.of[node], labels)
            elif node.op == "output":
                self._require(*(labels.get(n) for n in node.all_input_nodes))
            if isinstance(found, list):
                labels[node] = found
            elif found is not None and bool(found.any()):
                labels[node] = found[(None,) * (node.meta["val"].dim() - found.dim())]

    def solution(self) -> list[Row]:
        """The rows that change sign together; none if all must stay. All units that layers read
        must change sign, because moments see these."""
        idle = [1 << i for i in range(len(self.rows)) if not self.used >> i & 1]
        reduced: dict[int, int] = {}  # {leading bit: equation}, where bit 0 is the constant 1
        for v in [*(2 * s for s in [*self.zero, *idle]), *(2 * s + 1 for s in self.read)]:
            for lead, w in reduced.items():
                v ^= w if v >> lead & 1 else 0
            if v:
                new = v.bit_length() - 1
                reduced = {k: w ^ v if w >> new & 1 else w for k, w in reduced.items()}
                reduced[new] = v
        if 0 in reduced:  # 1 = 0
            return []
        return [r for i, r in enumerate(self.rows) if reduced.get(i + 1, 0) & 1]

    # ---- labels ----------------------------------------------------------------------------------

    def _sums(self, x: torch.Tensor) -> set[int]:
        own = list(self.sums)
        return {own[i] for i in x.flatten().tolist()}

    def _require(self, *labels: Labels) -> None:
        """Requires that these sums are 0."""
        self.zero.update(*(self._sums(x) for x in labels if x is not None))

    def _plus(self, x: Labels, y: Labels) -> Labels:
        """The labels of a product."""
        if x is None or y is None:
            return y if x is None else x
        own, n = list(self.sums), len(self.sums)
        pairs, new = x * n + y, torch.zeros(n * n, dtype=torch.long)
        for p in set(pairs.flatten().tolist()):
            new[p] = self.sums.setdefault(own[p // n] ^ own[p % n], len(self.sums))
        return new[pairs]

    def _along(self, x: Labels, k: int) -> Labels:
        """The labels along an axis (length). They must be equal along the others."""
        if x is None:
            return None
        flat = x.movedim(k, -1).reshape(-1, x.shape[k])
        self._require(self._plus(flat, flat[:1]))
        return flat[0]

    # ---- operations ------------------------------------------------------------------------------

    def _parameter(self, program: Program, node: Node) -> Labels:
        tensor, shape = program.parameters.get(node.name), node.meta["val"].shape
        own = {i: r for i, r in enumerate(self.rows) if r.tensor == tensor}
        axes = {r.axis for r in own.values()}
        if len(axes) != 1:  # entries with two units have a bit of each
            self.zero.update(1 << i for i in own)
            return None
        axis = axes.pop()
        labels = torch.zeros(shape[axis], dtype=torch.long)
        for i, r in own.items():
            self.used |= 1 << i
            labels[r.offset : end_of(r)] = self.sums.setdefault(1 << i, len(self.sums))
        return labels.reshape([-1 if k == axis else 1 for k in range(len(shape))])

    def _call(self, c: Call, labels: Mapping[Node, Any]) -> Any:
        """The labels of an operation's outputs. The sums of its inputs are 0 if it has no rule."""
        own: list[Labels] = [labels.get(n) for n in c.nodes]
        twice = any(
            sum(self.atom in s for s in c.program.atoms_of(v)) > 1 for v in c.inputs + c.outputs
        )
        if twice:
            pass
        elif c.kind == "same":
            return own[0]
        elif c.kind in MOVES and all(n.meta["val"].is_floating_point() for n in c.nodes):
            return self._moved(c, labels)
        elif c.name in ("mul", "div") and not c.args.get("rounding_mode"):
            factors = [c.args["self"], c.args.get("other")]
            return functools.reduce(self._plus, [labels.get(n) for n in factors])
        elif c.name == "glu":
            value, gate = self._full(c.nodes[0], labels).chunk(2, c.args.get("dim", -1))
            self._require(gate)
            return small(value)
        elif RULES.get(c.kind) in (addition, linear_map, odd) and "signed" in kinds(c, self.atom):
            self._require(*(self._plus(own[0], x) for x in own[1:]))
            return own[0]
        elif equation(c)[0]:
            return self._product(c, labels)
        self._require(*own)
        return None

    def _full(self, node: Node, labels: Mapping[Node, Any]) -> torch.Tensor:
        """The labels of a value, in its shape."""
        x: torch.Tensor = labels.get(node, PLAIN)
        return x.expand(node.meta["val"].shape)

    def _moved(self, c: Call, labels: Mapping[Node, Any]) -> Any:
        """y = entries of x: so are the labels."""
        args, kwargs = torch.fx.node.map_arg(
            (c.node.args, c.node.kwargs), lambda n: self._full(n, labels)
        )
        # labels have other strides than the value
        target: Any = torch.ops.aten.reshape.default if "view" in c.name else c.node.target
        found = target(*args, **kwargs)
        return small(found) if isinstance(found, torch.Tensor) else [small(v) for v in found]

    def _product(self, c: Call, labels: Mapping[Node, Any]) -> Labels:
        """y = sums of products: each product in a sum must change sign alike. Over the units
        themselves, whose signs are independent, it must not change sign."""
        text, nodes, bias = equation(c)
        inputs, _, out = text.partition("->")
        place = letters_of(out, len(c.node.meta["val"].shape))
        found: dict[str, list[Labels]] = {}
        for term, node in zip(inputs.split(","), nodes):
            axes = c.program.atoms_of(c.program.values_of(node)[0])
            for k, letter in enumerate(letters_of(term, len(axes)) or " " * len(axes)):
                if self.atom in axes[k]:
                    x = self._along(labels.get(node), k)
                    found.setdefault(letter, []).append(x)
                    if letter not in place and node not in c.program.constants:
                        self.read |= {0} if x is None else self._sums(x)
        result: Labels = None
        for letter, own in found.items():
            total = functools.reduce(self._plus, own)
            if letter not in place or len(own) > 1:
                self._require(total)
            elif total is not None:
                result = total.reshape([-1 if q == letter else 1 for q in place])
        if isinstance(bias, Node):
            b = labels.get(bias)
            if b is not None and c.kind == "convolution":
                b = b.reshape(-1, *[1] * (len(place) - 2))
            self._require(self._plus(result, b))
        return result


def signed(
    run: Interpretation,
    names: Names,
    rows: Iterable[Row],
    allows: Mapping[str, str],
    constant: set[str],
) -> dict[str, set[Place]]:
    """{group: the places of its rows without signs} of those groups of a canonical network that
    allow signs, and only permutations so far. constant: parameters that do not move."""
    if set(allows.values()) <= {"permutation"}:
        return {}
    found = {}
    programs = [Program(run, i) for i in range(len(run.values))]
    around = {q for _, unit in names for q, _ in unit}
    written = {
        a
        for p in programs
        for n in p.nodes
        if n.name in p.written
        for v in p.values_of(n)
        for s in p.atoms_of(v)
        for a in s
    }
    by_group = grouped(rows, run.owners)
    for (a, unit), name in names.items():
        own = [r for r in by_group.get(name, []) if r.tensor not in constant]
        if allows.get(name) != "permutation" or unit or a.data or a in around | written:
            continue
        if any(r.parts > 1 for r in own):
            continue
        signs = Signs(a, own)
        for p in programs:
            signs.follow(p)
        flips = signs.solution()
        if flips:
            found[name] = {(r.tensor, r.axis, r.offset) for r in own if r not in flips}
    return found

# SPDX-License-Identifier: Apache-2.0
"""Where parameters meet a group's units: which layers read them (Reader), and which write a stream
that layer norms read."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from .axes import Atom
from .calls import Call, Node, Program, key
from .rules.kinds import MOVES_ONE, SUMS


class Reader(NamedTuple):
    """A layer that sums over an axis.

    call    the operation
    source  the node whose axis it sums over, and that axis
    weight  the node of the other factor, and that axis
    bias    the node of its bias, or None"""

    call: Call
    source: tuple[Node, int]
    weight: tuple[Node, int]
    bias: Node | None


def source_of(node: Node) -> Node:
    """The node of which one is an output."""
    while node.target is operator.getitem:
        node = node.args[0]  # type: ignore[assignment]
    return node


def reader_of(call: Call) -> Reader | None:
    """The sum of products that an operation computes of an input, or None if it computes none."""
    if call.kind not in SUMS or call.name == "baddbmm" or call.args.get("groups", 1) != 1:
        return None
    args, bias = call.args, call.args.get("bias")
    if call.name == "linear":
        x, w, i, k = args["input"], args["weight"], -1, -1
    elif call.kind == "convolution":
        x, w = args["input"], args["weight"]
        i, k = 1 - len(w.meta["val"].shape), 1
    else:
        x, w = call.nodes[-2:] if len(call.nodes) > 1 else call.nodes * 2
        bias = args["self"] if call.kind == "addmm" else None
        i, k = -1, -2 if len(w.meta["val"].shape) > 1 else -1
        if x in call.program.constants:
            x, w, i, k = w, x, k, i
    return Reader(call, (x, i), (w, k), bias)


def followed(
    program: Program, start: Node, e: Any, passes: Callable[[Call], bool]
) -> list[Reader] | str:
    """The layers that read an axis e of a node, through operations that `passes` accepts; or the
    name of an operation that reads it otherwise."""
    found: list[Reader] = []
    todo, seen = [start], {start}
    while todo:
        node = todo.pop()
        for user in node.users:
            if user.target is operator.getitem:
                todo.append(user)
                continue
            call = program.of.get(user)
            if call is None:
                if "_assert_" in str(user.target):
                    continue
                return user.name
            if call.kind == "constant" or node not in call.nodes:
                continue
            r = reader_of(call)
            if r and r.source[0] is node and key(program.values_of(node)[0].axes[r.source[1]]) == e:
                found.append(r)
            elif passes(call) and any(key(f) == e for f in call.outputs[0].axes):
                todo += [user] * (user not in seen)
                seen.add(user)
            else:
                return call.name
    return found


class Stream:
    """How layer norms read an atom's axis in a program.

    only_norms  True if nothing but layer norms reads what was not normalised
    read        {(parameter, axis): True if its inputs have a mean of 0}
    vectors     the biases of these norms"""

    def __init__(self, program: Program, a: Atom) -> None:
        self.program, self.atom, self.only_norms = program, a, True
        self.read: dict[tuple[str, int], bool] = {}
        self.vectors: set[str] = set()
        self.normal: dict[Node, bool] = {}  # of what norms return: whether its mean is 0
        for call in program.calls:
            if call.node not in program.constants:
                self._add(call)

    def _holds(self, node: Node) -> bool:
        return any(
            self.atom in s for v in self.program.values_of(node) for s in self.program.atoms_of(v)
        )

    def _add(self, call: Call) -> None:
        own = [n for n in call.nodes if self._holds(n)]
        active = [source_of(n) for n in own if n not in self.program.constants]
        if not active:
            return
        if call.kind == "layer_norm":
            self._norm(call)
            return
        r = reader_of(call)
        if r and call.has(self.program.values_of(r.source[0])[0], self.atom, r.source[1]):
            self._product(r)
            return
        fresh = [n for n in active if n not in self.normal]
        if not any(call.has(v, self.atom) for v in call.outputs):
            self.only_norms &= not fresh
        elif not fresh and len(active) == len(own):
            self.normal[call.node] = all(self.normal[n] for n in active)

    def _norm(self, call: Call) -> None:
        bias = call.args.get("bias")
        # a norm over several segments subtracts one mean from all, and so does not centre each
        centred = key(call.inputs[0].axes[-1]) == (id(self.atom),)
        self.only_norms &= centred
        if bias is not None:
            found = self.program.parameter(bias)
            self.vectors |= {found[0]} if found else set()
            b = self.program.evaluate(bias, self.program.run.state).double()
            centred &= bool(b.sum().abs() <= 1e-6 * b.abs().sum())
        self.normal[call.node] = centred

    def _product(self, r: Reader) -> None:
        source = source_of(r.source[0])
        found = self.program.parameter(*r.weight)
        self.only_norms &= source in self.normal
        if found:
            self.read[found] = self.read.get(found, True) and self.normal.get(source, False)


def passes_linear(call: Call) -> bool:
    """True for operations that are linear along each axis that they keep."""
    zeros = call.name in ("pad", "constant_pad_nd") and call.args.get("value") in (0, None)
    return (
        call.kind in MOVES_ONE
        or call.name in ("mean", "sum", "neg", "avg_pool2d", "adaptive_avg_pool2d")
        or (call.name in ("mul", "div") and call.nodes == [call.args["self"]])
        or (zeros and call.args.get("mode", "constant") == "constant")
    )


def passes_mean(call: Call) -> bool:
    """True for operations that leave a number unchanged that is added everywhere."""
    unpadded = call.name in ("pad", "constant_pad_nd") and not any(call.args["pad"])
    return unpadded or call.kind in MOVES_ONE or call.name in ("mean", "adaptive_avg_pool2d")

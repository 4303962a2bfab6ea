# SPDX-License-Identifier: Apache-2.0
"""The operations of a recorded network (Call) with the axes of their tensors, and the parameters
that they read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.export import ExportedProgram

from . import capture
from .axes import Atom, Axis, atoms, elements
from .interpret import Interpretation, flat, operation_name
from .rules import Value, kind_of

Node = torch.fx.Node


def sources(node: Node) -> list[Node]:
    """The nodes of all tensors whose numbers an operation reads. type_as(x, y) reads those of x."""
    return list(node.all_input_nodes)[: 1 if operation_name(node) == "type_as" else None]


def members(e: Axis) -> Iterator[Atom]:
    """The free atoms of an axis, in each unit of an unrolled atom."""
    for a in atoms(e):
        if a.cases:
            for cases in a.cases.values():
                for c in cases:
                    yield from members(c)
        elif not a.fixed:
            yield a


def key(e: Axis) -> Any:
    """Equal for axes whose entries have the same places."""
    return tuple(id(p) if isinstance(p, Atom) else tuple(map(key, p.parts)) for p in elements(e))


class Call:
    """An operation of a program.

    node, name   its node, and the name of the ATen operation
    kind         its kind (rules/kinds.py)
    args         {argument: node, list or constant}
    outputs      its values"""

    def __init__(self, program: Program, node: Node) -> None:
        self.program, self.node, self.name = program, node, operation_name(node)
        self.kind, self.args = kind_of(self.name), capture.arguments_of(node)
        self.outputs = program.values_of(node)

    def value(self, argument: Any) -> Value | None:
        """The value of an argument that is a tensor, given by its name or itself."""
        v = self.args.get(argument) if isinstance(argument, str) else argument
        found = self.program.values.get(v.name) if isinstance(v, Node) else None
        return found if isinstance(found, Value) else None

    @property
    def nodes(self) -> list[Node]:
        """The nodes of all tensors whose numbers it reads."""
        return sources(self.node)

    @property
    def inputs(self) -> list[Value]:
        """The values that it reads."""
        return [v for n in self.nodes for v in self.program.values_of(n)]

    def has(self, v: Value | None, a: Atom, axis: int | None = None) -> bool:
        """True if an axis of a value, by default any, has an atom."""
        if v is None:
            return False
        own = self.program.atoms_of(v)
        return a in own[axis] if axis is not None else any(a in s for s in own)


class Program:
    """A recorded program of an interpretation.

    values     {node: Value or list}
    constants  the nodes that no input reaches
    calls      its operations, in order"""

    def __init__(self, run: Interpretation, i: int) -> None:
        self.run, self.values = run, run.values[i]
        exported: ExportedProgram = run.programs[i][0]
        self.nodes = list(exported.graph_module.graph.nodes)
        specs = {
            s.arg.name: s for s in exported.graph_signature.input_specs if hasattr(s.arg, "name")
        }
        self.parameters = {
            n: run.owners[specs[n].target] for n in specs if specs[n].target in run.owners
        }
        self.extra = {
            n: t
            for n, s in specs.items()
            if n not in self.parameters
            for t in [exported.constants.get(s.target, exported.state_dict.get(s.target))]
            if s.target is not None and isinstance(t, torch.Tensor)
        }
        self.constants: set[Node] = set()
        for n in self.nodes:
            if n.op == "placeholder":
                if n.name in self.parameters or n.name in self.extra:
                    self.constants.add(n)
            elif n.op == "call_function" and all(m in self.constants for m in sources(n)):
                self.constants.add(n)
        self.written = {
            s.arg.name
            for s in exported.graph_signature.output_specs
            if s.kind.name != "USER_OUTPUT" and hasattr(s.arg, "name")
        }
        self._atoms: dict[int, list[set[Atom]]] = {}
        self.calls = [
            Call(self, n)
            for n in self.nodes
            if n.op == "call_function" and n.name in self.values and operation_name(n) != "getitem"
        ]
        self.of = {c.node: c for c in self.calls}

    def values_of(self, node: Node) -> list[Value]:
        """The values of a node."""
        return flat(self.values.get(node.name))

    def atoms_of(self, v: Value) -> list[set[Atom]]:
        """The free atoms of each axis of a value."""
        if id(v) not in self._atoms:
            self._atoms[id(v)] = [set(members(e)) for e in v.axes]
        return self._atoms[id(v)]

    def parameter(self, node: Any, axis: int = 0) -> tuple[str, int] | None:
        """(parameter, axis) of which a node is a copy with axes in another order, or None."""
        while isinstance(node, Node) and node.op == "call_function":
            call = self.of.get(node)
            if call is None:
                return None
            dims = list(range(node.meta["val"].dim()))
            axis %= max(1, len(dims))
            if call.name in ("transpose", "t", "mT"):
                i, j = (call.args.get(k, d) for k, d in (("dim0", -2), ("dim1", -1)))
                dims[i], dims[j] = dims[j], dims[i]
            elif call.name == "permute":
                dims = list(call.args["dims"])
            elif call.kind != "same":
                return None
            axis, node = dims[axis] % len(dims), call.nodes[0]
        name = self.parameters.get(node.name) if isinstance(node, Node) else None
        return (name, axis % max(1, len(self.values_of(node)[0].axes))) if name else None

    def gain(self, node: Any) -> tuple[str, float] | None:
        """(parameter, number) whose sum a node is, as Gemma's 1 + w, if nothing else reads the sum;
        or None."""
        own, read_once = self.parameter(node), True
        if own:
            return own[0], 0.0
        while (call := self.of.get(node)) is not None and call.kind in ("same", "add"):
            read_once &= sum("_assert_" not in str(u.target) for u in node.users) == 1
            node = call.nodes[0]
            if call.name == "add":
                own, number = self.parameter(node), call.args.get("other")
                fits = read_once and "alpha" not in call.args
                if own and fits and isinstance(number, (int, float)):
                    return own[0], float(number)
                break
        return None

    def evaluate(self, node: Node, state: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """The number of a constant node."""
        if node.op == "placeholder":
            own = self.parameters.get(node.name)
            return state[own] if own else self.extra[node.name]
        if operation_name(node) == "type_as":
            return self.evaluate(sources(node)[0], state)
        args, kwargs = torch.fx.node.map_arg(
            (node.args, node.kwargs), lambda n: self.evaluate(n, state)
        )
        target: Callable[..., torch.Tensor] = node.target  # type: ignore[assignment]
        return target(*args, **kwargs)

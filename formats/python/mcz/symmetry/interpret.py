# SPDX-License-Identifier: Apache-2.0
"""Interpret the operations of a module on axes (rules)."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, cast

import torch
from torch import nn
from torch.export import ExportedProgram

from ..errors import Error, need
from ..nn.inputs import brief
from ..nn.state import device_of, owners, tensors_of
from . import capture
from .axes import Axis, atoms, fixed, free, vary
from .orders import fix, tie, unify
from .regroup import confine
from .rules import ROWS, Axes, Operation, Value, apply, kind_of

Node = torch.fx.Node
Programs = tuple[ExportedProgram, ExportedProgram]


def operation_name(node: Node) -> str:
    """The name of an ATen operation without its overload."""
    target: Any = node.target
    return str(getattr(target, "_opname", None) or getattr(target, "__name__", target))


def _has_blocks(node: Node) -> bool:
    """True for an operation in which the order on further axes of a weight may vary with axis 0, as
    with an expert. Others would only fix axis 0, such as a cut into queries and keys."""
    name = operation_name(node)
    if kind_of(name) in ("turn", "same") or name == "unsqueeze":
        return all(map(_has_blocks, node.users))
    found = {name, kind_of(name)} & BLOCKS
    return bool(found) or capture.arguments_of(node).get("groups", 1) != 1


def _draws(node: Node) -> bool:
    """True if an operation draws random numbers."""
    own = capture.arguments_of(node)
    p = own.get("dropout", own.get("dropout_p"))
    if "dropout" in operation_name(node):  # in others, such as cdist, p is the degree of a norm
        p = own.get("p", p)
    if isinstance(p, (int, float)):
        return p > 0 and own.get("train", own.get("training", True))
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()) and (
        operation_name(node) != "scaled_dot_product_attention"
    )


# kinds and names of operations in which the order on a weight's further axes may vary with axis 0
BLOCKS = {"matmul", "addmm", "einsum", "_grouped_mm", "grouped_mm_fallback"}
BLOCKS |= {"add", "index", "select"}


def flat(v: Any) -> list[Value]:
    """The values in nested lists."""
    if isinstance(v, Value):
        return [v]
    return [x for y in v for x in flat(y)] if isinstance(v, (list, tuple)) else []


def _renewed(a: Any) -> Any:
    """An argument with copies of its tensors' loose atoms."""
    if isinstance(a, (list, tuple)):
        return [_renewed(v) for v in a]
    return a.renewed() if isinstance(a, Value) else a


class Interpretation:
    """The operations of a network for several examples, on the same parameters.

    programs  [(program, program)]: those of an example at both batch sizes
    axes      {parameter: axes}, of the parameters that an example uses
    values    [{node: Value or list}], for each example
    observed  values of the first example that layers contract, in order"""

    def __init__(self, net: nn.Module, examples: Iterable[Any], progress: str = "") -> None:
        self.state = tensors_of(net)
        self.owners, self.device = owners(self.state), device_of(self.state)
        self.programs = [capture.record(net, example, progress) for example in examples]
        self.axes: dict[str, list[Axis]] = {}
        # (parameter, axis) that a layer contracts, and others
        self.read: set[tuple[str, int]] = set()
        self.written: set[tuple[str, int]] = set()
        self.values: list[dict[str, Any]] = []
        self.observed: list[Value] = []
        for programs in self.programs:
            capture.separate(programs[0], self.state)
            self._interpret(programs)

    def _interpret(self, programs: Programs) -> None:
        """Interprets the programs of an example."""
        self.now: dict[str, Any] = {}  # the values so far
        self.seen: list[Value] = []
        self.parameters: dict[str, str] = {}  # {placeholder: name}
        signature: Any = programs[0].graph_signature
        self.specs = {s.arg.name: s for s in signature.input_specs if hasattr(s.arg, "name")}
        out = self._run(capture.pairs(programs))
        for spec, value in zip(signature.output_specs, out):
            self._output(spec, value)
        if not self.values:
            self.observed = self.seen
        self.values.append(self.now)

    def _output(self, spec: Any, value: Any) -> None:
        """Ties what a call writes to a buffer to that buffer, and fixes all other outputs."""
        buffer = (
            self._axes(spec.target)
            if spec.kind.name == "BUFFER_MUTATION" and spec.target in self.owners
            else None
        )
        reason = "output" if spec.kind.name == "USER_OUTPUT" else f"buffer {spec.target}"
        for v in flat(value):
            for e, f in zip(v.axes, buffer) if buffer else ():
                unify(f, e, reason)
            for e in v.references if buffer else [*v.axes, *v.references]:
                fix(e, reason)

    def _sizes(self, x: Any, y: Any) -> list[Any]:
        """The encoded sizes of a node's value."""
        if isinstance(x, (list, tuple)):
            return [self._sizes(a, b) for a, b in zip(x, y)]
        for n in x.shape if isinstance(x, torch.Tensor) else ():
            need(isinstance(n, int), "a size depends on the data: declare the groups by hand")
        return (
            [capture.encoded(a, b) for a, b in zip(x.shape, y.shape)]
            if isinstance(x, torch.Tensor)
            else []
        )

    def _axes(self, name: str) -> list[Axis]:
        """The axes of a tensor of the state_dict."""
        name = self.owners[name]
        tensor = self.state[name]
        kind = "complex numbers" if tensor.is_complex() else "integers"
        return self.axes.setdefault(
            name, [free(n) if tensor.is_floating_point() else fixed(n, kind) for n in tensor.shape]
        )

    def _placeholder(self, node: Node, other: Node) -> Value | None:
        spec: Any = self.specs.get(node.name)
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return None
        sizes = self._sizes(value, other.meta["val"])
        if spec.kind.name == "USER_INPUT":
            return Value(
                node.name,
                Axes(
                    [fixed(n, "batch" if n % capture.BATCH == 0 else "input") for n in sizes],
                    zeros=ROWS,
                ),
            )
        # another network, or a later call, may have other numbers here
        if spec.target not in self.owners:
            return Value(node.name, Axes([fixed(n, "constant") for n in sizes], zeros=ROWS))
        if not node.users:
            return None
        self.parameters[node.name] = name = self.owners[spec.target]
        new, axes = name not in self.axes, self._axes(name)
        blocks = self.state[name].is_floating_point() and all(map(_has_blocks, node.users))
        # allow an order per block, or withdraw what an earlier example allowed
        if axes and blocks == new:
            for lead in list(atoms(axes[0])):
                for a in [a for e in axes[1:] for a in atoms(e)]:
                    (vary if new else tie)(a, lead)
        return Value(node.name, axes)

    def _argument(self, a: Any, b: Any) -> Any:
        if isinstance(a, Node):
            return self.now.get(a.name)
        if isinstance(a, (list, tuple)):
            return [self._argument(x, y) for x, y in zip(a, b)]
        if type(a) is int and type(b) is int and a != b:
            return capture.encoded(a, b)
        return a

    def _run(self, nodes: Iterable[tuple[Node, Node]]) -> list[Any]:
        for n, other in nodes:
            if n.op == "placeholder":
                self.now[n.name] = self._placeholder(n, other)
            elif n.op == "call_function" and "_assert_" not in str(n.target):
                try:
                    self.now[n.name] = self._call(n, other)
                except Error:
                    raise
                except Exception as e:  # a rule that does not fit the operation
                    raise Error(
                        f"{capture.named(n)}: {operation_name(n)}: {brief(e)} (please report this)"
                    ) from e
            elif n.op == "output":
                return [
                    self.now.get(a.name) if isinstance(a, Node) else None
                    for a in torch.utils._pytree.tree_leaves(n.args)
                ]
        return []

    def _call(self, n: Node, other: Node) -> Any:
        if n.target is operator.getitem:
            node, i = n.args
            source = self.now[cast(Node, node).name]
            return source[cast(int, i)] if isinstance(source, (list, tuple)) else None
        args = [self._argument(a, b) for a, b in zip(n.args, other.args)]
        kwargs = {k: self._argument(v, other.kwargs[k]) for k, v in n.kwargs.items()}
        if any(isinstance(a, Node) and a.op == "get_attr" for a in n.args):
            return self._nested(n, other, args)
        if _draws(n):
            raise Error(f"{capture.named(n)}: {operation_name(n)} draws random numbers")
        target: Any = n.target
        names = [a.name for a in target._schema.arguments] if hasattr(target, "_schema") else []
        arguments = {k: _renewed(v) for k, v in dict(zip(names, args), **kwargs).items()}
        sizes = self._sizes(n.meta.get("val"), other.meta.get("val"))
        several, where = bool(sizes) and isinstance(sizes[0], list), capture.place(n)
        op = Operation(
            name=operation_name(n),
            reason=operation_name(n) + (" in " + where if where else ""),
            outputs=sizes if several else [sizes],
            several=several,
            tensors=[v for a in arguments.values() for v in flat(a)],
            used=lambda i: any(u.target is operator.getitem and u.args[1] == i for u in n.users),
            observe=self._observe,
        )
        found = [self._checked(n, *pair) for pair in zip(apply(op, target, arguments), op.outputs)]
        self._note_read(op)
        return found if several else found[0]

    def _note_read(self, op: Operation) -> None:
        """Notes the parameters' axes that an operation contracts, and the others."""
        read = {(v.node, k) for v, k in op.read}
        for v in op.tensors:
            for k in range(len(v.axes)) if v.node in self.parameters else ():
                (self.read if (v.node, k) in read else self.written).add(
                    (self.parameters[v.node], k)
                )

    def _observe(self, value: Value) -> None:
        if value.is_activation():
            self.seen.append(value)

    def activations(self, example: int = 0) -> list[Value]:
        """All values of an example that depend on the input."""
        return [v for own in self.values[example].values() for v in flat(own) if v.is_activation()]

    def _checked(self, n: Node, axes: Sequence[Axis], sizes: list[int]) -> Value:
        have = [e.size for e in axes]
        if have != sizes:
            raise ValueError(f"axes of sizes {have}, not {sizes}")
        confine(axes)
        return Value(n.name, axes)

    def _nested(self, n: Node, other: Node, args: Any) -> list[Value]:
        """The outputs of an operation on submodules, such as torch.cond. torch.export inlines those
        of autocast."""
        for v in flat(args):
            for e in [*v.axes, *v.references]:
                fix(e, str(n.target))
        sizes = self._sizes(n.meta["val"], other.meta["val"])
        return [Value(n.name, [fixed(k, str(n.target)) for k in s]) for s in sizes]

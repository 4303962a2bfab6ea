# SPDX-License-Identifier: Apache-2.0
"""Interpret the operations of a module on axes (rules.py)."""

import operator

import torch

from ..errors import Error, need
from ..state import owners, tensors_of
from . import capture
from .axes import atoms, confine, fix, fixed, free, tie, unify, vary
from .rules import ROWS, Axes, Call, Value, apply


def _operation(node):
    """The name of an ATen operation without its overload."""
    return getattr(node.target, "_opname", None) or getattr(
        node.target, "__name__", str(node.target)
    )


def _has_blocks(node):
    """True for an operation in which the order on further axes of a weight may vary with axis 0, as
    with an expert. Others would only fix axis 0, such as a cut into queries and keys."""
    if _operation(node) in MOVES:
        return all(map(_has_blocks, node.users))
    return _operation(node) in BLOCKS or capture.arguments_of(node).get("groups", 1) != 1


def _draws(node):
    """True if an operation draws random numbers."""
    own = capture.arguments_of(node)
    p = own.get("p", own.get("dropout", own.get("dropout_p")))
    if isinstance(p, (int, float)):
        return p > 0 and own.get("train", own.get("training", True))
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()) and (
        _operation(node) != "scaled_dot_product_attention"
    )


MOVES = "transpose", "permute", "mT", "to", "_to_copy", "unsqueeze"
BLOCKS = (
    "matmul",
    "bmm",
    "baddbmm",
    "einsum",
    "_grouped_mm",
    "grouped_mm_fallback",
    "add",
    "index",
    "select",
)


class Interpretation:
    """The operations of a network for several examples, on the same parameters.

    programs  [(program, program)]: those of an example at both batch sizes
    axes      {parameter: axes}, of the parameters that an example uses
    values    [{node: Value or list}], for each example
    observed  values of the first example that layers contract, in order"""

    def __init__(self, net, examples, progress=""):
        self.state = tensors_of(net)
        self.owners, self.device = owners(self.state), capture.device_of(self.state)
        self.programs = [capture.record(net, example, progress) for example in examples]
        self.axes, self.read, self.written = {}, set(), set()  # the sets contain (parameter, axis)
        self.recorded = []
        for programs in self.programs:
            capture.separate(programs[0], self.state)
            self.values, self.seen, self.parameters = {}, [], {}  # parameters: {placeholder: name}
            self.specs = {
                s.arg.name: s
                for s in programs[0].graph_signature.input_specs
                if hasattr(s.arg, "name")
            }
            out = self._run(capture.pairs(programs))
            for spec, value in zip(programs[0].graph_signature.output_specs, out):
                self._output(spec, value)
            self.recorded.append((self.values, self.seen))
        self.values, self.observed = [values for values, _ in self.recorded], self.recorded[0][1]

    def _output(self, spec, value):
        """Ties what a call writes to a buffer to that buffer, and fixes all other outputs."""
        buffer = (
            self._axes(spec.target)
            if spec.kind.name == "BUFFER_MUTATION" and spec.target in self.owners
            else None
        )
        reason = "output" if spec.kind.name == "USER_OUTPUT" else f"buffer {spec.target}"
        for v in self._flat(value):
            for e, f in zip(v.axes, buffer) if buffer else ():
                unify(f, e, reason)
            for e in v.references if buffer else [*v.axes, *v.references]:
                fix(e, reason)

    @staticmethod
    def _flat(v):
        return (
            [v]
            if isinstance(v, Value)
            else [x for y in v or () for x in Interpretation._flat(y)]
            if isinstance(v, (list, tuple))
            else []
        )

    def _sizes(self, x, y):
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

    def _axes(self, name):
        """The axes of a tensor of the state_dict."""
        name = self.owners[name]
        tensor = self.state[name]
        kind = "complex numbers" if tensor.is_complex() else "integers"
        return self.axes.setdefault(
            name, [free(n) if tensor.is_floating_point() else fixed(n, kind) for n in tensor.shape]
        )

    def _placeholder(self, node, other):
        spec = self.specs.get(node.name)
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
        if (
            spec.target not in self.owners
        ):  # another network, or a later call, may have other numbers here
            return Value(node.name, Axes([fixed(n, "constant") for n in sizes], zeros=ROWS))
        if not node.users:
            return None
        self.parameters[node.name] = name = self.owners[spec.target]
        new, axes = name not in self.axes, self._axes(name)
        blocks = self.state[name].is_floating_point() and all(map(_has_blocks, node.users))
        if (
            axes and blocks == new
        ):  # allow an order per block, or withdraw what an earlier example allowed
            for lead in list(atoms(axes[0])):
                for a in [a for e in axes[1:] for a in atoms(e)]:
                    (vary if new else tie)(a, lead)
        return Value(node.name, axes)

    def _argument(self, a, b):
        if isinstance(a, torch.fx.Node):
            return self.values.get(a.name)
        if isinstance(a, (list, tuple)):
            return [self._argument(x, y) for x, y in zip(a, b)]
        if type(a) is int and type(b) is int and a != b:
            return capture.encoded(a, b)
        return a

    def _run(self, nodes):
        for n, other in nodes:
            if n.op == "placeholder":
                self.values[n.name] = self._placeholder(n, other)
            elif n.op == "call_function" and "_assert_" not in str(n.target):
                try:
                    self.values[n.name] = self._call(n, other)
                except AssertionError as e:
                    raise Error(f"{capture.named(n)}: {_operation(n)}: {e}") from e
            elif n.op == "output":
                return [
                    self.values.get(a.name) if isinstance(a, torch.fx.Node) else None
                    for a in torch.utils._pytree.tree_leaves(n.args)
                ]
        return []

    def _call(self, n, other):
        if n.target is operator.getitem:
            source = self.values[n.args[0].name]
            return source[n.args[1]] if isinstance(source, (list, tuple)) else None
        args = [self._argument(a, b) for a, b in zip(n.args, other.args)]
        kwargs = {k: self._argument(v, other.kwargs[k]) for k, v in n.kwargs.items()}
        if any(isinstance(a, torch.fx.Node) and a.op == "get_attr" for a in n.args):
            return self._nested(n, other, args)
        op = n.target
        if _draws(n):
            raise Error(f"{capture.named(n)}: {_operation(n)} draws random numbers")
        sizes = self._sizes(n.meta.get("val"), other.meta.get("val"))
        names = [a.name for a in op._schema.arguments] if hasattr(op, "_schema") else []
        arguments = dict(zip(names, args), **kwargs)
        where = capture.place(n)
        c = Call(
            _operation(n),
            arguments,
            sizes,
            _operation(n) + (" in " + where if where else ""),
            lambda i: any(u.target is operator.getitem and u.args[1] == i for u in n.users),
            self._observe,
        )
        out = apply(c, op)
        read = {(v.node, k) for v, k in c.read}
        for v in c.values():
            for k in range(len(v.axes)) if v.node in self.parameters else ():
                (self.read if (v.node, k) in read else self.written).add(
                    (self.parameters[v.node], k)
                )
        return self._value(n, out, sizes)

    def _observe(self, value):
        if value.is_activation():
            self.seen.append(value)

    def activations(self, example=0):
        """All values of an example that depend on the input."""
        return [
            v for own in self.values[example].values() for v in self._flat(own) if v.is_activation()
        ]

    def _value(self, n, out, sizes):
        if sizes and isinstance(sizes[0], list):
            return [self._checked(n, axes, s) for axes, s in zip(out, sizes)]
        return self._checked(n, out, sizes)

    def _checked(self, n, axes, sizes):
        have = [e.size for e in axes]
        assert have == sizes, f"axes of sizes {have}, not {sizes}"
        confine(axes)
        return Value(n.name, axes)

    def _nested(self, n, other, args):
        """The outputs of an operation on submodules, such as torch.cond. torch.export inlines those
        of autocast."""
        for v in self._flat(args):
            for e in [*v.axes, *v.references]:
                fix(e, str(n.target))
        sizes = self._sizes(n.meta["val"], other.meta["val"])
        return [Value(n.name, [fixed(k, str(n.target)) for k in s]) for s in sizes]

# SPDX-License-Identifier: Apache-2.0
"""Apply the rule of an operation, and mark what is known of its outputs' numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ..axes import Axis, atoms
from ..regroup import confine
from .elementwise import pointwise
from .helpers import strip, uniform, unknown
from .kinds import MOVES, NORMS, SUMS
from .operation import CARRY, DIFFERENCE, ROWS, RULES, Axes, Label, Operation, Rule, Value

# kinds of operations whose outputs are apart: always, if the first input is, if one input is, if
# all are
ALWAYS = SUMS | {"einsum", "tensordot", "bilinear"}
IF_FIRST = {
    *("softmax", "_softmax", "log_softmax", "_log_softmax", "sigmoid", "tanh", "exp", "log"),
    *("neg", "softplus", "sum", "mean", "topk", "sort", "same"),
}
IF_ONE, IF_ALL = {"add"}, {"mul", "div"}
# further kinds whose outputs are 0 for an input only if the inputs are. A number that is picked
# twice makes equal rows
DENSE = (MOVES - {"pick"}) | NORMS
DENSE |= {"gelu", "silu", "mish", "elu", "leaky_relu", "pow", "square", "sqrt", "rsqrt"}
DENSE |= {"reciprocal", "embedding", "scaled_dot_product_attention"}


def _is_elementwise(packet: Any) -> bool:
    """True for an operation that PyTorch marks as elementwise."""
    return any(torch.Tag.pointwise in getattr(packet, o).tags for o in packet.overloads())


def _find(target: Any, name: str) -> Rule:
    """The rule of an operation; `pointwise` for those that PyTorch marks as elementwise, and
    `unknown` for all others."""
    space, packet = getattr(target, "namespace", "aten"), getattr(target, "overloadpacket", None)
    found = RULES.get(name if space == "aten" else f"{space}::{name}")
    if found is None and packet and _is_elementwise(packet):
        return Rule(pointwise)
    return found or Rule(unknown)


def _rounds(op: Operation, arguments: Mapping[str, Any]) -> bool:
    """True if the output may be integers, so that different numbers become equal. The type of
    another tensor is not known."""
    dtype = arguments.get("dtype")
    integers = isinstance(dtype, torch.dtype) and not dtype.is_floating_point
    converted = op.kind == "same" and arguments.get("other") is not None
    return integers or converted or arguments.get("rounding_mode") is not None


def _zeros(op: Operation, arguments: Mapping[str, Any], output: Sequence[Axis]) -> int:
    """The outputs' zeros, as in Axes. After ReLU, or from an input of zeros, all numbers may be 0.
    A bias prevents it, unless free rows share it: then those of zeros are equal."""
    inputs, bias = op.tensors, arguments.get("self" if op.kind == "addmm" else "bias")
    if isinstance(bias, Value) and not bias.axes.zeros:
        own = {a for e in bias.axes for a in atoms(e)}
        if all(a.fixed or a in own for e in output for a in atoms(e)):
            return 0
    worst = max((v.axes.zeros for v in inputs), default=ROWS)
    if op.name == "sub" and len(inputs) > 1:
        return DIFFERENCE
    if op.name == "add" and worst < DIFFERENCE:
        return min(v.axes.zeros for v in inputs)
    if op.name == "embedding":
        weight: Value = arguments["weight"]
        return weight.axes.zeros if arguments.get("padding_idx") in (None, -1) else ROWS
    if op.kind in ALWAYS:
        return min(worst, ROWS)
    dense = op.kind in DENSE | IF_FIRST | IF_ONE | IF_ALL and not _rounds(op, arguments)
    return worst if dense else max(worst, ROWS)


def _is_full(op: Operation, v: Value) -> bool:
    """True if an input has an entry for each of the output."""
    return [e.size for e in v.axes] == op.sizes and not any(
        a.loose for e in v.axes for a in atoms(e)
    )


def _apart(op: Operation, arguments: Mapping[str, Any], carried: bool, zeros: int) -> bool:
    """True if no two numbers of the output are equal, for almost all parameters. Activations such
    as ReLU are 0 in many places, and so is their product without a bias. Masks of -inf are left
    aside, since no network chooses what it masks."""
    inputs = op.tensors
    first = bool(inputs) and inputs[0].axes.apart
    masked = op.name == "masked_fill" and arguments.get("value") == -float("inf")
    one = any(v.axes.apart and _is_full(op, v) for v in inputs)
    return not _rounds(op, arguments) and (
        (op.kind in ALWAYS and not zeros)
        or (first and (carried or op.kind in IF_FIRST or masked))
        or (op.kind in IF_ONE and zeros < DIFFERENCE and one)
        or (op.kind in IF_ALL and all(v.axes.apart for v in inputs))
    )


def _marked(axes: Sequence[Axis], label: Label | None, apart: bool, zeros: int) -> Axes:
    """Axes whose numbers have this label, or the label that they have, or are apart. zeros: as in
    Axes."""
    own = axes if isinstance(axes, Axes) else Axes(axes)
    label = label or own.label
    return Axes(axes, label, own.counts, apart and not label, zeros)


def apply(op: Operation, target: Any, arguments: Mapping[str, Any]) -> list[Axes]:
    """The axes of each output of an operation. target: PyTorch's operation."""
    found = _find(target, op.name)
    if all(0 in s for s in op.outputs):  # no number of the inputs has an effect
        return [Axes(uniform(s)) for s in op.outputs]
    if found.labels is None:
        strip(op, *op.tensors)
    inputs = [list(v.axes) for v in op.tensors]
    result: Any = found(op, arguments)
    outputs: list[Sequence[Axis]] = list(result) if op.several else [result]
    if op.several:
        outputs = [uniform(s) if 0 in s else axes for axes, s in zip(outputs, op.outputs)]
    carried = found.labels == CARRY
    label = next((v.label for v in op.tensors), None) if carried else None
    zeros = _zeros(op, arguments, outputs[0])
    apart = bool(label) or _apart(op, arguments, carried, zeros)
    if label or apart or zeros or any(v.axes.zeros for v in op.tensors):
        outputs = [_marked(axes, label, apart, zeros) for axes in outputs]
    for axes in [*op.inner, *outputs]:
        confine(axes, [] if op.units else inputs)
    return [axes if isinstance(axes, Axes) else Axes(axes) for axes in outputs]

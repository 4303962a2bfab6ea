# SPDX-License-Identifier: Apache-2.0
"""Constants. An axis is uniform, so that any order of it is right, only if the operation itself
writes one number everywhere."""

from __future__ import annotations

from typing import Any

from ..axes import Axis, free
from .elementwise import WHOLE
from .helpers import anything, uniform, unknown
from .operation import READ, Axes, Label, Operation, Result, Value, rule


@rule(
    "zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full fill zero empty "
    "empty_like new_empty empty_strided new_empty_strided empty_permuted",
    labels=READ,
    kind="constant",
)
def constant(op: Operation) -> Result:
    """y[i] = c. A network writes to empty memory before it reads it."""
    return uniform(op.sizes)


@rule("eye")
def eye(op: Operation) -> Result:
    """y[i, j] = (i == j): P y P^T = y, the identity with rows and columns in another order."""
    if op.sizes[0] != op.sizes[1]:
        return unknown(op)
    e = anything(op.sizes[0], [])
    return [e, e]


@rule("arange")
def arange(op: Operation, start: Any = 0, step: Any = 1, dtype: Any = None) -> Result:
    """y[i] = i: the numbers name the places on the axis itself, in any order."""
    if start != 0 or step != 1 or dtype not in WHOLE:
        return unknown(op)
    e = anything(op.sizes[0], [])
    return Axes([e], Label(e, distinct=e))


@rule("one_hot", labels=READ)
def one_hot(op: Operation, self: Value) -> Result:
    """y[i, k] = (x[i] == k). If the numbers name units, then k moves as these units do."""
    label, n = self.label, op.sizes[-1]
    if label and label.ends is None and label.axis.size == n:
        return [*self.axes, label.axis]
    op.fix(*self.references)
    return [*self.axes, *op.fixed([n])]


@rule("meshgrid")
def meshgrid(op: Operation, tensors: list[Value], indexing: str = "ij") -> Result:
    """y_k[i, j, ...] = x_k[the k-th of i, j, ...]: each output repeats one of the vectors along the
    axes of the others."""
    axes: list[Axis] = [v.axes[0] if v.axes else free(1) for v in tensors]
    if indexing == "xy":
        axes[:2] = axes[1::-1]
    return [list(axes) for _ in op.outputs]

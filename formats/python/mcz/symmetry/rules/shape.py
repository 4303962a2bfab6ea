# SPDX-License-Identifier: Apache-2.0
"""Operations that move, repeat or join axes, without arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

from ..axes import ONE, Axis, Product, Sum, atoms, fixed
from ..regroup import regroup
from .helpers import anything, broadcast, position, unknown
from .operation import CARRY, Operation, Result, Value, rule


@rule(
    "view reshape _unsafe_view flatten unflatten squeeze unsqueeze view_copy ravel atleast_1d "
    "atleast_2d atleast_3d",
    labels=CARRY,
    kind="view",
)
def reshape(op: Operation, self: Value) -> Result:
    """y[i * J + j] = x[i, j], and back: a joined axis is the product of its factors."""
    return regroup(self.axes, op.sizes, op.reason)


@rule("permute", labels=CARRY, kind="turn")
def permute(op: Operation, self: Value, dims: Sequence[int]) -> Result:
    """y[i, j] = x[j, i]: each axis keeps its order in another place."""
    return [self.axes[d] for d in dims]


@rule("transpose swapdims swapaxes", labels=CARRY, kind="turn")
def transpose(
    op: Operation,
    self: Value,
    dim0: int | None = None,
    dim1: int | None = None,
    axis0: int | None = None,
    axis1: int | None = None,
) -> Result:
    """y[j, i] = x[i, j] for two axes."""
    i, j = axis0 if dim0 is None else dim0, axis1 if dim1 is None else dim1
    if i is None or j is None:
        return unknown(op)
    axes = list(self.axes)
    if axes:
        axes[i], axes[j] = axes[j], axes[i]
    return axes


@rule("t mT adjoint", labels=CARRY, kind="turn")
def matrix_transpose(op: Operation, self: Value) -> Result:
    """y[j, i] = x[i, j] for the last two axes; y = x for a vector."""
    return [*self.axes[:-2], *reversed(self.axes[-2:])]


@rule("repeat tile", kind="repeat")
def repeat(op: Operation, self: Value) -> Result:
    """y[k, i] = x[i]: copies k of a whole axis are equal, so that any order of them is right."""
    axes: list[Axis] = [*[ONE] * (len(op.sizes) - len(self.axes)), *self.axes]
    return [
        e if e.size == n else Product([anything(n // e.size, axes), e])
        for e, n in zip(axes, op.sizes)
    ]


@rule("repeat_interleave", kind="repeat")
def repeat_interleave(
    op: Operation, self: Value, repeats: int | Value, dim: int | None = None
) -> Result:
    """y[i * K + k] = x[i]: copies k of each entry are equal."""
    if dim is None or not isinstance(repeats, int):
        return unknown(op)
    axes, k = list(self.axes), position(dim, self.axes)
    axes[k] = Product([axes[k], anything(repeats, axes)])
    return axes


@rule("cat concat concatenate", kind="join")
def cat(op: Operation, tensors: list[Value], dim: int = 0) -> Result:
    """y = (x_1, x_2, ...) along one axis, the sum of their axes; other axes have one order. Empty
    tensors have no entries, and may have another number of axes."""
    k = position(dim, op.sizes)
    own = [v.axes for v in tensors if all(e.size for e in v.axes)]
    out = broadcast(op, [[*t[:k], ONE, *t[k + 1 :]] for t in own])
    out[k] = Sum([t[k] for t in own])
    return out


@rule("stack", kind="join")
def stack(op: Operation, tensors: list[Value], dim: int = 0) -> Result:
    """y[k, i] = x_k[i]: the tensors k keep their order."""
    out, k = broadcast(op, [v.axes for v in tensors]), position(dim, op.sizes)
    return [*out[:k], fixed(len(tensors), op.reason), *out[k:]]


@rule(
    "pad constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d "
    "replication_pad2d replication_pad3d"
)
def pad(
    op: Operation,
    self: Value,
    pad: Sequence[int] | None = None,
    padding: Sequence[int] | None = None,
    mode: str = "constant",
) -> Result:
    """y = (left, x, right) along some axes. Constants are equal entries, which any order leaves in
    place; entries that are copied or left out have an order."""
    axes, amounts = list(self.axes), padding or [] if pad is None else pad
    zeros = op.name == "constant_pad_nd" or (op.name == "pad" and mode == "constant")
    for i in range(len(amounts) // 2):
        k, (left, right) = len(axes) - 1 - i, amounts[2 * i : 2 * i + 2]
        if not left and not right:
            continue
        if zeros and left >= 0 and right >= 0 and not all(a.fixed for a in atoms(axes[k])):
            others = axes[:k] + axes[k + 1 :]
            before = [anything(left, others)] if left else []
            after = [anything(right, others)] if right else []
            axes[k] = Sum([*before, axes[k], *after])
        else:
            op.fix(axes[k])
            axes[k] = fixed(op.sizes[k], op.reason)
    return axes


@rule("diagonal trace diagonal_copy")
def diagonal(op: Operation, self: Value, dim1: int = 0, dim2: int = 1, offset: int = 0) -> Result:
    """y[i] = x[i, i]: rows and columns have one order."""
    axes = list(self.axes)
    i, j = sorted(position(v, axes) for v in (dim1, dim2))
    if offset or axes[i].size != axes[j].size:
        return unknown(op)
    op.unify((axes[i], axes[j]))
    return [e for k, e in enumerate(axes) if k not in (i, j)] + [axes[i]] * (op.name != "trace")


@rule("diag_embed")
def diag_embed(
    op: Operation, self: Value, dim1: int = -2, dim2: int = -1, offset: int = 0
) -> Result:
    """y[i, j] = x[i] if i = j, else 0: rows and columns have one order."""
    if offset:
        return unknown(op)
    axes = list(self.axes)
    out = axes[:-1]
    for k in sorted(position(v, op.sizes) for v in (dim1, dim2)):
        out.insert(k, axes[-1])
    return out

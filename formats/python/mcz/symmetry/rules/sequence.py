# SPDX-License-Identifier: Apache-2.0
"""Operations along an axis whose entries are in order: y[i] depends on x[j] for j near or before
i."""

from __future__ import annotations

from collections.abc import Sequence

from ..axes import ONE
from .helpers import broadcast, position, positions, without
from .operation import Axes, Label, Operation, Result, Value, rule


@rule("cumsum")
def cumsum(op: Operation, self: Value, dim: int) -> Result:
    """y[i] = sum over j <= i of x[j]: i keeps its order, and each entry of other axes is summed by
    itself. The sums of the sizes of sorted units are the ends of these units."""
    axes, k, counts = list(self.axes), position(dim, self.axes), self.axes.counts
    if counts is not None and counts is not ONE and len(axes) == 1:
        return Axes(axes, Label(axes[0], ends=counts))
    op.fix(axes[k])
    op.inner.append(without(axes, k))
    return axes


@rule("roll flip fft_fftshift fft_ifftshift", kind="shift")
@rule("cumprod logcumsumexp cummax cummin")
def ordered(
    op: Operation,
    self: Value,
    dim: int | Sequence[int] | None = None,
    dims: int | Sequence[int] | None = None,
) -> Result:
    """y[i] = f of x at other places along the axes `dim`, which keep their order."""
    axes = list(self.axes)
    for k in positions(dims if dim is None else dim, axes):
        op.fix(axes[k])
        op.inner.append(without(axes, k))
    return op.each(axes)


@rule("diff")
def diff(
    op: Operation,
    self: Value,
    dim: int = -1,
    prepend: Value | None = None,
    append: Value | None = None,
) -> Result:
    """y[i] = x[i + 1] - x[i], with further entries before and after."""
    axes = list(self.axes)
    k = position(dim, axes)
    op.fix(axes[k])
    op.inner.append(without(axes, k))
    for v in [v for v in (prepend, append) if v is not None]:
        op.fix(v.axes[k])
        broadcast(op, [[*t[:k], ONE, *t[k + 1 :]] for t in (axes, v.axes)])
    axes[k] = op.fixed(op.sizes[k : k + 1])[0]
    return axes


TRANSFORMS = [
    f"fft_{name}{n}"
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    for n in ("", "2", "n")
]


@rule(" ".join([*TRANSFORMS, "_fft_c2c", "_fft_r2c", "_fft_c2r"]))
def fourier(
    op: Operation,
    self: Value,
    dim: int | Sequence[int] | None = None,
    s: Sequence[int] | None = None,
) -> Result:
    """y[k] = sum over i of x[i] exp(-2 pi sqrt(-1) i k / n): places i and frequencies k have an
    order. The entries of other axes are independent."""
    axes = list(self.axes)
    if dim is None:
        n = 1 + op.name.endswith("2")
        if op.name.endswith("n"):
            n = len(axes) if s is None else len(s)
        dim = range(-n, 0)
    for k in [position(k, axes) for k in ([dim] if isinstance(dim, int) else dim)]:
        op.fix(axes[k])
        axes[k] = op.fixed(op.sizes[k : k + 1])[0]
    return axes

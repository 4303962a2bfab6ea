# SPDX-License-Identifier: Apache-2.0
"""Convolutions and other operations on windows: channels have an order, places keep theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..axes import Axis, Product, fixed, free
from .helpers import blocks, position
from .operation import Operation, Result, Value, rule


@rule("conv1d conv2d conv3d convolution", kind="convolution")
@rule("conv_transpose1d conv_transpose2d conv_transpose3d")
def convolution(
    op: Operation,
    input: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = None,
    padding: Any = None,
    output_padding: Any = None,
    transposed: bool = False,
    groups: int = 1,
) -> Result:
    """y[n, o, p] = sum over i, d of x[n, i, s p + d] W[o, i, d] + b[o]: channels i have one order
    in x and W. In G groups, i and o are G blocks, and the order of i in a block may vary with the
    block. Positions p along an axis keep their order if each output is one position of the input,
    in the same place: a kernel of 1 without stride and padding."""
    x, w = input.axes, weight.axes
    op.observe(input)
    transposed = transposed or "transpose" in op.name
    op.read.append((weight, 0 if transposed else 1))
    lead = len(x) - len(w) + 1
    inputs, outputs = _channels(op, w, groups, transposed)
    op.unify((x[lead], inputs))
    if bias is not None:
        op.unify((outputs, bias.axes[0]))
    op.inner.append([*x, outputs])
    places: list[Axis] = []
    for k, (e, window) in enumerate(zip(x[lead + 1 :], w[2:])):
        step, pad, more = (_setting(v, k) for v in (stride, padding, output_padding))
        alone = window.size == 1 and step in (None, 1)
        if alone and pad in (None, 0, "same", "valid") and not more:
            places.append(e)
        else:
            op.fix(window, e)
            places += op.fixed(op.sizes[lead + 1 + k : lead + 2 + k])
    return [*x[:lead], outputs, *places]


def _channels(op: Operation, w: Sequence[Axis], groups: int, transposed: bool) -> tuple[Axis, Axis]:
    """The axes of the input's and the output's channels, from those of the weight: (out, in / G)
    or, transposed, (in, out / G)."""
    if groups == 1:
        return (w[0], w[1]) if transposed else (w[1], w[0])
    # axis 0 of the weight contains the blocks; the order on axis 1 may vary with the block
    block, inner = blocks(groups, w[0].size // groups)
    op.unify((w[0], Product([block, inner])))
    other = Product([block, w[1]])
    return (w[0], other) if transposed else (other, w[0])


def _setting(v: Any, k: int) -> Any:
    """The setting of a convolution on spatial axis k: settings are numbers, words, or lists of one
    or of all axes."""
    return v[k if len(v) > 1 else 0] if isinstance(v, (list, tuple)) and v else v or None


POOLS = (
    "max_pool{n}d max_pool{n}d_with_indices avg_pool{n}d adaptive_avg_pool{n}d "
    "_adaptive_avg_pool{n}d adaptive_max_pool{n}d upsample_nearest{n}d _upsample_nearest_exact{n}d "
)


@rule(
    "".join(POOLS.format(n=n) for n in (1, 2, 3)) + "upsample_linear1d upsample_bilinear2d "
    "upsample_trilinear3d upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa"
)
def pool(op: Operation) -> Result:
    """y[n, c, p] = f(x[n, c, p'] for p' in a window): each channel by itself, and places keep their
    order."""
    axes, n = op.tensors[0].axes, int(next(ch for ch in op.name if ch.isdigit()))
    op.fix(*axes[-n:])
    return op.each([*axes[:-n], *op.fixed(op.sizes[-n:])])


@rule("grid_sampler grid_sampler_2d grid_sampler_3d")
def grid_sampler(op: Operation, input: Value, grid: Value) -> Result:
    """y[n, c, p] = x[n, c, at g[n, p, :]]: the grid has the positions p of the output, and on its
    last axis their coordinates in the input."""
    x, g = input.axes, grid.axes
    op.fix(*x[2:], g[-1])
    op.unify((x[0], g[0]))
    return [*x[:2], *g[1:-1]]


@rule("channel_shuffle native_channel_shuffle")
def channel_shuffle(op: Operation, self: Value, groups: int) -> Result:
    """y[n, j * G + g] = x[n, g * K + j]: channels in G blocks of K become K blocks of G."""
    axes = list(self.axes)
    outer, inner = blocks(groups, axes[1].size // groups)
    op.unify((axes[1], Product([outer, inner])))
    axes[1] = Product([inner, outer])
    return axes


@rule("pixel_shuffle pixel_unshuffle")
def pixel_shuffle(op: Operation, self: Value) -> Result:
    """y[c, r i + k, r j + l] = x[c r r + k r + l, i, j], and back: a channel of few channels has
    the entries of several channels at one place, in a fixed order."""
    axes, (channels, h, w) = list(self.axes), op.sizes[-3:]
    op.fix(*axes[-2:])
    own = axes[-3].size
    square = Product([fixed(max(own, channels) // min(own, channels), op.reason)])
    inner: Axis
    if op.name == "pixel_shuffle":
        inner = free(channels)
        op.unify((axes[-3], Product([inner, square])))
    else:
        inner = Product([axes[-3], square])
    return [*axes[:-3], inner, *op.fixed([h, w])]


@rule("im2col")
def im2col(op: Operation, self: Value, kernel_size: Sequence[int]) -> Result:
    """y[c * K + d, p] = x[c, at place d of window p] (unfold): each channel becomes K entries, one
    per place d of a window, which move with the channel."""
    lead = len(op.sizes) - 2
    op.fix(*self.axes[lead + 1 :])
    channels = Product([self.axes[lead], _window(op, kernel_size)])
    return [*self.axes[:lead], channels, *op.fixed(op.sizes[lead + 1 :])]


@rule("col2im")
def col2im(op: Operation, self: Value, kernel_size: Sequence[int]) -> Result:
    """y[c, p'] = sum over the windows p and their places d that are p', of x[c * K + d, p] (fold):
    the inverse of im2col."""
    lead = len(op.sizes) - 3
    op.fix(*self.axes[lead + 1 :])
    channels = free(op.sizes[lead])
    op.unify((self.axes[lead], Product([channels, _window(op, kernel_size)])))
    return [*self.axes[:lead], channels, *op.fixed(op.sizes[lead + 1 :])]


def _window(op: Operation, kernel_size: Sequence[int]) -> Axis:
    """The places of a window, whose order is fixed."""
    return fixed(kernel_size[0] * kernel_size[-1], op.reason)


@rule("unfold")
def unfold(op: Operation, self: Value, dimension: int) -> Result:
    """y[.., p, .., d] = x[.., s p + d, ..]: windows that slide along one axis, which keeps its
    order."""
    axes = list(self.axes)
    k = position(dimension, axes)
    op.fix(axes[k])
    return [*axes[:k], *op.fixed(op.sizes[k : k + 1]), *axes[k + 1 :], *op.fixed(op.sizes[-1:])]

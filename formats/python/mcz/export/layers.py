# SPDX-License-Identifier: Apache-2.0
"""The layers that graphs support, as handlers (torch_functions.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .nodes import Nodes
from .traced_tensor import BATCH, Output, Result, Traced, require

# smallest normal float32; added to a float32 variance above 1e-30 it changes nothing
EPS_MIN = 1.1754943508222875e-38


def two(v: Any) -> list[int]:
    """[height, width] of a setting that is a pair, or one number for both."""
    v = list(v) if isinstance(v, (list, tuple)) else [v, v]
    return [int(k) for k in (v * 2 if len(v) == 1 else v)]


def sides(x: Traced, output_size: Any) -> list[int]:
    """[height, width] of an adaptive pool's output, where None stands for the input's."""
    pair = output_size if isinstance(output_size, (list, tuple)) else [output_size] * 2
    return [s if k is None else k for k, s in zip(pair, x._mc.shape[1:])]


def no_dilation(dilation: Any) -> None:
    """Raises Unsupported for a dilated window."""
    require(two(dilation) == [1, 1], f"dilation {tuple(two(dilation))} is not supported")


def conv2d(
    t: Nodes,
    out: Output,
    x: Traced,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> None:
    """A conv node."""
    no_dilation(dilation)
    kernel = list(weight.shape[2:])
    if padding == "same":
        require(all(k % 2 for k in kernel), 'padding="same" requires an odd kernel')
        padding = [k // 2 for k in kernel]
    t.node(
        out,
        "conv",
        [x],
        named=t.layer(weight, bias),
        out=weight.shape[0],
        kernel=kernel,
        stride=two(stride),
        pad=[0, 0] if padding == "valid" else two(padding),
        groups=groups,
        bias=bias is not None,
    )


def linear(
    t: Nodes, out: Output, x: Traced, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> None:
    """A linear node, or a conv node with a kernel of 1 for each pixel."""
    require(x._mc.axes[-1] == "c", "the last axis of its input must be the channels")
    flat = len(x._mc.axes) == 1
    pixel = {} if flat else {"kernel": [1, 1], "stride": [1, 1], "pad": [0, 0], "groups": 1}
    settings: dict[str, Any] = {**pixel, "out": weight.shape[0], "bias": bias is not None}
    name = t.layer(weight, bias)
    t.node(out, "linear" if flat else "conv", [x], named=name, axes=x._mc.axes, **settings)


def above_zero(t: Nodes, eps: float) -> float:
    """A layer's eps, or EPS_MIN for 0, which graphs do not accept."""
    if eps:
        return eps
    t.note(f"{t.place()}: eps=0 becomes {EPS_MIN:g}, which is the same unless a variance is 0")
    return EPS_MIN


def batch_norm(
    t: Nodes,
    out: Output,
    x: Traced,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    training: bool = False,
    momentum: float | None = 0.1,
    eps: float = 1e-05,
) -> None:
    """A batchnorm node."""
    require(running_mean is not None, "running statistics are required (track_running_stats=True)")
    require(weight is not None, "weight and bias are required (affine=True)")
    require(not training, "it must use running statistics in evaluation")
    require(x._mc.axes[0] == "c", "axis 1 of its input must be the channels")
    name = t.layer(weight, bias)
    require(
        getattr(t.net.get_submodule(name), "momentum", 0) is not None,
        "momentum=None, the mean of all batches, is not supported (set a number)",
    )
    t.node(
        out,
        "batchnorm",
        [x],
        named=name,
        axes=x._mc.axes,
        eps=above_zero(t, eps),
        momentum=momentum,
    )


def layer_norm(
    t: Nodes,
    out: Output,
    x: Traced,
    normalized_shape: Sequence[int],
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-05,
) -> None:
    """A layernorm node, over the channels of each pixel."""
    require(
        x._mc.axes[-1] == "c" and len(normalized_shape) == 1,
        "it must normalise over the channels alone",
    )
    require(
        weight is not None and bias is not None,
        "weight and bias are required (elementwise_affine=True)",
    )
    t.node(
        out, "layernorm", [x], named=t.layer(weight, bias), axes=x._mc.axes, eps=above_zero(t, eps)
    )


def group_norm(
    t: Nodes,
    out: Output,
    x: Traced,
    num_groups: int,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-05,
) -> None:
    """A groupnorm node."""
    require(x._mc.axes[0] == "c", "channels must be its first axis")
    require(weight is not None and bias is not None, "weight and bias are required (affine=True)")
    t.node(
        out,
        "groupnorm",
        [x],
        named=t.layer(weight, bias),
        axes=x._mc.axes,
        groups=num_groups,
        eps=above_zero(t, eps),
    )


def max_pool2d(
    t: Nodes,
    out: Output,
    x: Traced,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> None:
    """A maxpool node."""
    no_dilation(dilation)
    pool(t, out, "maxpool", x, kernel_size, stride, padding, ceil_mode)


def avg_pool2d(
    t: Nodes,
    out: Output,
    x: Output,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> None:
    """An avgpool node; if the padding counts, after a pad node."""
    require(divisor_override is None, f"divisor_override={divisor_override} is not supported")
    if any(two(padding)) and count_include_pad:  # the padding counts: a pad node before the pool
        around = [s + 2 * p for s, p in zip(x._mc.shape[1:], two(padding))]
        padded, zeros = Result(torch.empty(BATCH, x._mc.shape[0], *around)), [0, *two(padding)]
        t.node(padded, "pad", [x], named=t.functional("avgpool", ".pad"), before=zeros, after=zeros)
        x, padding = padded, 0
    pool(t, out, "avgpool", x, kernel_size, stride, padding, ceil_mode)


def pool(
    t: Nodes, out: Output, op: str, x: Output, kernel: Any, stride: Any, pad: Any, ceil_mode: bool
) -> None:
    """Adds a pooling node: globalpool if an avgpool's window is the whole image, else op."""
    _, h, w = x._mc.shape
    if op == "avgpool" and two(kernel) == [h, w] and not any(two(pad)):
        t.node(out, "globalpool", [x])
        return
    t.node(
        out,
        op,
        [x],
        kernel=two(kernel),
        stride=two(kernel if stride is None or stride == [] else stride),
        pad=two(pad),
        ceil=bool(ceil_mode),
    )


def adaptive_avg_pool2d(t: Nodes, out: Output, x: Traced, output_size: Any) -> None:
    """A globalpool node for one pixel, an adaptpool node otherwise."""
    size = sides(x, output_size)
    if size == [1, 1]:
        t.node(out, "globalpool", [x])
        return
    if size == list(x._mc.shape[1:]):
        t.same(out, x)
        return
    t.node(out, "adaptpool", [x], size=size)


def adaptive_max_pool2d(
    t: Nodes, out: Output, x: Traced, output_size: Any, return_indices: bool = False
) -> None:
    """A maxpool node, for windows of equal size."""
    size = sides(x, output_size)
    require(
        all(s % k == 0 for k, s in zip(size, x._mc.shape[1:])),
        "its input's size must be a multiple of its output's",
    )
    kernel = [s // k for k, s in zip(size, x._mc.shape[1:])]
    pool(t, out, "maxpool", x, kernel, kernel, 0, False)


def mean(
    t: Nodes, out: Output, x: Traced, dim: Any = None, keepdim: bool = False, **rest: Any
) -> None:
    """A globalpool node, for the mean of all pixels."""
    dims = [dim] if isinstance(dim, int) else list(dim or [])
    over = {
        x._mc.axes[d % (len(x._mc.axes) + 1) - 1] if d % (len(x._mc.axes) + 1) else "n"
        for d in dims
    }
    spatial = set(x._mc.axes) - {"c"}
    require(over == spatial and spatial, "it must average over all pixels of each channel")
    t.node(out, "globalpool", [x], axes=x._mc.axes if keepdim else "c", any_axes=True)

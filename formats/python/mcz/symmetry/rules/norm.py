# SPDX-License-Identifier: Apache-2.0
"""Normalisation: statistics over some axes, and a factor and a summand along others."""

from __future__ import annotations

from collections.abc import Sequence

from ..axes import ONE, Product
from .helpers import blocks, broadcast
from .operation import Operation, Result, Value, rule


@rule(
    "batch_norm native_batch_norm cudnn_batch_norm _native_batch_norm_legit "
    "_native_batch_norm_legit_functional _native_batch_norm_legit_no_training "
    "_batch_norm_with_update _batch_norm_with_update_functional _batch_norm_no_update "
    "instance_norm prelu"
)
def channels(op: Operation) -> Result:
    """y[n, c, p] = f(x[n, c, p]; w[c], b[c], mean[c], var[c]): each channel by itself, with its own
    statistics, which are those of the batch in training. Statistics that are outputs have one
    number per channel."""
    x, vectors = op.tensors[0].axes, op.tensors[1:]
    for v in vectors:
        if v.axes and v.axes[0].size > 1:
            op.unify((x[1], v.axes[0]))
    if op.name != "prelu":
        op.inner.append(x[op.name != "instance_norm" : 2])
    if not op.several:
        return x
    own = x[1:2]
    same = [e.size for e in own]
    return [x, *(own if s == same else op.fixed(s) for s in op.outputs[1:])]


@rule("group_norm native_group_norm")
def group_norm(
    op: Operation, input: Value, num_groups: int | None = None, group: int | None = None
) -> Result:
    """y[n, g K + k, p] = f(x[..]; mean[n, g], var[n, g]; w[g K + k], b[g K + k]): channels in
    blocks of K. Whole blocks move, and the channels in each."""
    axes = input.axes
    n = num_groups or group or 1
    outer, inner = blocks(n, axes[1].size // n)
    op.unify((axes[1], Product([outer, inner])))
    for v in op.tensors[1:]:
        op.unify((axes[1], v.axes[0]))
    statistics = [axes[0], outer]
    op.inner.append(statistics)
    return [axes, *(statistics for _ in op.outputs[1:])] if op.several else axes


@rule("layer_norm native_layer_norm", kind="layer_norm")
@rule("rms_norm _fused_rms_norm", kind="rms_norm")
def layer_norm(op: Operation, input: Value, normalized_shape: Sequence[int]) -> Result:
    """y[n, c] = f(x[n, c]; mean[n], var[n]; w[c], b[c]) for the last axes c: the statistics do not
    depend on their order. They are outputs too."""
    axes, n = input.axes, len(normalized_shape)
    for v in op.tensors[1:]:
        broadcast(op, [axes[len(axes) - len(v.axes) :], v.axes])
    op.inner.append(axes[:-n])
    if not op.several:
        return axes
    return [axes, *([*axes[:-n], *[ONE] * n] for _ in op.outputs[1:])]


@rule("_weight_norm _weight_norm_interface")
def weight_norm(op: Operation, v: Value, g: Value) -> Result:
    """w[i, j] = g[i] v[i, j] / norm over j of v[i, j]: g has the axis i of v."""
    broadcast(op, [v.axes, g.axes])
    return v.axes if op.name == "_weight_norm" else [v.axes, g.axes]

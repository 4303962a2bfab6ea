# SPDX-License-Identifier: Apache-2.0
"""Sums over axes, and norms."""

from ..axes import ONE, Product, atoms, free, vary
from .call import Axes, Label, Value, broadcast, dims, index, rule
from .elementwise import pointwise


@rule(
    "sum",
    "nansum",
    "mean",
    "nanmean",
    "amax",
    "amin",
    "var",
    "std",
    "norm",
    "linalg_vector_norm",
    "linalg_norm",
    "linalg_matrix_norm",
    "logsumexp",
    "special_logsumexp",
    "all",
    "any",
    "prod",
    "max",
    "min",
    "var_mean",
    "std_mean",
    "aminmax",
    "count_nonzero",
    "median",
    "nanmedian",
    "mode",
    "kthvalue",
    "argmax",
    "argmin",
)
def reduce(c):
    """One number for the entries along some axes, in any order. The place of an extreme is a label
    if there is one extreme."""
    if c.name in ("max", "min") and isinstance(c.other, Value):
        return pointwise(c)
    axes = list(c.self.axes)
    over = dims(c, axes)
    if (c.dim is None and c.name in ("mode", "kthvalue")) or (
        c.name == "linalg_matrix_norm" and c.dim is None
    ):
        over = [k + len(axes) for k in ([-1] if c.name != "linalg_matrix_norm" else [-2, -1])]
    out = [ONE if k in over else e for k, e in enumerate(axes) if c.keepdim or k not in over]
    if c.name.startswith("arg"):
        return places_of(c, out, [axes[k] for k in over], True)
    if not c.several() or c.name not in ("max", "min", "median", "nanmedian", "mode", "kthvalue"):
        return [out] * len(c.sizes) if c.several() else out
    return [out, places_of(c, out, [axes[k] for k in over], c.used(1))]


def places_of(c, axes, reduced, used, **more):
    """The axes of numbers of places on the axes `reduced`. Which of several equal numbers is taken
    depends on their order."""
    if used and (not c.self.apart or any(a.loose for e in reduced for a in atoms(e))):
        c.fix(*reduced)
    return Axes(axes, Label(Product(reduced), **more))


@rule("cosine_similarity", "pairwise_distance")
def similarity(c):
    out = broadcast(c, [v.axes for v in c.values()])
    k = index((1 if c.name == "cosine_similarity" else -1) if c.dim is None else c.dim, out)
    return out[:k] + [ONE] * bool(c.keepdim) + out[k + 1 :]


@rule(
    "batch_norm",
    "native_batch_norm",
    "cudnn_batch_norm",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "_batch_norm_with_update",
    "_batch_norm_with_update_functional",
    "_batch_norm_no_update",
    "instance_norm",
    "prelu",
)
def channels(c):
    """Each channel by itself, with its own statistics, which are those of the batch in training.
    Statistics that are outputs have one number per channel."""
    x, *vectors = c.values()
    for v in vectors:
        if v.axes and v.axes[0].size > 1:
            c.unify((x.axes[1], v.axes[0]))
    if c.name != "prelu":
        c.inner.append(x.axes[c.name != "instance_norm" : 2])
    if not c.several():
        return x.axes
    own = [x.axes[1]] if len(x.axes) > 1 else []
    return [x.axes, *(own if s == [e.size for e in own] else c.fixed(s) for s in c.sizes[1:])]


@rule("group_norm", "native_group_norm")
def group_norm(c):
    """Channels in blocks: whole blocks move, and the channels in each."""
    axes, n = c.input.axes, c.num_groups or c.group
    blocks, inner = free(n), free(axes[1].size // n)
    for a in atoms(inner):
        for b in atoms(blocks):
            vary(a, b)
    c.unify((axes[1], Product([blocks, inner])))
    for v in list(c.values())[1:]:
        c.unify((axes[1], v.axes[0]))
    c.inner.append([axes[0], blocks])
    return [axes, *([axes[0], blocks] for _ in c.sizes[1:])] if c.several() else axes


@rule("layer_norm", "rms_norm", "native_layer_norm", "_fused_rms_norm")
def layer_norm(c):
    """The statistics of the last axes do not depend on their order; they are outputs too."""
    axes, n = c.input.axes, len(c.normalized_shape)
    for v in list(c.values())[1:]:
        broadcast(c, [axes[len(axes) - len(v.axes) :], v.axes])
    c.inner.append(axes[:-n])
    return [axes, *([*axes[:-n], *[ONE] * n] for _ in c.sizes[1:])] if c.several() else axes


@rule("_weight_norm", "_weight_norm_interface")
def weight_norm(c):
    """v divided by its norm over all axes but one, times g, which has that axis."""
    broadcast(c, [c.v.axes, c.g.axes])
    return c.v.axes if c.name == "_weight_norm" else [c.v.axes, c.g.axes]

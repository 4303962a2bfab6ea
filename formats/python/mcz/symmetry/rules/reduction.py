# SPDX-License-Identifier: Apache-2.0
"""One number for the entries along some axes, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..axes import ONE
from .elementwise import pointwise
from .helpers import broadcast, places_of, position, positions
from .operation import Operation, Result, Value, rule

PLACES = "max", "min", "median", "nanmedian", "mode", "kthvalue"  # that also return the place


@rule(
    "sum nansum mean nanmean amax amin var std norm linalg_vector_norm linalg_norm "
    "linalg_matrix_norm logsumexp special_logsumexp all any prod max min var_mean std_mean aminmax "
    "count_nonzero median nanmedian mode kthvalue argmax argmin"
)
def reduce(
    op: Operation,
    self: Value,
    dim: int | Sequence[int] | None = None,
    other: Any = None,
    keepdim: bool = False,
) -> Result:
    """y[n] = f({x[n, i] for all i}) for a function of a set, such as a sum or a maximum. The place
    of an extreme names a unit of i, if there is one extreme."""
    if op.name in ("max", "min") and isinstance(other, Value):
        return pointwise(op)
    axes = list(self.axes)
    over = positions(dim, axes)
    if dim is None and op.name in ("mode", "kthvalue"):
        over = [len(axes) - 1]
    elif dim is None and op.name == "linalg_matrix_norm":
        over = [len(axes) - 2, len(axes) - 1]
    out = [ONE if k in over else e for k, e in enumerate(axes) if keepdim or k not in over]
    reduced = [axes[k] for k in over]
    if op.name.startswith("arg"):
        return places_of(op, self, out, reduced, True)
    if op.several and op.name in PLACES:
        return [out, places_of(op, self, out, reduced, op.used(1))]
    return op.each(out)


@rule("cosine_similarity pairwise_distance")
def similarity(op: Operation, dim: int | None = None, keepdim: bool = False) -> Result:
    """z[n] = f(sums over i of products of x[n, i] and y[n, i]): i has one order in x and y."""
    out = broadcast(op, [v.axes for v in op.tensors])
    default = 1 if op.name == "cosine_similarity" else -1
    k = position(default if dim is None else dim, out)
    return [*out[:k], *[ONE] * keepdim, *out[k + 1 :]]

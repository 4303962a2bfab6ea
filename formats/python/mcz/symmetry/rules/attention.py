# SPDX-License-Identifier: Apache-2.0
"""Attention."""

from __future__ import annotations

from ..axes import Product
from .helpers import anything, broadcast
from .operation import Operation, Result, Value, rule


@rule("scaled_dot_product_attention")
def attention(
    op: Operation,
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None = None,
    is_causal: bool = False,
    enable_gqa: bool = False,
) -> Result:
    """y[h, i, v] = sum over j of softmax over j of (sum over c of q[h, i, c] k[h, j, c] +
    mask[h, i, j]) v[h, j, v]. Heads h have one order in all; channels c one in q and k; positions j
    one in k and v; the order of v is y's. The orders of c and v may vary with the head. A causal
    mask fixes the positions. With grouped queries, query head h reads head h // g of k and v."""
    q, k, v = query.axes, key.axes, value.axes
    for x in (query, key, value):
        op.observe(x)
    batch = [list(x[:-2]) for x in (q, k, v)]
    if enable_gqa and q[-3].size != k[-3].size:
        op.unify((k[-3], v[-3]))
        heads = Product([k[-3], anything(q[-3].size // k[-3].size, batch[1])])
        op.unify((q[-3], heads))
        batch[1][-1] = batch[2][-1] = heads
    out = broadcast(op, batch, (q[-1], k[-1]), (k[-2], v[-2]))
    if attn_mask is not None:
        broadcast(op, [attn_mask.axes, [*out, q[-2], k[-2]]])
    if is_causal:
        op.fix(q[-2], k[-2])
    op.inner += [[*out, q[-2], k[-2], *more] for more in (q[-1:], [], v[-1:])]
    return [*out, q[-2], v[-1]]

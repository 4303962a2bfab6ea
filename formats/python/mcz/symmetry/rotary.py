# SPDX-License-Identifier: Apache-2.0
"""Rotary positions: they turn pairs of channels of queries and keys, one pair per frequency. Such a
pair may be rotated in the keys of a head and in the queries that read it. It may also be scaled by
t in the keys and by 1 / t in the queries. If a norm with unequal gains reads queries or keys, the
pair may only change its sign in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from ..nn.state import Tensors
from .calls import Call, Node, Program, sources
from .rules.kinds import MOVES, SUMS

Pairs = list[tuple[int, int]]
SIGNS = 3  # choices of signs that leave the outputs unchanged
SMALL = 1e-11  # relative to the largest derivative: the lowest frequencies have 1e-8


class Attention(NamedTuple):
    """The parameters of queries and keys, and the places of their channels on axis 0.

    queries, keys  the weight and perhaps the bias of a layer
    nodes          the outputs of both layers
    q              the places of queries (key heads, query heads of each, channels)
    k              those of keys (key heads, 1, channels)"""

    queries: list[str]
    keys: list[str]
    nodes: tuple[Node, Node]
    q: torch.Tensor
    k: torch.Tensor

    @property
    def sides(self) -> tuple[tuple[list[str], Node, torch.Tensor], ...]:
        """(parameters, output, places) of keys and of queries."""
        return (self.keys, self.nodes[1], self.k), (self.queries, self.nodes[0], self.q)


def attentions(program: Program) -> Iterator[Attention]:
    """The attentions whose queries and keys each come from one linear layer, and on the way meet
    other numbers, as cosines and sines of positions."""
    for call in program.calls:
        if call.name == "scaled_dot_product_attention":
            nodes = call.args["query"], call.args["key"]
        elif call.name in ("matmul", "bmm") and not set(call.nodes) & program.constants:
            nodes = call.nodes[0], call.nodes[-1]
        else:
            continue
        q, k = (_source(program, n) for n in nodes)
        if q and k:
            keys = k[1] if call.name == "scaled_dot_product_attention" else k[1].mT
            heads = _heads(q[1][..., 0, :], keys[..., 0, :])
            queries, names = (_parameters(program, own[0]) for own in (q, k))
            if heads and queries and names and (queries != names or not torch.isin(*heads).any()):
                yield Attention(queries, names, (q[0].node, k[0].node), *heads)


def _layer(program: Program, node: Node) -> tuple[Call, set[Node]] | None:
    """The only layer that a value comes from, and the operations between, or None."""
    found: list[Call] = []
    todo, seen = [node], {node}
    while todo:
        n = todo.pop()
        call = program.of.get(n)
        if call is not None and call.kind in SUMS:
            found.append(call)
            continue
        new = [m for m in sources(n) if m not in seen and m not in program.constants]
        todo += new
        seen.update(new)
    return (found[0], seen) if len(found) == 1 and found[0].name == "linear" else None


def _parameters(program: Program, layer: Call) -> list[str]:
    """The weight and bias of a linear layer, with its outputs on axis 0, or []."""
    nodes = [layer.args[k] for k in ("weight", "bias") if layer.args.get(k) is not None]
    own = [program.parameter(n) for n in nodes]
    return [p[0] for p in own if p] if all(p and p[1] == 0 for p in own) else []


def _source(program: Program, node: Node) -> tuple[Call, torch.Tensor] | None:
    """The only layer that a value comes from, and the place on the last axis of its output that
    each number of the value comes from; of a sum, that of the operand whose places come first. None
    if an operation does not keep them apart, or if all only move numbers."""
    found = _layer(program, node)
    if found is None:
        return None
    layer, between = found
    if all(len(sources(n)) == 1 for n in between - {layer.node}):
        return None
    size = layer.node.meta["val"].shape
    places: dict[Node, Any] = {layer.node: torch.arange(size[-1]).double().repeat(*size[:-1], 1)}
    for n in program.nodes:
        own = [places[m] for m in sources(n) if m in places] if n in between else []
        if not own or n in places:
            continue
        call, value = program.of.get(n), n.meta["val"]
        if call is None or call.kind in MOVES - {"same"} | {"pair"}:
            if len(own) < len(n.all_input_nodes):
                return None
            args, kwargs = torch.fx.node.map_arg((n.args, n.kwargs), places.__getitem__)
            own[0] = n.target(*args, **kwargs)
            # other operations than these may have made it contiguous for a view
            places[n] = own[0].contiguous() if isinstance(own[0], torch.Tensor) else own[0]
        elif own[0].shape == getattr(value, "shape", None):
            places[n] = min(own, key=lambda v: v.flatten(0, -2)[0].tolist())
        # no places: a number per head, such as a norm's deviation
    return (layer, places[node]) if node in places and places[node].dim() > 1 else None


def _heads(q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The places of the queries and keys of each key head, from those of a token. Several query
    heads may read a key head."""
    if q.dim() > 2 and k.dim() == q.dim() and q.shape[-2] % k.shape[-2] == 0:
        k = k.repeat_interleave(q.shape[-2] // k.shape[-2], -2)
    if q.shape != k.shape:
        return None
    found: dict[tuple[int, ...], dict[tuple[int, ...], None]] = {}
    for a, b in zip(*(v.long().flatten(0, -2).tolist() for v in (q, k))):
        found.setdefault(tuple(b), {})[tuple(a)] = None
    keys = sorted(found)
    if len({len(v) for v in found.values()}) != 1:
        return None
    return torch.tensor([list(found[b]) for b in keys]), torch.tensor(keys)[:, None]


def channels(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The entries of a parameter's channels: (*places.shape, others)."""
    return x[places].reshape(*places.shape, -1)


def products(
    own: Attention, state: Mapping[str, torch.Tensor], gradient: Mapping[str, torch.Tensor]
) -> torch.Tensor:
    """D (key heads, channels, channels) of a sum of outputs: trace(X D) is its derivative by s if
    keys k become (1 + s X) k and queries q become (1 + s X)^-T q. It is 0 if X generates a
    symmetry. Relative to the largest derivative by keys alone."""
    sums = []
    for names, _, places in own.sides:
        w, g = (
            torch.cat([channels(t[p].detach(), places) for p in names], 3)
            for t in (state, gradient)
        )
        sums.append((w @ g.mT).sum(1))
    return (sums[0] - sums[1].mT) / sums[0].abs().max()


def candidates(sums: Sequence[torch.Tensor]) -> list[Pairs]:
    """The pairs that rotary positions may turn, from products() of several sums: halves of the
    channels that may not be scaled one by one, or neighbours."""
    if not sums:
        return []
    d = torch.cat(list(sums))
    turned = [i for i in range(d.shape[1]) if d[:, i, i].abs().max() > SMALL]
    n = len(turned) // 2
    if not n or len(turned) % 2:
        return []
    return [list(zip(turned[:n], turned[n:])), list(zip(turned[::2], turned[1::2]))]


def pairs_of(sums: Sequence[torch.Tensor], scaled: bool = False) -> Pairs:
    """The pairs of channels that may be rotated in all heads, and scaled if asked."""
    for own in candidates(sums):
        if _may_turn(torch.cat(list(sums)), own, scaled):
            return own
    return []


def signs_of_pairs(
    own: Attention, pairs: Pairs, state: Mapping[str, torch.Tensor]
) -> Iterator[Tensors]:
    """Yields {parameter: tensor} of queries and keys with other signs of pairs: first that of one
    pair of one head, then random signs."""
    heads, channel = len(own.k), torch.tensor(pairs)
    random = torch.Generator().manual_seed(1)
    for i in range(SIGNS):
        draw = torch.randint(2, (heads, len(pairs)), generator=random) * min(i, 1)
        draw[0, 0] = 1
        signs = torch.ones(heads, own.k.shape[2], dtype=torch.float64)
        signs[:, channel.T] = 1 - 2 * draw[:, None].double()
        found: Tensors = {}
        for names, _, places in own.sides:
            for p in names:
                x = found.get(p, state[p]).clone()
                x[places] *= signs.reshape(heads, 1, -1, *[1] * (x.dim() - 1)).to(x)
                found[p] = x
        yield found


def blocks_of(own: Attention, pairs: Pairs) -> list[list[int]]:
    """The channels of the pairs of a head, each block in one piece and with its pairs i and
    i + n / 2: one block, or if pairs are neighbours, one per pair."""
    for blocks in ([[i for half in zip(*pairs) for i in half]], [list(p) for p in pairs]):
        steps = [places[..., b].diff() for b in blocks for _, _, places in own.sides]
        if pairs and all(bool((v == 1).all()) for v in steps):
            return blocks
    return []


def _may_turn(d: torch.Tensor, own: Pairs, scaled: bool) -> bool:
    i, j = torch.tensor(own).T
    derivatives = [d[:, i, j] - d[:, j, i]]
    if scaled:
        derivatives.append(d[:, i, i] + d[:, j, j])
    return all(bool((v.abs() <= SMALL).all()) for v in derivatives)

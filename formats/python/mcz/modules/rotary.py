# SPDX-License-Identifier: Apache-2.0
"""Rotary positions: they turn pairs of channels of queries and keys, one pair per frequency. Such a
pair may be scaled by t in the keys of a head and by 1 / t in the queries that read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch

from ..nn.state import Tensors
from ..symmetry.calls import Call, Node, Program
from ..symmetry.flow import PRODUCTS
from ..symmetry.probe import Probe

SMALL = 1e-7  # relative to the largest derivative


class Attention(NamedTuple):
    """The layers of queries and keys, each with a weight and perhaps a bias, and the channels of a
    head."""

    queries: list[str]
    keys: list[str]
    width: int


def attentions(program: Program) -> Iterator[Attention]:
    """The attentions whose queries and keys each come from one linear layer."""
    for call in program.calls:
        if call.name == "scaled_dot_product_attention":
            pair = call.args["query"], call.args["key"]
        elif call.name in ("matmul", "bmm") and not set(call.nodes) & program.constants:
            pair = call.nodes[0], call.nodes[-1]
        else:
            continue
        own = [_layer(program, n) for n in pair]
        if own[0] and own[1] and own[0] != own[1]:
            yield Attention(own[0], own[1], pair[0].meta["val"].shape[-1])


def _layer(program: Program, node: Node) -> list[str]:
    """The weight and bias of the only layer that a value comes from, or []."""
    found: list[Call] = []
    todo, seen = [node], {node}
    while todo:
        n = todo.pop()
        call = program.of.get(n)
        if call is not None and call.name in PRODUCTS:
            found.append(call)
            continue
        todo += [m for m in n.all_input_nodes if m not in seen and m not in program.constants]
        seen.update(todo)
    if len(found) != 1 or found[0].name != "linear":
        return []
    own = [program.parameter(found[0].args.get(k)) for k in ("weight", "bias")]
    return [p[0] for p in own if p] if own[0] else []


def balance(found: Attention, probe: Probe, state: Tensors) -> None:
    """Gives each frequency of a key and of the queries that read it the same norm, if derivatives
    show that it may be scaled: those by log t cancel in the sum over a pair."""
    q, k = (
        torch.stack([torch.stack(probe.channels[p]) for p in own]).sum(0)
        for own in (found.queries, found.keys)
    )
    heads = k.shape[1] // found.width
    if k.shape[1] % found.width or q.shape[1] % k.shape[1]:
        return
    times = len(k)
    e = k.reshape(times, heads, -1) - q.reshape(times, heads, -1, found.width).sum(2)
    limit = SMALL * k.abs().max()
    rest = [i for i in range(found.width) if e[:, :, i].abs().max() > limit]
    n = len(rest) // 2
    for pairs in (list(zip(rest[:n], rest[n:])), list(zip(rest[::2], rest[1::2]))):
        if (
            n
            and len(rest) == 2 * n
            and all((e[:, :, i] + e[:, :, j]).abs().max() <= limit for i, j in pairs)
        ):
            _scale(found, pairs, heads, state)
            return


def _scale(found: Attention, pairs: list[tuple[int, int]], heads: int, state: Tensors) -> None:
    """Gives both sides of each pair of channels the same norm."""
    own = [
        [state[p].view(heads, -1, found.width, state[p].numel() // len(state[p])) for p in side]
        for side in (found.queries, found.keys)
    ]
    squares = [torch.stack([v.square().sum((1, 3)) for v in side]).sum(0) for side in own]
    t = torch.ones(heads, found.width, dtype=torch.float64)
    for i, j in pairs:
        a, b = (s[:, i] + s[:, j] for s in squares)
        t[:, i] = t[:, j] = torch.where((a > 0) & (b > 0), (a / b) ** 0.25, 1.0)
    for side, factor in zip(own, (1 / t, t)):
        for v in side:
            v.mul_(factor[:, None, :, None].to(v))

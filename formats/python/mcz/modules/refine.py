# SPDX-License-Identifier: Apache-2.0
"""Learned maps: lower the loss near the middle of two networks, from the maps that moments gave.

A map of a group is M = Q M0, where M0 is what the moments gave and Q is learned:

- orthogonal: Q = (I - S)^-1 (I + S) with S = Z - Z^T, Cayley's factor, from Z = 0.
- centred: the same in the complement of the vector of ones.
- permutation: the assignment of scores, which start at the moments. The gradient of the
  permutation matrix is taken for that of the scores (straight through).
- signed: the same for the sizes of moments. A pair has the sign of its moment.

Orders of units that contain groups, orders within units, and the maps of rotary positions (rotation
and half-turn) stay unchanged."""

from __future__ import annotations

import functools
import io
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import need
from ..header import Stream
from ..nesting import allows_of
from ..nn.batches import Batches, Loss, labelled, measure, read, to
from ..nn.copies import duplicate
from ..nn.inputs import call_with, expect_replaceable
from ..nn.maps import complement, is_matrix
from ..nn.permuted import axes_of, moved
from ..nn.state import device_of, owners
from ..nn.unchanged import evaluating
from ..programs import pipe
from ..stream import read as read_stream
from ..writing import history, write
from .network import Network
from .points import between
from .training import NO_GRADIENT

RATE, ORDER_RATE = 0.005, 0.02  # of Adam: of rotations, and of the scores of orders
MIDDLE = 0.4, 0.6  # the part of the line whose loss is lowered
LEAD = 1e-4  # score of a pair without data in the first order
WARM = 0.1  # the part of the steps in which the rate rises


def cayley(z: torch.Tensor) -> torch.Tensor:
    """(I - S)^-1 (I + S) with S = z - z^T: an orthogonal matrix."""
    s, one = z - z.T, torch.eye(len(z), dtype=z.dtype, device=z.device)
    q: torch.Tensor = torch.linalg.solve(one - s, one + s)
    return q


class Rotation:
    """A learned rotation of a group.

    z  its parameter"""

    def __init__(self, start: NDArray[Any], allows: str, device: torch.device) -> None:
        self.start = torch.as_tensor(start, dtype=torch.float32).to(device)
        self.basis: torch.Tensor | None = None
        if allows == "centred":
            self.basis = complement(len(start)).to(self.start)
        n = len(start) - (self.basis is not None)
        self.z = torch.zeros(n, n, device=device, requires_grad=True)

    def map(self) -> torch.Tensor:
        """The matrix."""
        q = cayley(self.z)
        if self.basis is not None:
            q = self.basis @ q @ self.basis.T + 1 / len(self.start)
        return q @ self.start

    def result(self) -> NDArray[Any]:
        """The matrix as float32, orthogonal to rounding."""
        m = self.map().detach().double().cpu().numpy()
        if self.basis is not None:
            m -= m.mean(1, keepdims=True)
            m -= m.mean(0, keepdims=True)
        u, _, v = np.linalg.svd(m)
        if self.basis is not None:  # its last singular value is 0, of the vector of ones
            u, v = u[:, :-1], v[:-1]
        exact: NDArray[Any] = u @ v + (0 if self.basis is None else 1 / len(m))
        return exact.astype("f4")


class Order:
    """A learned order of a group.

    z      its scores: rows are units of a
    hard   the order that they give
    signs  of each pair, or None"""

    def __init__(self, scores: NDArray[Any], start: NDArray[Any], device: torch.device) -> None:
        self.signs: torch.Tensor | None = None
        rows = np.arange(len(start))
        if is_matrix(start):
            found, signs = start, np.where(scores < 0, -1, 1).astype("f4")
            scores, start = abs(scores), abs(found).argmax(1)
            signs[rows, start] = found[rows, start]
            self.signs = torch.from_numpy(signs).to(device)
        own = scores / max(scores[rows, start].mean(), 1e-12)
        own[rows, start] = np.where(own[rows, start] == 0, LEAD, own[rows, start])
        own = torch.as_tensor(own, dtype=torch.float32)
        self.z, self.hard = own.to(device).requires_grad_(), start

    def map(self) -> torch.Tensor:
        """The permutation matrix, with the gradient of the scores. Its zeros have signs too, which
        unsigned() reads."""
        hard = torch.zeros_like(self.z)
        places = torch.as_tensor(self.hard, dtype=torch.long, device=hard.device)
        m = hard.scatter_(1, places[:, None], 1.0) + self.z - self.z.detach()
        return m if self.signs is None else m * self.signs

    def result(self) -> NDArray[Any]:
        """The order, or the matrix with signs."""
        if self.signs is None:
            return self.hard.astype("i4")
        m: NDArray[Any] = np.eye(len(self.hard))[self.hard] * self.signs.cpu().numpy()
        return (m + 0).astype("f4")  # without -0


class Learned:
    """The maps of all groups.

    fixed   {group: order or matrix} of those that are not learned
    parts   {group: Rotation or Order}"""

    def __init__(self, start: Stream, matrices: Stream, network: Network) -> None:
        device = device_of(network.tensors)
        groups = start.meta["groups"]
        allows = allows_of(network.rows)
        around = {g["within"] for g in groups if "within" in g}
        self.fixed: dict[str, Any] = {}
        self.parts: dict[str, Rotation | Order] = {}
        for i, g in enumerate(groups):
            name, m = g["name"], start.tensors[g["name"]]
            if is_matrix(m) and allows[name] in ("orthogonal", "centred"):
                self.parts[name] = Rotation(m, allows[name], device)
            elif (
                allows[name] in ("permutation", "signed") and "within" not in g and i not in around
            ):
                self.parts[name] = Order(matrices.tensors[name], m, device)
            else:
                self.fixed[name] = m

    def maps(self) -> dict[str, Any]:
        """{group: map}, with gradients."""
        return {**self.fixed, **{g: p.map() for g, p in self.parts.items()}}

    def assign(self) -> None:
        """Assigns the units of the learned orders by their scores, with mc-hungarian."""
        own = {g: p for g, p in self.parts.items() if isinstance(p, Order)}
        if not own:
            return
        meta = {
            "measure": "score",
            "at": "post",
            "groups": [
                {"name": g, "size": len(p.hard), "taps": 1, "dead_a": [], "dead_b": []}
                for g, p in own.items()
            ],
        }
        scores = {g: p.z.detach().double().cpu().numpy() for g, p in own.items()}
        data = io.BytesIO()
        write(data, "matrices", meta, scores)
        found = read_stream(io.BytesIO(pipe(data.getvalue(), ["mc-hungarian", "--quiet"])))
        for g, p in own.items():
            p.hard = found.tensors[g]


def refine(
    a: Network, b: Network, maps: bytes, scores: bytes, loader: Batches, steps: int, loss: Loss
) -> bytes:
    """The stream of maps after `steps` batches of the loader, from the maps of mc-hungarian or
    mc-procrustes. scores: the stream of mc-corr that they were computed from. On the device of
    a."""
    start, matrices = (read_stream(io.BytesIO(v)) for v in (maps, scores))
    learned = Learned(start, matrices, a)
    need(learned.parts, "no group has maps that can be learned")
    device = device_of(a.tensors)
    state, first = b.tensors, owners(b.tensors)
    axes = axes_of(state, b.rows)
    ends = [{k: v.detach().to(device) for k, v in n.tensors.items()} for n in (a, b)]
    buffers = {k for k, _ in a.module.named_buffers()}
    numbers = [k for k, v in ends[0].items() if v.is_floating_point() and first[k] == k]
    net = duplicate(a.module)  # the loss may run a itself
    expect_replaceable(net, (k for k, v in ends[0].items() if v.is_floating_point()))
    rates = [ORDER_RATE if isinstance(p, Order) else RATE for p in learned.parts.values()]
    optimizer = torch.optim.Adam([{"params": [p.z]} for p in learned.parts.values()])
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, rates, max(steps, 2), pct_start=WARM)
    random = torch.Generator().manual_seed(1)
    backward = functools.partial(_backward, [p.z for p in learned.parts.values()], loss)
    with evaluating(net), torch.enable_grad():
        for batch in itertools.islice(_repeated(loader), steps):
            x, y = labelled(net, to(batch, device), loss)
            u = float(torch.rand((), generator=random, device="cpu"))
            t = MIDDLE[0] + (MIDDLE[1] - MIDDLE[0]) * u
            own = learned.maps()
            point = {
                k: between(ends[0][k], moved(ends[1][k], axes.get(k, []), own), t, k in buffers)
                for k in numbers
            }
            optimizer.zero_grad()
            every = {k: point[f] for k, f in first.items() if f in point}
            call_with(net, every, x, functools.partial(backward, x, y))
            optimizer.step()
            rate.step()
            learned.assign()
    results = {g: p.result() for g, p in learned.parts.items()}
    tensors = {g: results.get(g, m) for g, m in start.tensors.items()}
    out = io.BytesIO()
    made = history("mcz.torch.align", {"refine": steps}, [start])
    write(out, "permutation", start.meta, tensors, history=made, inputs=[start.id])
    return out.getvalue()


def _backward(maps: list[torch.Tensor], loss: Loss, x: Any, y: Any, output: Any) -> None:
    """Computes the gradients of the maps' parameters, and no others."""
    value = measure(output, x, y, loss).loss
    need(bool(value.isfinite()), "the loss between the networks is not finite")
    need(value.requires_grad, NO_GRADIENT)
    value.backward(inputs=maps)  # type: ignore[no-untyped-call]


def _repeated(loader: Batches) -> Iterator[Any]:
    """The batches of a loader, again and again."""
    while True:
        yield from read(loader)

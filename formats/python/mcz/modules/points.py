# SPDX-License-Identifier: Apache-2.0
"""The points of a curve, and the network that runs with their tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn

from ..nn.batches import Batches, Loss, labelled, read, to
from ..nn.inputs import call_with
from ..nn.norms import STATISTICS, norms
from ..nn.state import Tensors, device_of, first_names, tensors_of

NO_LABELS = "no labels but -100, which do not count"


def between(x: torch.Tensor, y: torch.Tensor, t: float, buffer: bool) -> torch.Tensor:
    """The point at t on the line from x to y. Equal infinities of a buffer, as in masks, stay."""
    found = torch.lerp(x, y, t)
    return torch.where(x.isinf() & (x == y), x, found) if buffer else found


class Points(ABC):
    """Points of one network, and the network that runs with their tensors.

    net      the network
    kind     "bezier" or "chain"
    points   the tensors of each point, in float32 or wider
    owners   {name: first name} of the floating-point tensors: a tied tensor has one entry
    trained  {parameter: whether it is trained}
    names, buffers  the first names of the parameters, and of the others
    others   the buffers that are not batch norm's statistics
    device   the device of the network"""

    def __init__(self, net: nn.Module, kind: str) -> None:
        self.net, self.kind, state = net, kind, tensors_of(net)
        self.points: list[Tensors] = []
        self.owners = first_names({k: v for k, v in state.items() if v.is_floating_point()})
        parameters = net.named_parameters(remove_duplicate=False)
        self.trained = {k: p.requires_grad for k, p in parameters}
        own = dict.fromkeys(self.owners.values())
        self.names = [k for k in own if k in self.trained]
        self.buffers = [k for k in own if k not in self.trained]
        self.device = device_of(state)
        estimated = {k + s for k in norms(net) for s in STATISTICS}
        self.others = [k for k in self.buffers if k not in estimated]

    @abstractmethod
    def coefficients(self, t: float) -> list[float]:
        """The weights of the points at t in [0, 1]; their sum is 1."""

    def tensors(self, source: Callable[[str], torch.Tensor], copies: bool = True) -> Tensors:
        """The tensors of a network on the curve's device, in float32 or wider. copies: those of the
        parameters."""
        found = {}
        for k in self.names + self.buffers:
            v = source(k).detach()
            found[k] = v.to(
                self.device,
                torch.promote_types(v.dtype, torch.float32),
                copy=copies or k in self.buffers,
            )
        return found

    @torch.no_grad()
    def at(self, t: float, names: Iterable[str] | None = None) -> Tensors:
        """The tensors of these names at t, by default all."""
        c = self.coefficients(t)
        return {
            k: torch.stack([w * p[k] for w, p in zip(c, self.points) if w]).sum(0)
            for k in (self.names + self.buffers if names is None else names)
        }

    def run(
        self, tensors: Tensors, x: Any, function: Callable[[Any], Any] = lambda output: output
    ) -> Any:
        """function(output) of the network with these tensors, cast to its dtypes (call_with)."""
        state = {**dict(self.net.named_parameters()), **dict(self.net.named_buffers())}
        cast = {k: v.to(state[k].dtype) for k, v in tensors.items()}
        # all names: PyTorch does not see that two parameters are one memory
        own = {k: cast[first] for k, first in self.owners.items() if first in cast}
        return call_with(self.net, own, x, function)

    def batches(self, loader: Batches, text: str, loss: Loss) -> Iterator[tuple[Any, Any]]:
        """The inputs and labels of a loader's batches, on the curve's device. text: of a progress
        bar, or empty."""
        for batch in read(loader, text):
            yield labelled(self.net, to(batch, self.device), loss)

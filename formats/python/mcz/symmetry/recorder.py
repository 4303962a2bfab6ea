# SPDX-License-Identifier: Apache-2.0
"""The activations of derived groups, taken by running the exported graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from ..errors import need
from ..nn.batches import first_tensor
from ..nn.inputs import arguments, call, form
from ..nn.state import tensors_of
from . import capture
from .derive import Derivation
from .observe import Tap, channels, units


def _advice(example: Any, batch: Any) -> str:
    """How to write batches like the example of the groups, if the batch has another form, or ""."""
    if isinstance(batch, dict):
        return "" if isinstance(example, dict) else " (give the example as a dictionary)"
    if isinstance(example, dict):
        return " (give batches as a dictionary, or (dictionary, labels))"
    several = (
        isinstance(example, (tuple, list))
        and len(example) > 1
        and len(arguments(batch)[0]) != len(example)
    )
    return (
        " (give batches as the example, or (({}), labels))".format(", ".join("x" * len(example)))
        if several
        else ""
    )


def _names(example: Any) -> tuple[int, list[str]]:
    """The number of positional arguments of an input, and the names of the others."""
    args, kwargs = arguments(example)
    return len(args), list(kwargs)


class Recorder:
    """Runs a network of the derived architecture: units(group, tap) are the activations of its last
    batch, and inputs is the number of its inputs.

    A batch of one input runs as two copies, because PyTorch may record other operations for one
    input. Batches may have other shapes than the example, such as other lengths: the network is
    recorded once for each."""

    def __init__(
        self, net: nn.Module, groups: Derivation, taps: Mapping[str, Sequence[Tap]]
    ) -> None:
        self.groups, self.taps = groups, taps
        self.now = groups  # for the shapes of the last batch
        self.state = {
            k: v.detach()
            for k, v in [*net.named_buffers(remove_duplicate=False), *tensors_of(net).items()]
        }

    def run(self, batch: Any) -> None:
        """Runs the network on a batch."""
        need(
            _names(batch) == _names(self.groups.example),
            f"batches of {form(self.groups.example)} expected, as in the example of the groups, "
            f"got {form(batch)}{_advice(self.groups.example, batch)}",
        )
        x = first_tensor(arguments(batch))
        leaves = torch.utils._pytree.tree_leaves(arguments(batch))
        lengths = {len(v) for v in leaves if isinstance(v, torch.Tensor) and v.dim()}
        self.inputs = max(lengths)
        need(
            lengths <= {1, self.inputs},
            f"arguments of one length expected, or of 1 for all inputs (got {sorted(lengths)})",
        )
        self.copies = 2 if self.inputs == 1 else 1
        n, nodes = self.inputs * self.copies, {v.node for own in self.taps.values() for v in own}
        self.now = self.groups.for_shapes_of(batch)
        program = self.now.program(n)
        runner = capture.Runner(program, keep=nodes.__contains__, device=x.device)
        call(program, batch, lambda *args, **kwargs: runner.outputs(self.state, batch, n))
        self.values = runner.values

    def close(self) -> None:
        """Drops the activations."""
        self.values = {}

    def units(self, group: str, tap: Tap) -> torch.Tensor:
        """The activations (samples, units) of a group at a tap, of the last batch."""
        tap = self.now.taps[group][self.taps[group].index(tap)]
        value = self.values[tap.node]
        x = value[tap.index] if isinstance(value, (tuple, list)) else value
        if tap.entries is not None:
            return channels(x, tap.entries, tap.lengths)
        atom, unit = next(key for key, name in self.now.names.items() if name == group)
        return units(x, tap, atom, dict(unit))

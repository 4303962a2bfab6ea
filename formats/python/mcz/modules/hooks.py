# SPDX-License-Identifier: Apache-2.0
"""The activations of declared groups, from hooks on modules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import nn

from ..errors import Error, need
from ..nn.batches import first_tensor
from ..nn.inputs import call


def _path(text: str) -> tuple[str, tuple[int, int] | None]:
    """(module, (first, end) or None) of MODULE, MODULE:in, MODULE[FIRST:END] or
    MODULE[FIRST:END]:in."""
    match = re.fullmatch(r"(.*?)(?:\[(\d+):(\d+)\])?(?::in)?", text)
    if not match:
        raise Error(f'"{text}" is not a path of a module')
    module, first, end = match.groups()
    return module, (int(first), int(end)) if end else None


def _units(
    x: torch.Tensor, size: int, lengths: set[int], axis: int | None, path: str, module: nn.Module
) -> torch.Tensor:
    """The activations x (N, ...) at a path, of a module, as (samples, units) in float64; the
    samples of an image are adjacent. lengths: those of the axes of parameters with the units."""
    selection = _path(path)[1]
    if selection:
        axis = -1 if axis is None else axis
        need(
            selection[0] < selection[1] <= x.shape[axis],
            f'at "{path}", of shape {tuple(x.shape[1:])}: indices out of range',
        )
        x = x.narrow(axis, selection[0], selection[1] - selection[0])
    if axis is None:
        # axis 1 of (N, heads, T, d) has one entry per unit. In other lengths, such as those of
        # gate and up in one layer, nothing says where the units are
        whole = lengths | {size} if x.dim() == 4 else lengths
        fits = [d for d in range(1, x.dim()) if x.shape[d] in whole]
        fits = fits[-1:] if isinstance(module, (nn.Linear, nn.LayerNorm, nn.Embedding)) else fits
        need(
            len(fits) == 1 or (fits and x.dim() == 4 and 1 in fits),
            'at "{}", of shape {}: {} axis may hold {} units ({})'.format(
                path,
                tuple(x.shape[1:]),
                "more than one" if fits else "no",
                size,
                'set "axis"'
                if fits
                else 'select them: PATH[first:end]; or set "axis" if a unit has adjacent indices',
            ),
        )
        axis = fits[0]
    length = x.shape[axis]
    need(
        length % size == 0, f'at "{path}": axis {axis} of length {length} cannot hold {size} units'
    )
    x = x.movedim(axis, -1)
    return x.reshape(-1, size, length // size).transpose(1, 2).reshape(-1, size).double()


class ModuleRecorder:
    """The activations of declared groups, from hooks on modules' outputs, or inputs (PATH:in).
    taps: {group: [path]}."""

    copies = 1  # of each input in a batch

    def __init__(
        self,
        net: nn.Module,
        taps: Mapping[str, Iterable[str]],
        sizes: Mapping[str, int],
        lengths: Mapping[str, set[int]],
        axes: Mapping[str, int | None],
    ) -> None:
        self.net, self.sizes, self.lengths, self.axes = net, sizes, lengths, axes
        self.modules = dict(net.named_modules())
        self.outputs: dict[str, torch.Tensor] = {}  # of the last batch, by path
        paths = dict.fromkeys(p for own in taps.values() for p in own)
        wrong = [p for p in paths if _path(p)[0] not in self.modules]
        need(not wrong, "the network has no module {}".format(", ".join(f'"{p}"' for p in wrong)))
        self.hooks = [self._hook(p, self.modules[_path(p)[0]]) for p in paths]

    def _hook(self, path: str, m: nn.Module) -> Any:
        if path.endswith(":in"):
            return m.register_forward_pre_hook(lambda m, x: self._keep(path, x[0]))
        return m.register_forward_hook(lambda m, x, y: self._keep(path, y))

    def _keep(self, path: str, x: Any) -> None:
        need(
            path not in self.outputs,
            f'module "{path}" runs more than once per batch: name the input of another (PATH:in)',
        )
        need(
            isinstance(x, torch.Tensor),
            f'module "{path}" must return a tensor (got {type(x).__name__})',
        )
        need(not x.is_complex(), f'module "{path}" must return real numbers')
        self.outputs[path] = x.detach().clone()  # a later module may change it in place

    def run(self, batch: Any) -> None:
        """Runs the network on a batch."""
        self.outputs.clear()
        self.inputs = len(first_tensor(batch))
        call(self.net, batch)

    def units(self, group: str, place: str) -> torch.Tensor:
        """The activations (samples, units) of a group at a path."""
        need(place in self.outputs, f'module "{place}" does not run')
        module = self.modules[_path(place)[0]]
        return _units(
            self.outputs[place],
            self.sizes[group],
            self.lengths[group],
            self.axes.get(group),
            place,
            module,
        )

    def close(self) -> None:
        """Removes the hooks."""
        for h in self.hooks:
            h.remove()

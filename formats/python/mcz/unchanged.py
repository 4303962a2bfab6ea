# SPDX-License-Identifier: Apache-2.0
# mypy: disallow-untyped-defs
"""Run networks without changing them.

A network's own code may change it: forward may write attributes and buffers, and train(False) may merge weights (loralib).
So mcz sets the flags of the modules instead of calling eval() or train(), and restores everything that it saw before."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

OWN = frozenset(vars(nn.Module()))  # the attributes of each module


def _refill(container: Any, kept: Any) -> None:
    """Gives a container the entries of its copy `kept`."""
    container.clear()
    (container.extend if isinstance(container, list) else container.update)(kept)


def _equal(x: Any, y: Any) -> bool:
    """True for one object, or for equal numbers or texts."""
    return x is y or type(x) is type(y) and isinstance(x, (bool, int, float, str)) and x == y


class Snapshot:
    """The state that running networks may change: the mode and attributes of each module, the entries of its lists,
    dictionaries and sets, and the numbers of buffers and other tensors that are not parameters."""

    def __init__(self, *nets: nn.Module) -> None:
        self.modules = [(m, m.training, dict(vars(m))) for m in {id(m): m for n in nets for m in n.modules()}.values()]
        inside = [v for _, _, own in self.modules for v in own.values()]
        self.containers = {id(v): (v, type(v)(v)) for v in inside if type(v) in (dict, list, set, OrderedDict)}
        tensors = {id(v): v for v in [*inside, *(b for n in nets for b in n.buffers())]
                   if isinstance(v, torch.Tensor) and not v.is_meta}.values()
        self.tensors = [(v, v.detach().clone()) for v in tensors]

    def _same(self, value: Any, old: Any) -> bool:
        kept = self.containers.get(id(old), (old, None))[1]
        if not _equal(value, old) or kept is None or isinstance(kept, set):
            return _equal(value, old) and kept in (None, value)
        pairs = zip(value, kept) if isinstance(kept, list) else ((v, kept.get(k)) for k, v in value.items())
        return len(value) == len(kept) and all(_equal(x, y) for x, y in pairs)

    def changed(self) -> list[tuple[nn.Module, str]]:
        """The attributes that are other objects than before, or whose entries are."""
        return [(m, k) for m, _, own in self.modules for k in {**own, **vars(m)}
                if k not in own or k not in vars(m) or not self._same(vars(m)[k], own[k])]

    def restore(self) -> None:
        for m, mode, own in self.modules:
            _refill(vars(m), own)
            m.training = mode  # a ScriptModule has its mode elsewhere
        for container, kept in self.containers.values():
            _refill(container, kept)
        with torch.no_grad():
            for v, old in self.tensors:
                if not torch.equal(v, old):
                    v.copy_(old)


@contextmanager
def evaluating(*nets: nn.Module, training: bool = False) -> Iterator[Snapshot]:
    """Puts networks into evaluation mode, or training mode. Afterwards restores what running them may change (Snapshot), and
    PyTorch's random numbers."""
    before = Snapshot(*nets)
    gpus = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with torch.random.fork_rng(gpus):
        try:
            for m, _, _ in before.modules:
                m.training = training
            yield before
        finally:
            before.restore()

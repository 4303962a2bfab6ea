# SPDX-License-Identifier: Apache-2.0
"""Run networks without changing them.

A network's own code may change it: forward may write attributes and buffers, and train(False) may merge weights (loralib).
So mcz sets the flags of the modules instead of calling eval() or train(), and restores everything that it saw before."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

OWN = frozenset(vars(nn.Module()))  # the attributes of each module


def _content(value: Any) -> Any:
    """A copy of a container's entries, to compare and restore them; None for anything else."""
    return list(value) if isinstance(value, list) else dict(value) if isinstance(value, dict) else None


def _same(value: Any, old: Any) -> bool:
    """True if an attribute or an entry of a container is the same object, or an equal number or text."""
    return value is old or type(value) is type(old) and isinstance(old, (bool, int, float, str)) and value == old


class Snapshot:
    """The attributes of the modules of networks, the entries of their lists and dictionaries, and the numbers of their
    tensors that are not parameters."""

    def __init__(self, *nets: nn.Module) -> None:
        self.modules = list({id(m): m for n in nets for m in n.modules()}.values())
        self.attributes = [{k: (v, _content(v)) for k, v in vars(m).items()} for m in self.modules]
        self.modes = [m.training for m in self.modules]  # a ScriptModule has its mode elsewhere
        tensors = [v for m in self.modules for v in [*m._buffers.values(), *vars(m).values()]]
        self.tensors = [(v, v.detach().clone()) for v in {id(v): v for v in tensors}.values()
                        if isinstance(v, torch.Tensor) and not isinstance(v, nn.Parameter) and not v.is_meta]

    def changed(self) -> list[tuple[nn.Module, str]]:
        """The attributes that are other objects than before, or whose entries are."""
        found = []
        for m, before in zip(self.modules, self.attributes):
            now = vars(m)
            for k in {**now, **before}:
                old, entries = before.get(k, (None, None))
                new = _content(now.get(k))
                same = k in now and k in before and _same(now[k], old) and (
                    new == entries if entries is None or new is None else len(new) == len(entries) and all(
                        _same(x, y) for x, y in (zip(new, entries) if isinstance(new, list) else
                                                 ((v, entries.get(i)) for i, v in new.items()))))
                if not same:
                    found.append((m, k))
        return found

    def restore(self) -> None:
        before = dict(zip(map(id, self.modules), self.attributes))
        for m, k in self.changed():
            old, entries = before[id(m)].get(k, (None, None))
            if k not in before[id(m)]:
                del vars(m)[k]
                continue
            if entries is not None:
                old.clear()
                (old.extend if isinstance(old, list) else old.update)(entries)
            vars(m)[k] = old
        for m, mode in zip(self.modules, self.modes):
            if m.training != mode:
                m.training = mode
        with torch.no_grad():
            for v, numbers in self.tensors:
                if not torch.equal(v, numbers):
                    v.copy_(numbers)


def set_mode(net: nn.Module, training: bool) -> None:
    """Sets the mode of all modules without running their code."""
    for m in net.modules():
        m.training = training


@contextmanager
def evaluating(*nets: nn.Module) -> Iterator[Snapshot]:
    """Runs networks in evaluation mode. Afterwards their modes, attributes and buffers, and PyTorch's random numbers, are
    those of before."""
    devices = {v.device.index for n in nets for v in n.parameters() if v.device.type == "cuda"}
    before = Snapshot(*nets)
    try:
        with torch.random.fork_rng(sorted(devices)):
            for n in nets:
                set_mode(n, False)
            yield before
    finally:
        before.restore()

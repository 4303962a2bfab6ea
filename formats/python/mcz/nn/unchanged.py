# SPDX-License-Identifier: Apache-2.0
"""Run networks without changing them.

A network's own code may change it: forward may write attributes and buffers, and train(False) may
merge weights (loralib). So mcz sets the flags of the modules instead of calling eval() or train(),
and restores everything that it saw before."""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch
from torch import nn

# a network that runs is changed meanwhile, and so is PyTorch by torch.export: one thread at a time
LOCK = threading.RLock()
# the attributes of each module, and of one after compile()
OWN = frozenset(vars(nn.Module())) | {"_compiled_call_impl"}
CONTAINERS = dict, list, set, OrderedDict, defaultdict, deque
DEPTH = 4  # of containers and objects in attributes


def _refill(container: Any, kept: Any) -> None:
    """Gives a container the entries of its copy `kept`."""
    container.clear()
    (container.extend if isinstance(container, (list, deque)) else container.update)(kept)


def _equal(x: Any, y: Any) -> bool:
    """True for one object, or for equal numbers or texts."""
    return x is y or (type(x) is type(y) and isinstance(x, (bool, int, float, str)) and x == y)


def entries(value: Any) -> Any:
    """The container in which a call may leave something: the value, or an object's attributes. None
    if there is none."""
    if type(value) in CONTAINERS:
        return value
    own = getattr(value, "__dict__", None)
    return own if type(own) is dict and not isinstance(value, (torch.Tensor, ModuleType)) else None


class Snapshot:
    """The state that running networks may change: the mode and attributes of each module, the
    entries of containers and objects in them, and the numbers of buffers, of other tensors that are
    not parameters, and of embeddings with max_norm."""

    def __init__(self, *nets: nn.Module) -> None:
        self.modules = [
            (m, m.training, dict(vars(m)))
            for m in {id(m): m for n in nets for m in n.modules()}.values()
        ]
        self.containers: dict[int, tuple[Any, Any]] = {}
        tensors = {id(b): b for n in nets for b in n.buffers()}
        for m, _, own in self.modules:
            if own.get("max_norm") is not None:  # an embedding, which shortens rows that it reads
                tensors.update((id(v), v) for v in m._parameters.values() if v is not None)
        for _, _, own in self.modules:
            for k, v in own.items():
                self._collect(v, tensors, DEPTH if k not in OWN else 1)
        self.tensors = [(v, v.detach().clone()) for v in tensors.values() if not v.is_meta]

    def _collect(self, value: Any, tensors: dict[int, Any], depth: int) -> None:
        own = entries(value)
        if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
            tensors[id(value)] = value
        elif own is not None and id(own) not in self.containers and depth:
            self.containers[id(own)] = own, copy.copy(own)
            for v in list(own.values() if isinstance(own, dict) else own):
                self._collect(v, tensors, depth - 1)

    def _same(self, value: Any, old: Any, depth: int = DEPTH) -> bool:
        own = entries(value)
        if not _equal(value, old) or own is None or id(own) not in self.containers or not depth:
            return _equal(value, old)
        kept = self.containers[id(own)][1]
        if isinstance(own, set):
            return bool(own == kept)
        if isinstance(own, dict):
            return own.keys() == kept.keys() and all(
                self._same(v, kept[k], depth - 1) for k, v in own.items()
            )
        return len(own) == len(kept) and all(self._same(x, y, depth - 1) for x, y in zip(own, kept))

    def changed(self) -> list[tuple[nn.Module, str]]:
        """The attributes that are other objects than before, or whose entries are."""
        return [
            (m, k)
            for m, _, own in self.modules
            for k in {**own, **vars(m)}
            if k not in own or k not in vars(m) or not self._same(vars(m)[k], own[k])
        ]

    def restore_attributes(self) -> None:
        """Restores the modes and attributes of the modules."""
        for m, mode, own in self.modules:
            _refill(vars(m), own)
            m.training = mode  # a ScriptModule has its mode elsewhere
        for container, kept in self.containers.values():
            if not self._same(container, container, 1):  # others may be in use elsewhere
                _refill(container, kept)

    def restore(self) -> None:
        """Restores the state."""
        self.restore_attributes()
        with torch.no_grad():
            for v, old in self.tensors:
                if not torch.equal(v, old):
                    v.copy_(old)


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Afterwards restores PyTorch's generators of random numbers."""
    cuda: Any = torch.cuda
    devices = range(cuda.device_count()) if cuda.is_initialized() else ()
    mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None
    with torch.random.fork_rng(devices):
        try:
            yield
        finally:
            if mps is not None:
                torch.mps.set_rng_state(mps)


@contextmanager
def evaluating(*nets: nn.Module, training: Sequence[bool] = ()) -> Iterator[Snapshot]:
    """Puts networks into evaluation mode, or each module into its own mode. Afterwards
    restores what running them may change (Snapshot), and PyTorch's random numbers."""
    with LOCK, random_numbers_kept():
        before = Snapshot(*nets)
        try:
            for i, (m, _, _) in enumerate(before.modules):
                m.training = bool(training) and training[i]
            yield before
        finally:
            before.restore()

# SPDX-License-Identifier: Apache-2.0
"""Copies of networks."""

from __future__ import annotations

import copy
from types import FunctionType
from typing import Any

import torch
from torch import nn

from ..errors import need
from .state import first_names, tensors_of


def duplicate(net: nn.Module) -> nn.Module:
    """A copy of a network. Results that its modules keep, which PyTorch does not copy, lose their
    history. Raises Error if the copy would run modules of the network itself."""
    need(
        not torch.is_inference_mode_enabled(),
        "torch.inference_mode() makes tensors that cannot be trained (leave it first)",
    )
    parts = {id(v) for v in [*net.modules(), *net.parameters(), *net.buffers()]}
    for path, m in net.named_modules():
        for name, value in vars(m).items():
            found = [
                f
                for f in torch.utils._pytree.tree_leaves(value)
                if not parts.isdisjoint(map(id, _captured(f)))
            ]
            need(
                not found,
                "cannot copy the network: a function in {} refers to a part of it "
                "(a method can be copied)".format(".".join(filter(None, (path, name)))),
            )
    kept = torch.utils._pytree.tree_leaves([list(vars(m).values()) for m in net.modules()])
    result = copy.deepcopy(
        net,
        {id(v): v.detach().clone() for v in kept if isinstance(v, torch.Tensor) and not v.is_leaf},
    )
    own = {
        **dict(result.named_parameters(remove_duplicate=False)),
        **dict(result.named_buffers(remove_duplicate=False)),
    }
    # two parameters of one memory are two after deepcopy
    for k, first in first_names(tensors_of(net)).items():
        if k != first and k in own and first in own:
            own[k].data = own[first].data
    return result


def _captured(f: Any) -> list[Any]:
    """The objects that a function refers to by its closure and its defaults, which deepcopy does
    not copy."""
    if not isinstance(f, FunctionType):
        return []
    own: list[Any] = [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
    for cell in f.__closure__ or ():
        try:
            own.append(cell.cell_contents)
        except ValueError:  # not yet assigned
            continue
    return torch.utils._pytree.tree_leaves(own)

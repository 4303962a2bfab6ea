# SPDX-License-Identifier: Apache-2.0
"""Copies of networks."""

from __future__ import annotations

import contextlib
import copy
import dis
import functools
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch
from torch import nn

from ..errors import Error, need
from .inputs import brief
from .state import first_names, tensors_of
from .structure import captured, leaves


def duplicate(net: nn.Module) -> nn.Module:
    """A copy of a network. Results that its modules keep, which PyTorch does not copy, lose their
    history. Raises Error if the copy would run modules of the network itself."""
    need(
        not torch.is_inference_mode_enabled(),
        "torch.inference_mode() makes tensors that cannot be trained (leave it first)",
    )
    parts = {id(v) for v in [*net.modules(), *net.parameters(), *net.buffers()]}
    seen: set[tuple[int, int]] = set()
    for path, m in net.named_modules():
        for name, value in _state(m).items():
            # deepcopy copies the object of a method and the arguments of a partial()
            own = (v.__func__ if isinstance(v, MethodType) else v for v in leaves(value))
            need(
                not any(isinstance(f, FunctionType) and _refers(f, parts, seen) for f in own),
                "cannot copy the network: a function in {} refers to a part of it (methods and "
                "net.compile() can be copied)".format(".".join(filter(None, (path, name)))),
            )
    kept = torch.utils._pytree.tree_leaves([list(vars(m).values()) for m in net.modules()])
    results = [v for v in kept if isinstance(v, torch.Tensor) and not v.is_leaf]
    try:
        result = copy.deepcopy(net, {id(v): v.detach().clone() for v in results})
    except Exception as e:
        raise Error(f"cannot copy the network: {brief(e)}") from e
    tensors = {
        **dict(result.named_parameters(remove_duplicate=False)),
        **dict(result.named_buffers(remove_duplicate=False)),
    }
    # two parameters of one memory are two after deepcopy
    for k, first in first_names(tensors_of(net)).items():
        if k != first and k in tensors and first in tensors:
            tensors[k].data = tensors[first].data
    return result


def _state(m: Any) -> dict[str, Any]:
    """The attributes of a module that deepcopy copies: not the functions of torch.compile."""
    if not hasattr(m, "__deepcopy__"):
        with contextlib.suppress(Exception):  # deepcopy raises it again
            state = m.__getstate__()
            if isinstance(state, dict):
                return state
    return dict(vars(m))


def _refers(function: FunctionType, parts: set[int], seen: set[tuple[int, int]]) -> bool:
    """True if a function refers to one of `parts`: by its closure, its defaults or its globals.
    seen: what was searched before.

    The globals of a function that is itself a global are searched if both are of one file: other
    files do not know the network."""
    left: list[tuple[Any, Any]] = [(function, None)]  # with the globals that named it
    while left:
        value, file = left.pop()
        if id(value) in parts:
            return True
        if (id(value), id(file)) in seen:
            continue
        seen.add((id(value), id(file)))
        if isinstance(value, FunctionType):
            left += [(v, None) for v in captured(value)]
            names = value.__globals__
            if file is None or file is names:
                left += [(names[k], names) for k in _globals(value.__code__) if k in names]
        elif isinstance(value, MethodType):
            left += [(value.__self__, file), (value.__func__, file)]
        elif isinstance(value, functools.partial):
            left += [(v, file) for v in (value.func, value.args, value.keywords)]
        elif isinstance(value, (list, tuple, set, dict)):
            entries = value.values() if isinstance(value, dict) else value
            left += [(v, file) for v in entries if not isinstance(v, (str, bytes, int, float))]
        elif callable(value) and not isinstance(value, (type, nn.Module)):
            left.append((getattr(value, "__dict__", None), file))
    return False


def _globals(code: CodeType) -> list[str]:
    """The names of the globals in a function's code, and in the functions in it."""
    own = [i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"]
    return own + [k for c in code.co_consts if isinstance(c, CodeType) for k in _globals(c)]

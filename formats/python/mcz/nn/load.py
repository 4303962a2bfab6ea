# SPDX-License-Identifier: Apache-2.0
"""Copy tensors from files and dictionaries into a network. mcz.torch has the public name."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from .. import safetensors
from ..errors import Error, inside, need
from ..graph import constant
from ..header import Stream
from ..stream import read as read_stream
from .state import (
    COUNTER,
    SHOWN,
    WRAPPERS,
    Tensors,
    check_plain,
    dtype_name,
    expect_writable,
    first_names,
    is_ignored,
    listed,
    same,
    tensors_of,
)


def _fits(shape: Iterable[int], other: Iterable[int]) -> bool:
    """True if the shapes agree up to trailing axes of 1, or up to any axes of 1 if the other is a
    vector."""
    shape, other = list(shape), list(other)
    if len(other) == 1:
        shape = [k for k in shape if k != 1]
    for s in shape, other:
        while s and s[-1] == 1:
            s.pop()
    return shape == other


def _own_name(net: nn.Module, name: str) -> str:
    """A tensor's name without the parts that wrappers add. A part stays if the network has a
    submodule of that name."""
    module: nn.Module | None = net
    parts: list[str] = []
    for part in name.split("."):
        if (
            module is None
            or part not in WRAPPERS
            or any(part in d for d in (module._modules, module._parameters, module._buffers))
        ):
            parts.append(part)
            module = None if module is None else module._modules.get(part)
    return ".".join(parts)


def own_names(net: nn.Module, tensors: Mapping[str, Any]) -> Tensors:
    """The tensors under the network's own names, without num_batches_tracked, extra state and
    AveragedModel's n_averaged."""
    found: Tensors = {}
    original: dict[str, str] = {}
    state = net.state_dict()
    for name, v in tensors.items():
        own = _own_name(net, name)
        if is_ignored(own) or (own == "n_averaged" and own not in state):
            continue
        need(own not in found, f'"{original.get(own)}" and "{name}" are both {own} of the network')
        if not isinstance(v, torch.Tensor):
            try:
                v = torch.from_numpy(np.array(v))
            except (TypeError, ValueError):
                raise Error(
                    f'"{name}" is not a tensor or array of numbers (got {type(v).__name__})'
                ) from None
        check_plain(name, v)
        found[own], original[own] = v, name
    return found


def _tensors(s: Stream) -> Tensors:
    """{name: tensor} of a weights stream, each in its own dtype."""
    wrong = [k for k, v in s.dtypes.items() if v not in ("float32", "float16", "bfloat16")]
    need(not wrong, 'tensor "{}" must be float32, float16 or bfloat16'.format("".join(wrong[:1])))
    found = {
        k: torch.from_numpy(np.array(v.view("<i2") if s.dtypes[k] == "bfloat16" else v))
        for k, v in s.tensors.items()
    }
    return {k: v.view(torch.bfloat16) if s.dtypes[k] == "bfloat16" else v for k, v in found.items()}


def _cast(k: str, v: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A tensor in another dtype. Floats may be rounded; Error names a tensor that would change
    otherwise."""
    need(
        (v.is_floating_point(), v.is_complex()) == (dtype.is_floating_point, dtype.is_complex)
        and (dtype.is_floating_point or torch.equal(v.to(dtype).to(v.dtype), v)),
        f"{k}: {dtype_name(dtype)} expected, got {dtype_name(v.dtype)}",
    )
    cast = v.to(dtype)
    need(
        not dtype.is_floating_point or torch.equal(torch.isinf(cast), torch.isinf(v)),
        f"{k}: values are too large for {dtype_name(dtype)}",
    )
    return cast


def _match(mismatches: Mapping[str, Mapping[str, str | None]]) -> None:
    """Raises Error if there are mismatches: {kind: {name: detail, or None}}."""
    texts = []
    for kind, tensors in mismatches.items():
        shown = [
            k if detail is None else f"{k}: {detail}" for k, detail in list(tensors.items())[:SHOWN]
        ]
        shown += ["..."] * (len(tensors) > SHOWN)
        if tensors:
            texts.append(
                "{} {} ({})".format(
                    len(tensors), kind, ("; " if any(tensors.values()) else ", ").join(shown)
                )
            )
    if texts:
        raise Error(
            "tensors do not match the network: {}".format(", ".join(texts)),
            [k for tensors in mismatches.values() for k in tensors],
        )


def copy(net: nn.Module, tensors: Mapping[str, Any], strict: bool = True) -> list[str]:
    """Copies {name: tensor or array} into the network, as load() does. Returns notes for the
    user."""
    state = tensors_of(net)
    need(
        not any(v.is_meta for v in state.values()),
        "the network is on the meta device, without numbers (net.to_empty(device=...) first)",
    )
    counters = {
        _own_name(net, k): int(v.item())
        for k, v in tensors.items()
        if k.endswith(COUNTER) and isinstance(v, (torch.Tensor, np.ndarray))
        if math.prod(v.shape) == 1
    }
    tensors = own_names(net, tensors)
    fixed = {k: constant(k) for k in tensors if k not in state and constant(k) is not None}
    wrong = {
        k: f"the network's constant is {v:g}, got {tensors[k].flatten()[0]:g}"
        for k, v in fixed.items()
        if (tensors[k] != float(np.float32(v))).any()
    }
    tensors = {k: v for k, v in tensors.items() if k not in fixed}
    needed = {n for n, _ in net.named_parameters()}
    needed |= {n for n in state if n.endswith((".running_mean", ".running_var"))}
    first = first_names(state)
    present = {first[k] for k in tensors if k in state}
    if not strict:
        own, got = (next(iter(names), "none") for names in (state, tensors))
        need(
            present,
            f'no tensor of the weights has a name of the network (such as "{own}", got "{got}")',
        )
    _match(
        {
            "missing": {
                k: None for k in state if strict and k in needed and first[k] not in present
            },
            "unknown": {k: None for k in tensors if strict and k not in state},
            "of another shape": {
                k: f"{tuple(state[k].shape)} expected, got {tuple(v.shape)}"
                for k, v in tensors.items()
                if k in state and not _fits(state[k].shape, v.shape)
            },
            "of another value": wrong,
        }
    )
    new = {
        k: _cast(k, v, state[k].dtype).reshape(state[k].shape)
        for k, v in tensors.items()
        if k in state
    }
    given = {first[k]: k for k in reversed(new)}  # the first given name of each tensor
    tied = {
        k: f"of other values than {given[first[k]]}"
        for k, v in new.items()
        if not same(v, new[given[first[k]]])
    }
    if strict:
        _match({"tied in the network": tied})
    rounded = [
        k
        for k, v in new.items()
        if v.is_floating_point() and not same(tensors[k].reshape(v.shape), v)
    ]
    expect_writable(state[k] for k in new)
    with torch.no_grad():
        for k, v in new.items():
            state[k].copy_(v)
        for k, counter in net.named_buffers(remove_duplicate=False):
            if k in counters:
                counter.fill_(counters[k])
    kept = [k for k in state if first[k] == k and k not in present]
    lack = "these buffers" if strict else f"{len(kept)} of {len({*first.values()})} tensors"
    notes = [f"the weights lack {lack}, which keep the network's values: {listed(kept)}"]
    notes *= bool(kept)
    if tied:
        last = {first[k]: k for k in new}  # overwrites the others
        used = list(dict.fromkeys(last[first[k]] for k in tied))
        notes.append(
            "names of one tensor have different values in the weights, and the last name counts "
            f"({listed(used)})"
        )
    return notes + [
        f"{len(rounded)} of {len(new)} tensors are rounded: {k} from "
        f"{dtype_name(tensors[k].dtype)} to {dtype_name(new[k].dtype)}"
        for k in rounded[:1]
    ]


def read(weights: Any) -> Mapping[str, Any]:
    """{name: tensor or array} of a stream, the path of a stream or of safetensors, or a
    dictionary."""
    if isinstance(weights, Stream):
        return _tensors(weights)
    if isinstance(weights, Mapping):
        return weights
    need(
        isinstance(weights, (str, os.PathLike)),
        f"a path, a stream or a dictionary of tensors expected (got {type(weights).__name__})",
    )
    path = os.fspath(weights)
    need(
        not path.endswith((".pt", ".pth")),
        f"{path}: a file of torch.save: load it with net.load_state_dict(torch.load(PATH))",
    )
    if safetensors.is_safetensors(path):
        return safetensors.read(path)
    s = read_stream(path, "weights")
    with inside(path):
        return _tensors(s)


def load(net: nn.Module, weights: Any, strict: bool = True) -> nn.Module:
    """Copies weights and batch norm's statistics into a network, in place, and batch norm's
    counters if they are given. Returns the network.

        net = mcz.torch.load(Net(), "a.mcz")

    net      an nn.Module whose tensors have the same names and shapes; its dtype and device are
             kept.
    weights  the path of a weights stream, of a safetensors file, of an index of shards or of a
             folder of these; a stream of mcz.read(); or {name: tensor or array}.
             Names may have the prefixes of torch.compile, DataParallel, AveragedModel and
             Lightning.
    strict   False copies only the tensors that both have, at least one, and warns of others that
             the network has. If names of one tensor have different values, the last one is used,
             with a warning.

    A tensor that the network has under several names may have any of them in the file. Raises
    mcz.Error, and leaves the network unchanged, if tensors are missing, unknown or of another shape
    or kind of number, or if names of one tensor have different values. The message lists three
    names per mismatch; the exception's attribute `names` lists all. Warns if the network's dtype
    rounds values, and of missing buffers other than batch norm's statistics: streams have no
    integers.
    """
    for note in copy(net, read(weights), strict):
        warnings.warn(note, stacklevel=2)
    return net

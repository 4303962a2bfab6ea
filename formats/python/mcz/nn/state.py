# SPDX-License-Identifier: Apache-2.0
"""The tensors of a PyTorch network's state_dict, by name, and which of them are one tensor."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from ..errors import need

Tensors = dict[str, torch.Tensor]
# from torch.compile; DataParallel and AveragedModel; Lightning
WRAPPERS = "_orig_mod", "module", "model"
SHOWN = 3  # names per kind of mismatch in a message
COUNTER = ".num_batches_tracked"  # batch norm's


def is_ignored(name: str) -> bool:
    """True for batch norm's counter and for what get_extra_state() returns."""
    return name.endswith(COUNTER) or name.rpartition(".")[2] == "_extra_state"


def check_plain(name: str, v: Any) -> None:
    """Raises Error if a value is not a tensor of plain numbers in memory."""
    need(isinstance(v, torch.Tensor), f'"{name}" is not a tensor (got {type(v).__name__})')
    need(not is_lazy(v), f'"{name}" has no shape yet (run the network once)')
    need(
        v.layout == torch.strided
        and not v.is_quantized
        and not v.is_nested
        and not hasattr(v, "__tensor_flatten__"),
        f'"{name}" is not a plain tensor (got {type(v).__name__} of {dtype_name(v.dtype)})',
    )


def listed(names: Sequence[str]) -> str:
    """The first of some names, for a message."""
    return ", ".join([*names[:SHOWN]] + ["..."] * (len(names) > SHOWN))


def _memory(v: torch.Tensor) -> tuple[torch.device, int]:
    """The memory of a tensor, which its views share."""
    return v.device, v.untyped_storage().data_ptr()


def tensors_of(net: nn.Module) -> Tensors:
    """{name: tensor} of a network's state_dict, without num_batches_tracked and extra state. The
    tensors are the network's own, also if state_dict() is overridden and returns copies. Raises
    Error if that cannot be, or if there are other values, such as quantised tensors."""
    need(
        isinstance(net, nn.Module),
        f"a module expected, not its class ({net.__name__})"
        if isinstance(net, type)
        else f"a module expected, got {type(net).__name__}",
    )
    found = {k: v for k, v in net.state_dict().items() if not is_ignored(k)}
    for k, v in found.items():
        check_plain(k, v)
    parameters = dict(net.named_parameters(remove_duplicate=False))
    buffers = net.named_buffers(remove_duplicate=False)
    own = {k: v.detach() for k, v in [*parameters.items(), *buffers]}
    found = {k: own.get(k, v) for k, v in found.items()}
    known, returned = ({_memory(v) for v in tensors.values()} for tensors in (own, found))
    copied = [k for k, v in found.items() if k not in own and _memory(v) not in known]
    missing = [k for k in parameters if k not in found and _memory(own[k]) not in returned]
    need(not copied, f"state_dict() returns copies of tensors under other names ({listed(copied)})")
    need(not missing, f"state_dict() lacks parameters ({listed(missing)})")
    return found


def gradient_hooks(net: nn.Module) -> list[str]:
    """The parameters whose gradients run hooks, such as one that freezes entries."""
    hooks = "_backward_hooks", "_post_accumulate_grad_hooks"
    return [k for k, v in net.named_parameters() if any(getattr(v, h, None) for h in hooks)]


def device_of(tensors: Mapping[str, Any]) -> torch.device:
    """The device of the first tensor, such as of a network's, or the CPU if there is none."""
    found = (v.device for v in tensors.values() if isinstance(v, torch.Tensor))
    return next(found, torch.device("cpu"))


def expect_writable(tensors: Iterable[torch.Tensor]) -> None:
    """Raises Error if one of the tensors cannot be written in place."""
    need(
        not any((0 in v.stride() and v.numel() > 1) or v.is_inference() for v in tensors),
        "a tensor cannot be written: it was made by expand() or in torch.inference_mode() (clone "
        "it)",
    )


def first_names(tensors: Mapping[str, torch.Tensor]) -> dict[str, str]:
    """{name: first name of the same tensor}"""
    first: dict[Any, str] = {}
    return {
        k: first.setdefault((v.device, v.data_ptr(), v.shape, v.stride()) if v.data_ptr() else k, k)
        for k, v in tensors.items()
    }


def owners(tensors: Mapping[str, torch.Tensor]) -> dict[str, str]:
    """{name: first name of the same tensor}. Raises Error if two tensors share memory in another
    way, such as a transposed view, because an order of one would move entries of the other."""
    found, spans = first_names(tensors), []
    for k, v in tensors.items():
        if found[k] == k and v.data_ptr():
            length = sum((n - 1) * s for n, s in zip(v.shape, v.stride())) + 1
            start = v.data_ptr()
            spans.append(
                (str(v.device), start, start + length * v.element_size(), v.numel() >= length, k)
            )
    for (device, _, end, dense, k), (other, start, _, also, name) in itertools.pairwise(
        sorted(spans)
    ):
        need(
            device != other or start >= end or not (dense or also),
            f'tensors "{k}" and "{name}" share memory in different shapes (clone one of them)',
        )
    return found


def dtype_name(dtype: torch.dtype) -> str:
    """A dtype as messages name it: float32."""
    return str(dtype)[len("torch.") :]


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """True if two tensors have the same values; NaN equals NaN."""
    if a is b:
        return True
    a, b = (t.double() if t.is_floating_point() else t for t in (a, b))
    return bool(((a == b) | (a != a) & (b != b)).all())

# SPDX-License-Identifier: Apache-2.0
"""The tensor type that traces a network. torch_functions.py maps the functions called with it to
nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray

BATCH = 2  # images in the traced batch

Affine = tuple[NDArray[Any], NDArray[Any]]  # factor and summand per channel


class Value:
    """A tensor's place in the graph: the output, of shape (C, H, W), of a node. axes: the tensor's
    axes after the batch, of c, h, w and l (h and w flattened). affine: the (factor, summand) per
    channel that a tensor of pixels differs from the image by, before the network's own
    normalisation; None for other tensors."""

    def __init__(
        self, node: str, shape: Iterable[int], axes: Iterable[str], affine: Affine | None = None
    ) -> None:
        self.node, self.shape, self.axes, self.affine = node, tuple(shape), tuple(axes), affine


class Unsupported(Exception):
    """A call that graphs cannot represent, with the reason."""


def require(ok: object, reason: str) -> None:
    """Raises Unsupported unless ok."""
    if not ok:
        raise Unsupported(reason)


class Traced(torch.Tensor):
    """A tensor that reports each PyTorch function called with it to `trace`. `_mc` is its Value, or
    None."""

    trace: ClassVar[Any] = None  # the Trace that runs
    _mc: Any

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        # before in-place changes
        inputs = [a for a in flat([args, kwargs]) if isinstance(a, Traced)]
        values = [getattr(a, "_mc", None) for a in inputs]
        base: Any = super()
        out = base.__torch_function__(func, types, args, kwargs)
        in_place = func.__name__.endswith("_") or kwargs.get("inplace")
        if "dropout" in func.__name__ and not in_place and any(out is a for a in inputs):
            # dropout in evaluation mode returns its input, whose other uses have no dropout
            with torch._C.DisableTorchFunctionSubclass():
                out = torch.Tensor.view_as(out, out).as_subclass(Traced)
        if not any(isinstance(o, torch.Tensor) for o in flat([out])):
            return out
        if func.__name__ in ("__get__", "__set__") and not isinstance(out, Traced):
            return out
        cls.trace.call(func, args, kwargs, out, values)
        return out


def flat(x: Any) -> list[Any]:
    """The elements of nested lists, tuples and dictionaries, as one list."""
    if isinstance(x, (list, tuple)):
        return [y for e in x for y in flat(e)]
    return [y for e in x.values() for y in flat(e)] if isinstance(x, dict) else [x]


def whole_value(x: Any) -> Value | None:
    """The Value of a traced tensor, else None."""
    return x._mc if isinstance(x, Traced) else None


def stand_in(x: torch.Tensor, v: Value) -> Value | None:
    """A plausible Value of the result of an unsupported call, so that tracing can continue; None if
    there is none."""
    if x.dim() == len(v.axes) + 1:
        sides = dict(zip(v.axes, x.shape[1:]))
        return Value("pixels", [sides.get(a, s) for a, s in zip("chw", v.shape)], v.axes)
    if x.dim() in (2, 4):
        return Value("pixels", ([*list(x.shape[1:]), 1, 1])[:3], "chw" if x.dim() == 4 else "c")
    return None


class Result:
    """The result of an in-place operation, separate from the tensor, which still has its input's
    Value."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.shape = tensor.shape
        self._mc: Any = None


Output = Traced | Result  # what a handler of a function gives a Value

# SPDX-License-Identifier: Apache-2.0
"""Tensors that are traced, and what each of them is in the graph. torch_functions.py makes nodes of the
functions called with them."""
import torch

BATCH = 2  # images that are traced at once


class Value:
    """What a tensor is: the output of a node, of shape (C, H, W); `axes` are the tensor's behind the first: c, h, w
    (l: h and w as one). affine: (factor, summand) a channel, of the image before the network's own normalisation."""

    def __init__(self, node, shape, axes, affine=None):
        self.node, self.shape, self.axes, self.affine = node, tuple(shape), tuple(axes), affine


class NoNode(Exception):
    """A call that the graph has no node for; the text says why."""


def known(ok, why):
    """NoNode, for this reason, where not ok."""
    if not ok:
        raise NoNode(why)


class Traced(torch.Tensor):
    """A tensor that tells `trace` each function of PyTorch that is called with it. `_mc` is its Value, or None."""

    trace = None

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        taken = [a for a in flat([args, kwargs]) if isinstance(a, Traced)]
        values = [getattr(a, "_mc", None) for a in taken]  # before what works in place
        out = super().__torch_function__(func, types, args, kwargs)
        if not any(isinstance(o, torch.Tensor) for o in flat([out])):
            return out
        if func.__name__ in ("__get__", "__set__") and not isinstance(out, Traced):
            return out
        cls.trace.call(func, args, kwargs, out, values)
        return out


def flat(x):
    """All that is in lists, tuples and dictionaries within each other, as one list."""
    if isinstance(x, (list, tuple)):
        return [y for e in x for y in flat(e)]
    return [y for e in x.values() for y in flat(e)] if isinstance(x, dict) else [x]


def whole_value(x):
    """The Value of a tensor that is traced, else None."""
    return x._mc if isinstance(x, Traced) else None


def stand_in(x, v):
    """What a tensor may be that no node makes."""
    if x.dim() == len(v.axes) + 1:
        sides = dict(zip(v.axes, x.shape[1:]))
        return Value("pixels", [sides.get(a, s) for a, s in zip("chw", v.shape)], v.axes)
    if x.dim() in (2, 4):
        return Value("pixels", (list(x.shape[1:]) + [1, 1])[:3], "chw" if x.dim() == 4 else "c")
    return None


class Result:
    """Of an operation in place: the shape of a tensor whose value is still the input's."""

    def __init__(self, tensor):
        self.shape, self._mc = tensor.shape, None

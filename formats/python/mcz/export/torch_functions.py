# SPDX-License-Identifier: Apache-2.0
"""The PyTorch functions that graphs support: TABLE, by name without outer underscores.

A handler receives the trace, the result and the function's arguments. It adds a node (t.node),
declares that the result is its input (t.same) or an affine function of it (t.affine), or raises
Unsupported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .layers import (
    adaptive_avg_pool2d,
    adaptive_max_pool2d,
    avg_pool2d,
    batch_norm,
    conv2d,
    group_norm,
    layer_norm,
    linear,
    max_pool2d,
    mean,
)
from .nodes import Nodes
from .traced_tensor import BATCH, Output, Traced, require, whole_value

# the note for a network that ends with one
LOG_SOFTMAX = "log_softmax is omitted: the loss includes it"
Handler = Callable[..., None]


def pointwise(op: str, **arguments: tuple[str, float]) -> Handler:
    """The handler of an elementwise function, with the node op. arguments: argument=(setting,
    default) for each argument of the function that is a setting of the node, in their order."""

    def handler(t: Nodes, out: Output, x: Traced, *args: Any, **kwargs: Any) -> None:
        require(
            kwargs.get("approximate", "none") == "none",
            "approximate={!r} is not supported".format(kwargs.get("approximate")),
        )
        given = {**dict(zip(arguments, args)), **kwargs}
        settings: dict[str, Any] = {
            key: float(given.get(name, default)) for name, (key, default) in arguments.items()
        }
        t.node(out, op, [x], axes=x._mc.axes, **settings)

    return handler


def hardtanh(
    t: Nodes,
    out: Output,
    x: Traced,
    min_val: float = -1.0,
    max_val: float = 1.0,
    inplace: bool = False,
) -> None:
    """A relu6 node."""
    require(
        (min_val, max_val) == (0, 6), f"its range must be 0 to 6 (got {min_val:g} to {max_val:g})"
    )
    t.node(out, "relu6", [x], axes=x._mc.axes)


def pad(
    t: Nodes, out: Output, x: Traced, pad: Any, mode: str = "constant", value: float | None = None
) -> None:
    """A pad node, for zeros around channels, rows and columns."""
    require(mode == "constant", f"mode={mode!r} is not supported")
    require(not value, f"only zeros can be padded (got {value})")
    pairs = list(zip(pad[::2], pad[1::2]))  # the last axis first
    require(all(n >= 0 for side in pairs for n in side), "negative padding is not supported")
    sides = {a: side for a, side in zip(["n", *x._mc.axes][::-1], pairs) if any(side)}
    require(not set(sides) - set("chw"), "only channels, rows and columns can be padded")
    if not sides:
        t.same(out, x)
        return
    before, after = ([int(sides.get(a, (0, 0))[i]) for a in "chw"] for i in range(2))
    t.node(out, "pad", [x], axes=x._mc.axes, any_axes=True, before=before, after=after)


def getitem(t: Nodes, out: Output, x: Traced, index: Any) -> None:
    """Slices that keep every s-th row and column: an avgpool whose windows are single pixels."""
    index = list(index) if isinstance(index, (list, tuple)) else [index]
    require(
        all(i is Ellipsis or isinstance(i, slice) for i in index),
        "an index that is not a slice is not supported",
    )
    if Ellipsis in index:
        at = index.index(Ellipsis)
        index[at : at + 1] = [slice(None)] * (x.dim() - len(index) + 1)
    strides = {}
    for axis, size, i in zip(["n", *x._mc.axes], x.shape, index):
        start, stop, step = i.indices(size)
        require(
            (start, stop) == (0, size) and (step == 1 or axis in ("h", "w")),
            "only whole rows and columns can be sliced, with a stride, as x[:, :, ::2, ::2]",
        )
        strides[axis] = step
    stride = [strides.get(a, 1) for a in "hw"]
    if stride == [1, 1]:
        t.same(out, x)
        return
    t.node(out, "avgpool", [x], kernel=[1, 1], stride=stride, pad=[0, 0], ceil=False)


def reshape(t: Nodes, out: Output, x: Traced, *shape: Any, **rest: Any) -> None:
    """A flatten node, or other axes for the same numbers."""
    v, new = x._mc, list(out.shape[1:])
    c, h, w = v.shape
    forms = {"c h w": [c, h, w], "h w c": [h, w, c], "c l": [c, h * w], "l c": [h * w, c], "c": [c]}
    channels_first = v.axes[0] == "c" or h * w == 1
    require(out.shape[0] == BATCH, "axis 0 must stay the batch")
    require(
        1 in (h, w) or "w" not in v.axes or v.axes.index("h") < v.axes.index("w"),
        "exchanged rows and columns are not supported",
    )
    for axes, form in forms.items():
        if new == form and (h * w == 1 or (axes != "c" and (axes[0] == "c") == (v.axes[0] == "c"))):
            t.same(out, x, axes.split())
            return
    require(
        new == [c * h * w] and channels_first,
        f"{tuple(x.shape[1:])} to {tuple(new)} is not supported",
    )
    t.node(out, "flatten", [x], any_axes=True, axes="c")


def permute(t: Nodes, out: Output, x: Traced, *dims: Any, **rest: Any) -> None:
    """Other axes, in this order."""
    one = dims and isinstance(dims[0], (list, tuple))
    reorder(t, out, x, list(dims[0] if one else dims or rest["dims"]))


def transpose(t: Nodes, out: Output, x: Traced, a: Any, b: Any) -> None:
    """Other axes: two exchanged."""
    dims = list(range(x.dim()))
    dims[a], dims[b] = dims[b], dims[a]
    reorder(t, out, x, dims)


def reorder(t: Nodes, out: Output, x: Traced, dims: Any) -> None:
    """Axis k of the result is axis dims[k] of the input. Only the axes change, so no node is
    added."""
    dims = [d % x.dim() for d in dims]
    require(dims[0] == 0, "axis 0 must stay the batch")
    t.same(out, x, [x._mc.axes[d - 1] for d in dims[1:]])


def cat(t: Nodes, out: Output, tensors: Sequence[Traced], dim: Any = 0, **rest: Any) -> None:
    """A concat node, along the channels."""
    dim = rest.get("axis", dim)
    require(all(whole_value(x) for x in tensors), "all its inputs must be computed from the image")
    first = tensors[0]._mc
    require(
        all(x._mc.axes == first.axes for x in tensors)
        and dim % (len(first.axes) + 1) == first.axes.index("c") + 1,
        "it must concatenate along the channels",
    )
    if len(tensors) == 1:
        t.same(out, tensors[0])
        return
    t.node(out, "concat", list(tensors), axes=first.axes)


ADDED_CONSTANT = "a constant can be added only to the image"


def add(t: Nodes, out: Output, x: Any, y: Any, alpha: float = 1, **rest: Any) -> None:
    """An add node, or a summand of the image."""
    if whole_value(x) and whole_value(y):
        require(alpha == 1, f"alpha={alpha:g} is not supported")
        require(
            x._mc.shape == y._mc.shape and x._mc.axes == y._mc.axes,
            f"shapes {tuple(x.shape[1:])} and {tuple(y.shape[1:])} are not supported",
        )
        t.node(out, "add", [x, y], axes=x._mc.axes)
        return
    x, y = (x, y) if whole_value(x) else (y, x)
    t.affine(out, x, 1, y if alpha == 1 else y * alpha, ADDED_CONSTANT)


def sub(t: Nodes, out: Output, x: Any, y: Any, alpha: float = 1, **rest: Any) -> None:
    """A summand of the image."""
    require(whole_value(x) and not whole_value(y), "only a constant can be subtracted")
    t.affine(out, x, 1, -y if alpha == 1 else -y * alpha, ADDED_CONSTANT)


def mul(t: Nodes, out: Output, x: Any, y: Any) -> None:
    """A mul node, a scale node, or a constant factor."""
    if whole_value(x) and whole_value(y):
        x, y = (y, x) if x._mc.shape[1:] == (1, 1) else (x, y)
        require(
            y._mc.shape == (x._mc.shape[0], 1, 1)
            or (y._mc.shape == x._mc.shape and (y._mc.axes == x._mc.axes or 1 in y._mc.shape[1:])),
            f"shapes {tuple(x.shape[1:])} and {tuple(y.shape[1:])} are not supported",
        )
        t.node(out, "mul", [x, y], axes=x._mc.axes, any_axes=True)
        return
    x, y = (x, y) if whole_value(x) else (y, x)
    name, axes = t.names.get(id(y)), x._mc.axes
    if name and y.numel() == x._mc.shape[0] == dict(zip(reversed(axes), reversed(y.shape))).get(
        "c"
    ):
        require(name not in t.used, f"{name} is used twice: shared weights are not supported")
        t.node(out, "scale", [x], named=name, axes=axes)
        return
    t.affine(
        out, x, y, 0, "its factor must be one constant, or a parameter with one value per channel"
    )


def div(
    t: Nodes, out: Output, x: Any, y: Any, rounding_mode: str | None = None, **rest: Any
) -> None:
    """A constant factor."""
    require(whole_value(x) and not whole_value(y), "its divisor must be a constant")
    require(rounding_mode is None, f"rounding_mode={rounding_mode!r} is not supported")
    t.affine(out, x, 1 / y, 0, "its divisor must be one constant")


def dropout(
    t: Nodes, out: Output, x: Traced, p: float = 0.5, training: bool = True, inplace: bool = False
) -> None:
    """A dropout node."""
    require(not training, "it must be inactive in evaluation")
    return t.node(out, "dropout", [x], axes=x._mc.axes, p=p) if p else t.same(out, x)


def dropout2d(
    t: Nodes, out: Output, x: Traced, p: float = 0.5, training: bool = True, inplace: bool = False
) -> None:
    """Nothing, and a note: mc-train has no such dropout."""
    require(not training, "it must be inactive in evaluation")
    t.note("dropout of whole channels is omitted: mc-train does not apply it")
    t.same(out, x)


def identity(t: Nodes, out: Output, x: Traced, *args: Any, **kwargs: Any) -> None:
    """Nothing: the result is the input."""
    t.same(out, x)


def detach(t: Nodes, out: Output, x: Traced) -> None:
    """Raises Unsupported."""
    require(False, "stopping the gradient is not supported")


def log_softmax(t: Nodes, out: Output, x: Traced, dim: Any = None, **rest: Any) -> None:
    """Nothing, and a note: the loss includes it."""
    require(
        x._mc.axes == ("c",) and dim in (None, 1, -1),
        "its input must be the logits, and its axis the classes",
    )
    t.note(LOG_SOFTMAX)
    t.same(out, x, ["logits"])


# the handlers of PyTorch's functions, by the function's name
TABLE: dict[str, Handler] = {
    f.__name__: f
    for f in (
        *(conv2d, linear, batch_norm, layer_norm, group_norm, hardtanh, pad, getitem),
        *(max_pool2d, avg_pool2d, adaptive_avg_pool2d, adaptive_max_pool2d, mean),
        *(reshape, permute, transpose, cat, add, sub, mul, div),
        *(dropout, dropout2d, log_softmax, detach),
    )
}
POINTWISE = "relu", "relu6", "gelu", "silu", "hardswish", "hardsigmoid", "sigmoid", "tanh"
TABLE.update((name, pointwise(name)) for name in POINTWISE)
TABLE["leaky_relu"] = pointwise("leakyrelu", negative_slope=("slope", 0.01))
TABLE["elu"] = pointwise("elu", alpha=("alpha", 1.0))
TABLE.update(dict.fromkeys(("flatten", "view", "squeeze", "unsqueeze"), reshape))
TABLE.update(dict.fromkeys(("concat", "concatenate"), cat))
TABLE.update(dict.fromkeys(("contiguous", "clone", "to", "float", "alias"), identity))
ALIASES = {
    "iadd": "add",
    "radd": "add",
    "isub": "sub",
    "imul": "mul",
    "rmul": "mul",
    "itruediv": "div",
    "truediv": "div",
    "multiply": "mul",
    "divide": "div",
    "subtract": "sub",
    "max_pool2d_with_indices": "max_pool2d",
    "adaptive_max_pool2d_with_indices": "adaptive_max_pool2d",
}

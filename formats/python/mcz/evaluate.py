# SPDX-License-Identifier: Apache-2.0
"""Compute the nodes of a traced graph with PyTorch, and compare the logits with the network's."""

import inspect
import math
from collections.abc import Mapping

import numpy as np
import torch
from torch.nn import functional as F

from .errors import Error
from .graph import ACTIVATIONS, SETTINGS, constant
from .torch_functions import LOG_SOFTMAX


def outputs(out):
    """The tensors in a network's output, which is a tensor, a tuple, a dictionary or an object with
    `logits`: the logits first, then the rest of a tuple. None of a dictionary's if it has several
    and no "logits"."""
    if isinstance(out, (tuple, list)):
        return [o for o in out if o is not None]
    if isinstance(out, Mapping):
        return [out["logits"]] if "logits" in out else list(out.values()) * (len(out) == 1)
    return [out.logits if hasattr(out, "logits") and not isinstance(out, torch.Tensor) else out]


def arguments(x):
    """The (args, kwargs) of a network's input: a tensor, a tuple of the arguments, or a dictionary
    of them, in an order that does not depend on the dictionary's."""
    if isinstance(x, Mapping):
        return (), dict(sorted(x.items()))
    return (tuple(x) if isinstance(x, (tuple, list)) else (x,)), {}


def _signature(net):
    """The signature of a network's forward, or None if it is unknown."""
    try:
        return inspect.signature(getattr(net, "forward", None))
    except (TypeError, ValueError):
        return None


def accepts(net, name):
    """True if a network's forward has an argument of this name, or any keyword arguments."""
    found = _signature(net)
    return found is not None and any(
        k == name or p.kind is p.VAR_KEYWORD for k, p in found.parameters.items()
    )


def fit(net, args, kwargs):
    """Raises Error if the arguments do not fit the network's forward."""
    signature = _signature(net)
    if signature is None:
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as e:
        n = sum(
            p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            for p in signature.parameters.values()
        )
        raise Error(
            "the network takes {} argument{}, but the input has {} "
            "(for a batch (inputs, labels) pass batch[0])".format(n, "s" * (n != 1), len(args))
            if len(args) > n
            else f"the input does not fit the network: {e} (several arguments: give "
            "them as a dictionary, or as a tuple: ((x1, x2), y))"
        ) from None


def window(n):
    """Stride and padding of a node, as arguments of PyTorch's functions."""
    return {"stride": n["stride"], "padding": n["pad"]}


def form(x):
    """The arguments of a network's input as text: names, and shapes with N for the batch."""
    args, kwargs = arguments(x)
    return ", ".join(
        (
            k + " ({})".format(", ".join(map(str, ["N", *v.shape[1:]])))
            if isinstance(v, torch.Tensor)
            else f"{k} {v}"
        ).strip()
        for k, v in [*zip([""] * len(args), args), *kwargs.items()]
    )


def brief(e):
    """An exception's type and first line, shortened."""
    text = next((line.strip() for line in str(e).splitlines() if line.strip()), "")
    return "{}: {}".format(
        type(e).__name__, text if len(text) <= 200 else text[:200].rpartition(". ")[0] or text[:200]
    )


def call(net, x, run=None, hint=""):
    """The network's output for an input. run: a function that runs it. Raises Error with the
    exception of the network's code, and the hint."""
    args, kwargs = arguments(x)
    fit(net, args, kwargs)
    try:
        return (run or net)(*args, **kwargs)
    except Error:
        raise
    except Exception as e:
        raise Error(f"the network does not run on inputs {form(x)}: {brief(e)}{hint}") from e


def activation(n, x, w):
    """The result of PyTorch's function with the op's name. The node's settings are its keyword
    arguments."""
    f = getattr(torch, n["op"], None) or getattr(F, n["op"])  # functional.sigmoid warns
    return f(x, **{s.key: n.get(s.key, s.absent) for s in SETTINGS[n["op"]]})


# {op: function of the node n, its inputs x (N,C,H,W) and w, which returns the node's tensors by
# name}
EVALUATE = {
    **dict.fromkeys(ACTIVATIONS, activation),
    "relu": lambda n, x, w: F.relu(x),  # a traced network has no delta
    "leakyrelu": lambda n, x, w: F.leaky_relu(x, n["slope"]),
    "conv": lambda n, x, w: F.conv2d(
        x,
        w("weight").reshape(n["out"], -1, *n["kernel"]),
        w("bias") if n["bias"] else None,
        groups=n["groups"],
        **window(n),
    ),
    "linear": lambda n, x, w: F.linear(x.flatten(1), w("weight"), w("bias") if n["bias"] else None)[
        ..., None, None
    ],
    "batchnorm": lambda n, x, w: F.batch_norm(
        x, w("running_mean"), w("running_var"), w("weight"), w("bias"), eps=n["eps"]
    ),
    "layernorm": lambda n, x, w: F.layer_norm(
        x.movedim(1, -1), x.shape[1:2], w("weight"), w("bias"), n["eps"]
    ).movedim(-1, 1),
    "groupnorm": lambda n, x, w: F.group_norm(x, n["groups"], w("weight"), w("bias"), n["eps"]),
    "scale": lambda n, x, w: (
        x * (w(None).reshape(-1, 1, 1) if constant(n["name"]) is None else constant(n["name"]))
    ),
    "add": lambda n, *x: sum(x[1:-1], x[0]),
    "concat": lambda n, *x: torch.cat(x[:-1], 1),
    "mul": lambda n, x, y, w: x * y,
    "pad": lambda n, x, w: F.pad(x, [s[i] for i in (2, 1, 0) for s in (n["before"], n["after"])]),
    "maxpool": lambda n, x, w: F.max_pool2d(x, n["kernel"], ceil_mode=n["ceil"], **window(n)),
    "avgpool": lambda n, x, w: F.avg_pool2d(
        x, n["kernel"], ceil_mode=n["ceil"], count_include_pad=False, **window(n)
    ),
    "globalpool": lambda n, x, w: x.mean((2, 3), keepdim=True),
    "adaptpool": lambda n, x, w: F.adaptive_avg_pool2d(x, n["size"]),
    "flatten": lambda n, x, w: x.flatten(1)[..., None, None],
    "dropout": lambda n, x, w: x,
    "loss": lambda n, x, w: x,
}


def verify(net, m, t):
    """Compares the logits of the graph m (a map) with the outputs that the network had first when t
    traced it, on other images. Adds a difference to the problems of the trace t."""
    x = torch.rand(3, *m["input"], generator=torch.Generator().manual_seed(2))
    state, values, first = net.state_dict(), {}, m["nodes"][0]
    a, b = (
        torch.tensor(np.broadcast_to(v, (len(first["mean"]),)).copy(), dtype=x.dtype).view(-1, 1, 1)
        for v in t.normalise or (1.0, 0.0)
    )
    with torch.no_grad():
        values["pixels"], expected = (
            x * a + b,
            [o.as_subclass(torch.Tensor) for o in outputs(net(x))],
        )
        for n in m["nodes"][1:]:
            values[n["name"]] = EVALUATE[n["op"]](
                n,
                *(values[i] for i in n["in"]),
                lambda s, n=n: state["{}.{}".format(n["name"], s) if s else n["name"]],
            )
        logits = [values[n["name"]].flatten(1) for n in m["nodes"] if n["op"] == "loss"]
        logits, expected = torch.cat(logits), torch.cat(expected[: len(logits)])
        if LOG_SOFTMAX in t.notes:
            logits = logits.log_softmax(1)
        error, largest = (logits - expected).abs().max().item(), expected.abs().max().item()
    if not error <= 1e-4 * max(largest, 1e-3) or not math.isfinite(error):
        t.problems.append(
            f"(the network itself): the graph's logits differ by {error:g} (largest logit: "
            f"{largest:g}): the network branches "
            "on its input, or overwrites a tensor that it needs later"
        )

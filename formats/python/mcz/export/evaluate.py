# SPDX-License-Identifier: Apache-2.0
"""Compute the nodes of a traced graph with PyTorch, and compare the logits with the network's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from ..errors import need
from ..graph import ACTIVATIONS, SETTINGS, constant
from ..nn.inputs import outputs
from ..nn.state import listed
from .nodes import Nodes
from .torch_functions import LOG_SOFTMAX

NodeMap = dict[str, Any]  # a node as streams store it


def window(n: NodeMap) -> dict[str, Any]:
    """Stride and padding of a node, as arguments of PyTorch's functions."""
    return {"stride": n["stride"], "padding": n["pad"]}


def activation(n: NodeMap, x: torch.Tensor, w: Any) -> torch.Tensor:
    """The result of PyTorch's function with the op's name. The node's settings are its keyword
    arguments."""
    f = getattr(torch, n["op"], None) or getattr(F, n["op"])  # functional.sigmoid warns
    result: torch.Tensor = f(x, **{s.key: n.get(s.key, s.absent) for s in SETTINGS[n["op"]]})
    return result


# {op: function of the node n, its inputs x (N,C,H,W) and w, which returns the node's tensors by
# name}
EVALUATE: dict[str, Callable[..., torch.Tensor]] = {
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


def _wrong_gradients(
    net: nn.Module, tensors: Iterable[str], logits: torch.Tensor, expected: torch.Tensor
) -> list[str]:
    """The trainable parameters, of these tensors, whose gradients differ between the graph and the
    network. [] if PyTorch cannot compute them, as through a reentrant checkpoint."""
    own = {k: v for k, v in net.named_parameters() if k in tensors and v.requires_grad}
    weight = torch.rand(expected.shape, generator=torch.Generator().manual_seed(3))
    found: list[Sequence[torch.Tensor | None]] = []
    for out in logits, expected:
        total = (out * weight).sum()
        if not total.requires_grad or not own:
            found.append([None] * len(own))
            continue
        try:
            found.append(torch.autograd.grad(total, list(own.values()), allow_unused=True))
        except RuntimeError:
            return []
    pairs = [
        [torch.zeros(()) if g is None else g for g in both] for both in zip(*found, strict=True)
    ]
    sizes = [g.abs().max() for g, _ in pairs]
    noise = 1e-5 * max(sizes, default=torch.zeros(()))  # of derivatives that are 0
    return [
        k
        for k, (g, h), size in zip(own, pairs, sizes)
        if (g - h).abs().max() > torch.maximum(0.01 * size, noise)
    ]


def verify(net: nn.Module, m: dict[str, Any], t: Nodes, tensors: Iterable[str]) -> None:
    """Compares the logits of the graph m (a map) with the outputs that the network had first when t
    traced it, on other images. Adds a difference to the problems of the trace t. Raises Error if
    the logits agree, but gradients of these tensors do not."""
    x = torch.rand(3, *m["input"], generator=torch.Generator().manual_seed(2))
    state, first = {**net.state_dict(), **dict(net.named_parameters())}, m["nodes"][0]
    values: dict[str, torch.Tensor] = {}
    a, b = (
        torch.tensor(np.broadcast_to(v, (len(first["mean"]),)).copy(), dtype=x.dtype).view(-1, 1, 1)
        for v in t.normalise or (1.0, 0.0)
    )
    with torch.enable_grad():
        values["pixels"] = x * a + b
        outs = [o.as_subclass(torch.Tensor) for o in outputs(net(x))]
        for n in m["nodes"][1:]:
            values[n["name"]] = EVALUATE[n["op"]](
                n,
                *(values[i] for i in n["in"]),
                lambda s, n=n: state["{}.{}".format(n["name"], s) if s else n["name"]],
            )
        heads = [values[n["name"]].flatten(1) for n in m["nodes"] if n["op"] == "loss"]
        logits, expected = torch.cat(heads), torch.cat(outs[: len(heads)])
        if LOG_SOFTMAX in t.notes:
            logits = logits.log_softmax(1)
        error, largest = (logits - expected).abs().max().item(), expected.abs().max().item()
        wrong = _wrong_gradients(net, tensors, logits, expected)
    if not error <= 1e-4 * max(largest, 1e-3) or not math.isfinite(error):
        t.problems.append(
            f"(the network itself): the graph's logits differ by {error:g} (largest logit: "
            f"{largest:g}): the network branches "
            "on its input, or overwrites a tensor that it needs later"
        )
        return
    need(
        not wrong,
        f"mc-train would compute other gradients of {listed(wrong)} (is a part of forward in "
        "torch.no_grad()?)",
    )

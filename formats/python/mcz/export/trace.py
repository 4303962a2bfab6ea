# SPDX-License-Identifier: Apache-2.0
"""Trace the graph of an nn.Module.

The network runs once on a batch of random images, and torch_functions.py maps each PyTorch function
that it calls to a node. Tracing functions rather than modules makes nn.ReLU and F.relu one case.
Concrete rather than symbolic tensors make branches on a shape and in-place operations work. An
Error lists every unsupported call of the network."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .. import graph
from ..errors import Error, need
from ..graph import constant
from ..nn.inputs import outputs
from ..nn.unchanged import evaluating
from .evaluate import verify
from .layers import adaptive_max_pool2d, max_pool2d
from .nodes import Nodes
from .torch_functions import ALIASES, TABLE
from .traced_tensor import (
    BATCH,
    Result,
    Traced,
    Unsupported,
    Value,
    flat,
    require,
    stand_in,
    whole_value,
)

HELP = "see docs/reference/modules.md, or use mcz.torch.groups"
AUXILIARY_WEIGHT = 0.3  # of an auxiliary loss, as in GoogLeNet


class Trace(Nodes):
    """One run of a network, whose calls of PyTorch's functions become nodes."""

    def call(
        self,
        func: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        out: Any,
        values: Sequence[Value | None],
    ) -> None:
        """Sets the Value of func's result. values: the Values of its traced arguments before it
        ran."""
        for o in flat([out]):
            if isinstance(o, Traced):
                o._mc = None
        if not values or values[0] is None or any(v is None for v in values):
            return  # depends on an unsupported call that is already reported
        inputs = [a for a in flat([args, kwargs]) if isinstance(a, Traced)]
        for a, v in zip(inputs, values):
            a._mc = v
        name = func.__name__.strip("_")
        handler = TABLE.get(ALIASES.get(name, name))
        kwargs = {k: v for k, v in kwargs.items() if k != "out"}
        if isinstance(out, tuple) and handler in (max_pool2d, adaptive_max_pool2d):
            out = out[0]
        result = out
        try:
            if not handler or not isinstance(out, Traced):
                raise Unsupported("")
            if any(out is a for a in inputs):
                # in place: the input keeps its Value until the handler has read it
                result = Result(out)
            require(out.dtype == inputs[0].dtype, f"conversion to {out.dtype} is not supported")
            handler(self, result, *args, **kwargs)
            out._mc = result._mc
        except Unsupported as e:
            reason = (
                f"{name}: {e}"
                if e.args[0]
                else self.operation(name) + " is not supported in graphs"
            )
            self.problems.append(f"{self.place()}: {reason}")
            for o in flat([out]):  # continue, to find later problems
                if isinstance(o, Traced):
                    o._mc = stand_in(o, values[0])


def export(
    net: nn.Module,
    input: Sequence[int],
    classes: int,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]], list[str]]:
    """Traces the graph of a network and its weights.

        graph, tensors, notes = mcz.torch.export(net, (3, 16, 16), 10, mean=[.5] * 3, std=[.25] * 3)
        json.dump(graph, open("net.json", "w"))                  # for --net ./net.json
        mcz.safetensors.write("a.safetensors", tensors)          # for mc-convert

    net        an nn.Module that maps images (N,C,H,W) to logits (N,K); it is traced in evaluation
               mode. Logits (N,K) that it returns after them only in training become auxiliary
               losses.
    input      (C, H, W).
    classes    K.
    mean, std  the normalisation of images in [0, 1] before net, per channel; default: none.
    name       the network's name in streams; default: its class.

    Returns (graph, {tensor: float32 array}, notes for the user). Raises mcz.Error with every
    unsupported operation and the path of its module: "norm: InstanceNorm2d is not supported in
    graphs".
    """
    return graph_of(net, list(input), classes, mean, std, name)


def graph_of(
    net: nn.Module,
    image: Sequence[int],
    classes: int,
    mean: Any = None,
    std: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]], list[str]]:
    """Traces a network, as mcz.torch.export describes. image: (C, H, W). Returns (graph as a map,
    {tensor: array} in the graph's order, notes for the user)."""
    device = next((p.device for p in net.parameters()), torch.device("cpu"))
    net.cpu()
    hooks = []
    for path, m in net.named_modules():
        hooks.append(
            m.register_forward_pre_hook(
                lambda m, args, path=path: Traced.trace.enter(path, m, args)
            )
        )
        hooks.append(m.register_forward_hook(lambda m, args, out: Traced.trace.leave(m, out)))
    try:
        with evaluating(net), torch.no_grad():
            t, m, tensors = trace(net, image, classes, mean, std, name)
            if any(n not in tensors for n, _ in net.named_parameters()):
                t, m, tensors = auxiliary_heads(t, m, tensors, classes, mean, std, name)
    finally:
        Traced.trace = None
        for h in hooks:
            h.remove()
        net.to(device)
    return m, tensors, t.notes


def trace(
    net: nn.Module, image: Sequence[int], classes: int, mean: Any, std: Any, name: str | None
) -> tuple[Trace, dict[str, Any], dict[str, NDArray[Any]]]:
    """Runs a network. Returns (Trace, graph as a map, {tensor: array})."""
    t = Traced.trace = Trace(net, image)
    x = torch.rand(BATCH, *t.image, generator=torch.Generator().manual_seed(1)).as_subclass(Traced)
    x._mc = Value("pixels", t.image, "chw", (np.ones(t.image[0]), np.zeros(t.image[0])))
    result = net(x)
    out = outputs(result) or [result]
    need(
        isinstance(out[0], torch.Tensor),
        f"the network must return a tensor (got {type(out[0]).__name__})",
    )
    if not t.problems:
        heads = out if net.training else out[:1]
        names = []
        for o in heads:
            v = whole_value(o)
            if not v or v.axes not in (("c",), ("logits",)) or v.shape[0] != classes:
                shape = tuple(o.shape[1:])
                raise Error(f"the network must return {classes} logits (got shape {shape})")
            names.append(v.node)
        m, nodes = finish(t, names, classes, mean, std, name)
        tensors = weights(t, nodes)
        verify(net, m, t)
    need(len(t.problems) != 1, "{}: {}".format([*t.problems, ""][0], HELP))
    if t.problems:
        raise Error(f"{len(t.problems)} problems ({HELP}):", lines=t.problems)
    return t, m, tensors


def auxiliary_heads(
    t: Trace,
    m: dict[str, Any],
    tensors: dict[str, NDArray[Any]],
    classes: int,
    mean: Any,
    std: Any,
    name: str | None,
) -> tuple[Trace, dict[str, Any], dict[str, NDArray[Any]]]:
    """Adds the outputs that a network returns only in training, which evaluation omits: the network
    itself (not its modules) runs in training mode. Returns (Trace, graph, tensors), those given if
    the outputs cannot be added."""
    t.net.training = True
    try:
        with_heads = trace(t.net, t.image, classes, mean, std, name)
    except Exception:  # also the user's code: the network may need labels in training
        return t, m, tensors
    finally:
        t.net.training = False
    heads = [n["in"][0] for n in with_heads[1]["nodes"] if n.get("train_only")]
    if not heads or [n for n in with_heads[1]["nodes"] if n in m["nodes"]] != m["nodes"]:
        return t, m, tensors
    with_heads[0].note(
        "auxiliary outputs become losses of weight {:g}, for training: {}".format(
            AUXILIARY_WEIGHT, ", ".join(heads)
        )
    )
    return with_heads


def weights(t: Trace, nodes: Sequence[graph.Node]) -> dict[str, NDArray[Any]]:
    """{tensor: array} of a graph's nodes, in their order, parameters first. Notes tensors that are
    omitted, rounded or frozen."""
    state, parameters = t.net.state_dict(), dict(t.net.named_parameters())
    learned, statistics = (
        list(itertools.chain(*lists)) for lists in zip(*map(graph.tensors, nodes))
    )
    tensors = {
        n: np.full(s, constant(n), "f4")
        if n not in state
        else state[n].detach().cpu().float().numpy().reshape(s)
        for n, s in learned + statistics
    }
    for n, a in tensors.items():
        need(np.isfinite(a).all(), f'"{n}" holds a value that is not finite')
    if any(state[n].dtype == torch.float64 for n in tensors if n in state):
        t.note("float64 weights are rounded to float32")
    learned = [n for n, _ in learned if n in state]
    for text, names, candidates in (
        (
            "omitted, because evaluation does not use them",
            [n for n in parameters if n not in tensors],
            parameters,
        ),
        (
            "frozen (requires_grad=False), but mc-train trains them",
            [n for n in learned if n not in parameters or not parameters[n].requires_grad],
            learned,
        ),
    ):
        if names:
            t.note(
                "{}: {}".format(
                    text,
                    "all parameters"
                    if len(names) == len(candidates)
                    else ", ".join(sorted({n.rpartition(".")[0] or n for n in names})),
                )
            )
    return tensors


def finish(
    t: Trace, heads: Sequence[str], classes: int, mean: Any, std: Any, name: str | None
) -> tuple[dict[str, Any], list[graph.Node]]:
    """(graph as a map, nodes that the heads, names of nodes, depend on). The map adds the image's
    normalisation and the losses: the first head's, and auxiliary ones."""
    c = t.image[0]
    need(1 <= c <= 4, f"an image must have 1 to 4 channels (got {c})")
    mean, std = (
        np.broadcast_to(np.asarray(v, float), (c,))
        for v in (0 if mean is None else mean, 1 if std is None else std)
    )
    a, b = t.normalise or (1, 0)
    # a ((x - mean) / std) + b
    mean, std = (
        [float(str(np.float32(v))) for v in values] for values in (mean - b * std / a, std / a)
    )
    needed = set(heads)
    nodes: list[graph.Node] = []
    for n in reversed(t.nodes):
        if n.name in needed:
            needed.update(i.name for i in n.ins)
            nodes.insert(0, n)
    first = {"op": "normalise", "name": "pixels", "in": [], "mean": mean, "std": std}
    graph.check_node(first, c)
    return {
        "net": (name or type(t.net).__name__)[:63],
        "input": t.image,
        "classes": classes,
        "nodes": [first]
        + [n.map for n in nodes]
        + [
            {
                "op": "loss",
                "name": h + ".loss" if i else "loss",
                "in": [h],
                "weight": AUXILIARY_WEIGHT if i else 1,
                "train_only": i > 0,
            }
            for i, h in enumerate(heads)
        ],
    }, nodes

# SPDX-License-Identifier: Apache-2.0
"""Trace the graph of an nn.Module.

The network runs once on a batch of random images, and torch_functions.py maps each PyTorch function
that it calls to a node. Tracing functions rather than modules makes nn.ReLU and F.relu one case.
Concrete rather than symbolic tensors make branches on a shape and in-place operations work. An
Error lists every unsupported call of the network."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .. import graph
from ..errors import Error, need
from ..graph import constant
from ..nn.copies import duplicate
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
            try:
                inspect.signature(handler).bind(self, result, *args, **kwargs)
            except TypeError as e:
                raise Unsupported(f"{e} (give the arguments by position)") from None
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


class Task(NamedTuple):
    """The arguments of export()."""

    net: nn.Module
    image: list[int]
    classes: int
    mean: Any
    std: Any
    name: str | None


Exported = tuple[Trace, dict[str, Any], dict[str, NDArray[Any]]]  # the graph as a map, the tensors


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
    if any(v.device.type != "cpu" for v in [*net.parameters(), *net.buffers()]):
        net = duplicate(net).cpu()
    task = Task(net, list(input), classes, mean, std, name)
    try:
        with evaluating(net), torch.no_grad():  # which removes the hooks
            for path, m in net.named_modules():
                need(
                    not isinstance(m, torch.jit.ScriptModule),
                    f"{path or '(the network itself)'}: a module of TorchScript has no functions "
                    "to trace (export the network before torch.jit.script)",
                )
                m.register_forward_pre_hook(
                    lambda m, args, path=path: Traced.trace.enter(path, m, args)
                )
                m.register_forward_hook(lambda m, args, out: Traced.trace.leave(m, out))
            found = trace(task)
            if any(n not in found[2] for n, _ in net.named_parameters()):
                found = auxiliary_heads(task, found)
    finally:
        Traced.trace = None
    return *found[1:], found[0].notes


def trace(task: Task) -> Exported:
    """Runs a network."""
    t = Traced.trace = Trace(task.net, task.image)
    image = torch.rand(BATCH, *t.image, generator=torch.Generator().manual_seed(1))
    with torch.enable_grad():  # shows what is computed from parameters
        x = image.as_subclass(Traced)
        x._mc = Value("pixels", t.image, "chw", (np.ones(t.image[0]), np.zeros(t.image[0])))
        result = t.net(x)
    out = outputs(result) or [result]
    need(
        isinstance(out[0], torch.Tensor),
        f"the network must return a tensor (got {type(out[0]).__name__})",
    )
    if not t.problems:
        heads = []
        for o in out if t.net.training else out[:1]:
            v = whole_value(o)
            if not v or v.axes not in (("c",), ("logits",)) or v.shape[0] != task.classes:
                shape = tuple(o.shape[1:])
                raise Error(f"the network must return {task.classes} logits (got shape {shape})")
            heads.append(v.node)
        m, nodes = finish(t, heads, task)
        tensors = weights(t, nodes)
        verify(t.net, m, t, tensors)
    need(len(t.problems) != 1, "{}: {}".format([*t.problems, ""][0], HELP))
    if t.problems:
        raise Error(f"{len(t.problems)} problems ({HELP}):", lines=t.problems)
    return t, m, tensors


def auxiliary_heads(task: Task, found: Exported) -> Exported:
    """Adds the outputs that a network returns only in training, which evaluation omits: the network
    itself (not its modules) runs in training mode. Returns what was found if they cannot be
    added."""
    task.net.training = True
    try:
        with_heads = trace(task)
    except Exception:  # also the user's code: the network may need labels in training
        return found
    finally:
        task.net.training = False
    t, m, _ = with_heads
    heads = [n["in"][0] for n in m["nodes"] if n.get("train_only")]
    old = found[1]["nodes"]
    if not heads or [n for n in m["nodes"] if n in old] != old:
        return found
    t.note(
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
    omitted = [n for n in parameters if n not in tensors]
    trained = [n for n, _ in learned if n in state]
    frozen = [n for n in trained if n not in parameters or not parameters[n].requires_grad]
    for text, names, candidates in (
        ("omitted, because evaluation does not use them", omitted, list(parameters)),
        ("frozen (requires_grad=False), but mc-train trains them", frozen, trained),
    ):
        modules = ", ".join(sorted({n.rpartition(".")[0] or n for n in names}))
        if names:
            t.note(f"{text}: {'all parameters' if names == candidates else modules}")
    return tensors


def finish(t: Trace, heads: Sequence[str], task: Task) -> tuple[dict[str, Any], list[graph.Node]]:
    """(graph as a map, nodes that the heads, names of nodes, depend on). The map adds the image's
    normalisation and the losses: the first head's, and auxiliary ones."""
    c = t.image[0]
    need(1 <= c <= 4, f"an image must have 1 to 4 channels (got {c})")
    mean, std = (
        np.broadcast_to(np.asarray(absent if v is None else v, float), (c,))
        for v, absent in ((task.mean, 0), (task.std, 1))
    )
    a, b = t.normalise or (1, 0)  # a ((x - mean) / std) + b
    first: dict[str, Any] = {"op": "normalise", "name": "pixels", "in": []}
    for key, values in ("mean", mean - b * std / a), ("std", std / a):
        first[key] = [float(str(np.float32(v))) for v in values]
    graph.check_node(first, c)
    needed = set(heads)
    nodes: list[graph.Node] = []
    for n in reversed(t.nodes):
        if n.name in needed:
            needed.update(i.name for i in n.ins)
            nodes.insert(0, n)
    return {
        "net": (task.name or type(t.net).__name__)[:63],
        "input": t.image,
        "classes": task.classes,
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

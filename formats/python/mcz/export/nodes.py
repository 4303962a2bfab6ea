# SPDX-License-Identifier: Apache-2.0
"""The nodes of a traced network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .. import graph
from ..errors import Error
from ..graph import TIMES
from .traced_tensor import Affine, Output, Unsupported, Value, require, whole_value


def _rate(module: nn.Module) -> Any:
    """The rate of a dropout; 1 for other modules."""
    own: Any = module
    return getattr(own, "p", getattr(own, "drop_prob", 1))


class Nodes:
    """The nodes of a network that runs, `problems` (unsupported calls) and notes for the user.
    path: the running modules, outermost first, each as (path, module, Value of its input)."""

    def __init__(self, net: nn.Module, image: Sequence[int]) -> None:
        self.net, self.image = net, list(image)
        self.names = {id(p): n for n, p in list(net.named_parameters()) + list(net.named_buffers())}
        self.path: list[tuple[str, nn.Module, Value | None]] = []
        self.nodes: list[graph.Node] = []
        self.used = {"pixels", "loss"}
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.constants = 0
        # (factor, summand) per channel of the network's own normalisation
        self.normalise: Affine | None = None

    def note(self, text: str) -> None:
        """Adds a note for the user once."""
        if text not in self.notes:
            self.notes.append(text)

    def place(self) -> str:
        """The path of the running module."""
        return self.path[-1][0] or "(the network itself)"

    def operation(self, name: str) -> str:
        """The name to report: the running module's type if it is one of torch.nn, else the
        function."""
        _, module, _ = self.path[-1]
        return (
            type(module).__name__
            if type(module).__module__.startswith("torch.nn.")
            else name + "()"
        )

    def enter(self, path: str, module: nn.Module, args: Sequence[Any]) -> None:
        """Notes that a module starts to run."""
        self.path.append((path, module, whole_value(args[0]) if args else None))

    def leave(self, module: nn.Module, out: Any) -> None:
        """Notes a module that returns its input unchanged, because it may act in training."""
        _, _, before = self.path.pop()
        kind = type(module).__name__
        if (
            before
            and whole_value(out) is before
            and kind not in ("Identity", "Sequential")
            and not list(module.children())
            and _rate(module)
        ):
            self.note(f"{kind} is omitted: mc-train does not apply it")

    def layer(self, weight: torch.Tensor | None, bias: torch.Tensor | None) -> str:
        """The module path of a layer's parameters."""
        name = self.names.get(id(weight), "")
        require(name, "its weight must be a parameter, not a computed tensor")
        path, _, last = name.rpartition(".")
        require(last == "weight" and path, f'its weight must be named PATH.weight (got "{name}")')
        require(
            bias is None or self.names.get(id(bias)) == path + ".bias",
            f"its bias must be {path}.bias",
        )
        require(path not in self.used, f"{path} is used twice: shared weights are not supported")
        return path

    def functional(self, op: str, part: str = "") -> str:
        """An unused node name below the running module, which ends with `part`."""
        path, module, _ = self.path[-1]
        own = (
            type(module).__module__.startswith("torch.nn.") and path and not list(module.children())
        )
        base = path if own else ".".join(filter(None, (path, op)))
        name, k = base + part, 2
        while name in self.used or name + ".weight" in self.names.values():
            name, k = f"{base}_{k}{part}", k + 1
        return name

    def source(self, x: Output) -> str:
        """The name of the node whose output x is. Records the normalisation of pixels."""
        v = x._mc
        if v.affine is not None:
            if self.normalise is None:
                self.normalise = v.affine
            require(
                all(np.allclose(a, b) for a, b in zip(v.affine, self.normalise)),
                "the image is normalised in more than one way",
            )
        return str(v.node)

    def node(
        self,
        out: Output,
        op: str,
        ins: Sequence[Output],
        /,
        named: str | None = None,
        axes: Sequence[str] = "chw",
        any_axes: bool = False,
        **settings: Any,
    ) -> None:
        """Adds a node with these inputs (tensors) and settings, and sets the Value of out, whose
        axes are `axes`. Raises Unsupported if the node is invalid, or if its output's shape differs
        from out's."""
        for x in ins:
            require("logits" not in x._mc.axes, "log_softmax must be the last operation")
            require(
                any_axes or axes != "chw" or x._mc.axes == ("c", "h", "w"),
                "its input must have axes (C, H, W)",
            )
        sources = [self.source(x) for x in ins]
        name = named or self.functional(op)
        n = graph.Node(op, name, [graph.Node("", s, [], {}) for s in sources], settings)
        for i, x in zip(n.ins, ins):
            i.shape = x._mc.shape
        try:
            graph.check_node(n.map, self.image[0])
            n.shape = graph.shape(n, self.image)
        except Error as e:
            raise Unsupported(str(e)) from None
        self.used.add(name)
        self.nodes.append(n)
        expected = [
            {"c": n.shape[0], "h": n.shape[1], "w": n.shape[2], "l": n.shape[1] * n.shape[2]}[a]
            for a in axes
        ]
        require(
            list(out.shape[1:]) == expected,
            f"shape {tuple(expected)} expected, got {tuple(out.shape[1:])}",
        )
        out._mc = Value(name, n.shape, axes)

    def same(self, out: Output, x: Output, axes: Sequence[str] | None = None) -> None:
        """Gives out the Value of x, with other axes if given."""
        out._mc = Value(x._mc.node, x._mc.shape, x._mc.axes if axes is None else axes, x._mc.affine)

    def affine(self, out: Output, x: Output, factor: Any, summand: Any, reason: str) -> None:
        """Handles out = x * factor + summand with constants, each one number or one per channel. On
        pixels they are the image's normalisation. Elsewhere a single factor becomes a scale node;
        else Unsupported, for this reason."""

        def per_channel(v: Any) -> NDArray[Any]:
            if isinstance(v, torch.Tensor):
                require(not v.requires_grad, reason)  # also of what is computed from parameters
                v = v.detach().as_subclass(torch.Tensor).double().numpy().reshape(-1)
                require(len(v) in (1, x._mc.shape[0]), reason)
            return np.broadcast_to(np.asarray(v, float), (x._mc.shape[0],))

        factor, summand = per_channel(factor), per_channel(summand)
        if (factor == 1).all() and (summand == 0).all():
            self.same(out, x)
            return
        if x._mc.affine is None:  # the node's name holds the constant, for load()
            require((summand == 0).all() and (factor == factor[0]).all(), reason)
            self.constants += 1
            name = "{}_{}".format(
                ".".join(filter(None, (self.path[-1][0], TIMES + f"{factor[0]:.9g}"))),
                self.constants,
            )
            self.note(f"{name} is a constant, but mc-train trains it")
            self.node(out, "scale", [x], named=name, axes=x._mc.axes)
            return
        a, b = x._mc.affine
        out._mc = Value(x._mc.node, x._mc.shape, x._mc.axes, (a * factor, b * factor + summand))

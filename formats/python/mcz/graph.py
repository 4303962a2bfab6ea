# SPDX-License-Identifier: Apache-2.0
"""A network's graph (formats/codecs/graph.md): checks, node shapes and tensor names.

The checks are derived from ops.json, the programs' table of operations. `make reference` writes it;
do not edit it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import inf, prod
from pathlib import Path
from typing import Any

import numpy as np

from . import keys
from .errors import need

SIDE_MAX, CHANNELS_MAX, DROPOUT_MAX, ELEMENTS_MAX = 8192, 1 << 24, 1 << 22, 1 << 28
Tensor = tuple[str, list[int]]  # name and shape
FLOAT_MAX = 3.4028234663852886e38


def single(v: float) -> float:
    """A number rounded to float32, as the programs store it: 1e-300 becomes 0."""
    with np.errstate(over="ignore"):
        return float(np.float32(v))


class Setting:
    """A setting, from its entry in ops.json. A number is at least `min`, at most `max`, more than
    `over` and less than `below`, as far as the entry has these. `values` describes the valid
    values: "a number from 0 to below 1"."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.entry, self.key, self.values = entry, entry["key"], entry["values"]
        self.optional, self.absent = "absent" in entry, entry.get("absent")

    def ok(self, v: Any) -> bool:
        """True for a valid value."""
        e = self.entry
        if e["type"] == "flag":
            return isinstance(v, bool)
        if e["type"] == "init":
            return bool(v in INITS[INITS.index(e["min"]) : INITS.index(e["max"]) + 1])
        if not (keys.is_whole if e["type"] == "int" else keys.is_number)(v):
            return False
        v = single(v) if e["type"] == "float" else v
        closed = e.get("min", -FLOAT_MAX) <= v <= e.get("max", FLOAT_MAX)
        return bool(closed and e.get("over", -inf) < v < e.get("below", inf))

    def check(self, v: Any, channels: int) -> None:
        """Raises Error unless v is a valid value, or a list of as many as the entry says."""
        n = {"channels": channels, "sides": 2, "image": 3}.get(self.entry.get("list", ""))
        if n is not None:
            need(isinstance(v, list) and len(v) == n, f'"{self.key}" must be {self.values}')
        for x in v if n is not None else [v]:
            need(self.ok(x), f'"{self.key}" must be {self.values} (got {x})')


TABLE = json.loads(Path(__file__).with_name("ops.json").read_text(encoding="utf-8"))
INITS = TABLE["inits"]
OPS = {o["name"]: o for o in TABLE["ops"]}
SETTINGS = {op: [Setting(s) for s in o["settings"]] for op, o in OPS.items()}
ACTIVATIONS = [op for op, o in OPS.items() if o["activation"]]


def check_node(o: Mapping[str, Any], channels: int) -> None:
    """Raises Error if a node's map breaks a rule of the table. channels: channels of the network's
    images."""
    name, op = keys.text(o, "name", 95), keys.text(o, "op", 31)
    need(op in OPS, f'unknown op "{op}"')
    need(name, "name must have 1 to 95 bytes")
    need(
        all(c > " " and c != "\x7f" for c in name),
        "name must not contain spaces or control characters",
    )
    for key in o:
        need(key in ["op", "name", "in"] + [s.key for s in SETTINGS[op]], f'unknown key "{key}"')
    for s in SETTINGS[op]:
        if s.key in o:
            s.check(o[s.key], channels)
        else:
            need(s.optional, f'"{s.key}" is missing')


class Node:
    """A node: op, name, ins (nodes), settings {key: value} and, once set, shape (C, H, W)."""

    shape: tuple[int, int, int]

    def __init__(self, op: str, name: str, ins: list[Node], settings: dict[str, Any]) -> None:
        self.op, self.name, self.ins, self.settings = op, name, ins, settings

    def __getitem__(self, key: str) -> Any:
        return self.settings[key]

    @property
    def map(self) -> dict[str, Any]:
        """The node as streams store it."""
        return {"op": self.op, "name": self.name, "in": [n.name for n in self.ins], **self.settings}


def windows(n: Node, h: int, w: int) -> list[int]:
    """The height and width of the output of a convolution or a pool."""
    pool, sides = n.op != "conv", []
    for side, k, s, p in zip((h, w), n["kernel"], n["stride"], n["pad"]):
        room = side + 2 * p - k
        need(
            room >= 0 and not (pool and p > k // 2),
            "{} {}, stride {}, pad {} do not fit an input of {}x{}".format(
                "window" if pool else "kernel", k, s, p, h, w
            ),
        )
        up = pool and n["ceil"]
        out = (room + (s - 1 if up else 0)) // s + 1
        sides.append(out - 1 if up and (out - 1) * s >= side + p else out)
    return sides


def _shape(n: Node, image: Sequence[int]) -> tuple[int, int, int]:
    if n.op == "normalise":
        c, h, w = image
        return c, h, w
    c, h, w = n.ins[0].shape
    if OPS[n.op]["inputs"][1] > 1:
        for i in n.ins:
            factors = n.op == "mul" and i.shape[1:] == (1, 1)
            need(
                (i.shape[1:] == (h, w) or factors) and (n.op == "concat" or i.shape[0] == c),
                "inputs of {}x{}x{} and {}x{}x{} do not match".format(c, h, w, *i.shape),
            )
        return sum(i.shape[0] for i in n.ins) if n.op == "concat" else c, h, w
    if n.op == "conv":
        need(
            c % n["groups"] == 0 and n["out"] % n["groups"] == 0,
            "invalid grouped convolution: {} input and {} output channels, {} groups".format(
                c, n["out"], n["groups"]
            ),
        )
    if n.op == "groupnorm":
        need(
            c % n["groups"] == 0, "{} channels do not divide into {} groups".format(c, n["groups"])
        )
    if n.op in ("linear", "loss"):
        need(
            (h, w) == (1, 1),
            f"a linear layer's input must be flat (got {c}x{h}x{w})"
            if n.op == "linear"
            else f"logits of {c}x{h}x{w}",
        )
    if n.op == "dropout":
        need(c * h * w <= DROPOUT_MAX, f"dropout of more than {DROPOUT_MAX} values per image")
    if n.op in ("conv", "maxpool", "avgpool"):
        h, w = windows(n, h, w)
    elif n.op == "adaptpool":
        h, w = n["size"]
    elif n.op == "pad":
        c, h, w = (i + b + a for i, b, a in zip((c, h, w), n["before"], n["after"]))
    elif n.op in ("globalpool", "flatten"):
        c, h, w = c * h * w if n.op == "flatten" else c, 1, 1
    return n["out"] if n.op in ("conv", "linear") else c, h, w


def shape(n: Node, image: Sequence[int]) -> tuple[int, int, int]:
    """The shape (C, H, W) of a node's output, from the shapes of its inputs."""
    out = _shape(n, image)
    need(
        0 < out[0] <= CHANNELS_MAX
        and all(0 < k <= SIDE_MAX for k in out[1:])
        and prod(out) <= ELEMENTS_MAX,
        "output is empty or too large",
    )
    return out


def tensors(n: Node) -> tuple[list[Tensor], list[Tensor]]:
    """(parameters, statistics) of a node, each a list of (name, shape)."""
    if all(s.key != "weight_init" for s in SETTINGS[n.op]):
        return [], []
    c, c_in = n.shape[0], n.ins[0].shape[0]
    if n.op == "scale":
        return [(n.name, [c, 1, 1])], []
    weight = [c]
    if n.op == "conv":
        weight = [c, c_in // n["groups"], *n["kernel"]]
    elif n.op == "linear":
        weight = [c, c_in]
    parameters = [(n.name + ".weight", weight)]
    if n.settings.get("bias", True):
        parameters.append((n.name + ".bias", [c]))
    statistics = [(n.name + ".running_" + s, [c]) for s in ("mean", "var")]
    return parameters, statistics if n.op == "batchnorm" else []


# ---- names ---------------------------------------------------------------------------------------

TIMES = "times_"  # prefix of a constant scale's name, in its last part: times_0.125_1


def constant(name: str) -> float | None:
    """The value of a constant scale, from its name; None for other names."""
    match = re.search(rf"(?:^|\.){TIMES}(-?[0-9.]+(?:e[+-]?[0-9]+)?)_[0-9]+$", name)
    return float(match[1]) if match else None

# SPDX-License-Identifier: Apache-2.0
"""A network's graph (formats/codecs/graph.md): checks, node shapes and tensor names.

OPS and SETTINGS are the tables of that page, verbatim; a test compares them. The checks are derived from them."""
import re
from math import prod

import numpy as np

from . import keys
from .errors import need

OPS = """\
| op | `in` | output |
| --- | --- | --- |
| `normalise` | none; exactly the first node | (x − mean) / std |
| `conv` | 1 | convolution, as PyTorch's |
| `linear` | 1, flat | linear layer |
| `batchnorm` | 1 | per channel |
| `layernorm` | 1 | over the channels of each pixel: LayerNorm of channels-last, torchvision's LayerNorm2d |
| `scale` | 1 | each channel times a learned factor |
| `relu` | 1 | 0 below 0, x²/2δ up to δ, then x − δ/2 |
| `relu6`, `gelu`, `silu`, `hardswish`, `hardsigmoid`, `sigmoid`, `tanh` | 1 | as PyTorch's; `gelu` with the error function, not tanh |
| `leakyrelu` | 1 | x above 0, x · slope below |
| `add` | 2 to 256 of one shape | their sum |
| `mul` | 2 with equal channels; the second has the first's height and width, or 1×1 | their product; 1×1 is one factor per channel |
| `concat` | 1 to 256 of one height and width | their channels, concatenated |
| `maxpool`, `avgpool` | 1 | pooling; averages exclude the padding |
| `globalpool` | 1 | each channel's mean, flat |
| `adaptpool` | 1 | averages, as AdaptiveAvgPool2d's |
| `pad` | 1 | zero channels, rows and columns around the input's |
| `flatten` | 1 | channel after channel, each row by row |
| `dropout` | 1 | training only; remaining values are scaled by 1 / (1 − p); at most 2^22 values per image |
| `loss` | 1, flat, of `classes` channels: the logits | softmax cross-entropy |
"""

SETTINGS = """\
| setting | of | value | meaning |
| --- | --- | --- | --- |
| `mean` | `normalise` | one per channel, each a finite number | mean of the channel's pixels |
| `std` | `normalise` | one per channel, each a number over 0 | their standard deviation |
| `out` | `conv`, `linear` | an integer from 1 to 16777216 | channels of the output |
| `kernel` | `conv`, `maxpool`, `avgpool` | [height, width], each an integer from 1 to 8192 | size of the window |
| `stride` | `conv`, `maxpool`, `avgpool` | [height, width], each an integer from 1 to 8192 | distance of neighbouring windows |
| `pad` | `conv`, `maxpool`, `avgpool` | [height, width], each an integer from 0 to 8192 | padding on each side; at most half a pooling window |
| `groups` | `conv` | an integer from 1 to 16777216 | groups of channels; divides those of input and output |
| `ceil` | `maxpool`, `avgpool` | true or false | round the output's size up |
| `bias` | `conv`, `linear` | true or false | the layer has a bias |
| `eps` | `batchnorm`, `layernorm` | a number over 0 | added to the variance |
| `momentum` | `batchnorm` | a number from 0 to 1 | weight of the new batch in the running statistics |
| `delta` | `relu` | a number of 0 or more; left out: 0 | Huber's δ; 0 is the plain ReLU |
| `slope` | `leakyrelu` | a finite number | factor of numbers below 0 |
| `before` | `pad` | [channels, height, width], each an integer from 0 to 8192 | zeros before the first channel, row and column |
| `after` | `pad` | [channels, height, width], each an integer from 0 to 8192 | zeros after the last channel, row and column |
| `size` | `adaptpool` | [height, width], each an integer from 1 to 8192 | size of the output |
| `p` | `dropout` | a number from 0 to below 1 | probability that a value is dropped |
| `weight` | `loss` | a number of 0 or more | factor of this loss in the sum |
| `train_only` | `loss` | true or false | used only in training |
| `weight_init` | `conv`, `linear` | zero, one, xavier_normal, kaiming_normal_out, uniform_fan_in or truncated_normal_01; left out: uniform_fan_in | initial weights |
| `bias_init` | `conv`, `linear` | zero, one, xavier_normal, kaiming_normal_out, uniform_fan_in or truncated_normal_01; left out: uniform_fan_in | initial bias; written if `bias` is true |
| `weight_init` | `batchnorm`, `layernorm`, `scale` | zero or one; left out: one | initial weights |
| `bias_init` | `batchnorm`, `layernorm` | zero or one; left out: zero | initial bias |
"""

SIDE_MAX, CHANNELS_MAX, DROPOUT_MAX, ELEMENTS_MAX = 8192, 1 << 24, 1 << 22, 1 << 28
LISTS = {"one per channel, each ": "channels", "[height, width], each ": 2, "[channels, height, width], each ": 3}
FLOAT_MAX = 3.4028234663852886e38


def rows(table):
    return [[c.strip() for c in line.strip("| ").split(" | ")] for line in table.splitlines()[2:]]


def names(cell):
    return re.findall("`(.*?)`", cell)


def inputs(cell):
    """(minimum, maximum) number of inputs, from the second column of OPS."""
    n = [int(k) for k in re.match(r"(\d+)?(?: to (\d+))?", cell).groups() if k]
    return (0, 0) if not n else (n[0], n[-1])


INPUTS = {op: inputs(number) for cell, number, _ in rows(OPS) for op in names(cell)}


def single(v):
    """A number rounded to float32, as the programs store it: 1e-300 becomes 0."""
    with np.errstate(over="ignore"):
        return float(np.float32(v))


class Setting:
    """A row of SETTINGS. `values` describes the valid values ("a number from 0 to below 1"), and ok() is built from it."""

    def __init__(self, key, ops, values, meaning):
        self.key, self.ops = key.strip("`"), names(ops)
        self.values, _, default = values.partition("; left out: ")
        self.optional, self.with_bias = bool(default), "if `bias`" in meaning
        self.list, each = next(((n, self.values[len(w):]) for w, n in LISTS.items() if self.values.startswith(w)),
                               (None, self.values))
        bounds = re.search(r"from (-?[\d.]+) to (below )?(-?[\d.]+)$|over (-?[\d.]+)$|of (-?[\d.]+) or more$", each)
        low, below, high, over, minimum = bounds.groups() if bounds else [None] * 5
        if each == "true or false":
            self.ok = lambda v: isinstance(v, bool)
        elif not each.startswith(("a number", "an integer", "a finite number")):
            choices = re.split(", | or ", each)
            self.ok = lambda v: v in choices
        else:
            low, high = float(low or over or minimum or -FLOAT_MAX), float(high or FLOAT_MAX)
            is_type, convert = (keys.is_whole, int) if each.startswith("an integer") else (keys.is_number, single)
            self.ok = lambda v: (is_type(v) and (convert(v) > low if over else convert(v) >= low) and
                                 (convert(v) < high if below else convert(v) <= high))

    def check(self, v, channels):
        n = channels if self.list == "channels" else self.list
        if n is not None:
            need(isinstance(v, list) and len(v) == n, "\"%s\" must be %s" % (self.key, self.values))
        for x in v if n is not None else [v]:
            need(self.ok(x), "\"%s\" must be %s (got %s)" % (self.key, self.values, x))


TABLE = [Setting(*row) for row in rows(SETTINGS)]
JOINS = "add", "mul", "concat"
WEIGHTED = "conv", "linear", "batchnorm", "layernorm", "scale"


def check_node(o, channels):
    """Raises Error if a node's map breaks a rule of the tables. channels: channels of the network's images."""
    name, op = keys.text(o, "name", 95), keys.text(o, "op", 31)
    need(op in INPUTS, "unknown op \"%s\"" % op)
    need(name, "name must have 1 to 95 bytes")
    need(all(c > " " and c != "\x7f" for c in name), "name must not contain spaces or control characters")
    settings = [s for s in TABLE if op in s.ops]
    for key in o:
        need(key in ["op", "name", "in"] + [s.key for s in settings], "unknown key \"%s\"" % key)
    for s in settings:
        if s.key in o:
            s.check(o[s.key], channels)
        else:
            need(s.optional, "\"%s\" is missing" % s.key)


class Node:
    """A node: op, name, ins (nodes), settings {key: value} and, once set, shape (C, H, W). map: as streams store it."""

    def __init__(self, op, name, ins, settings):
        self.op, self.name, self.ins, self.settings = op, name, ins, settings

    def __getitem__(self, key):
        return self.settings[key]

    @property
    def map(self):
        return {"op": self.op, "name": self.name, "in": [n.name for n in self.ins], **self.settings}


def windows(n, h, w):
    pool, sides = n.op != "conv", []
    for side, k, s, p in zip((h, w), n["kernel"], n["stride"], n["pad"]):
        room = side + 2 * p - k
        need(room >= 0 and not (pool and p > k // 2), "%s %d, stride %d, pad %d do not fit an input of %dx%d" %
             ("window" if pool else "kernel", k, s, p, h, w))
        up = pool and n["ceil"]
        out = (room + (s - 1 if up else 0)) // s + 1
        sides.append(out - 1 if up and (out - 1) * s >= side + p else out)
    return sides


def _shape(n, image):
    if n.op == "normalise":
        return tuple(image)
    c, h, w = n.ins[0].shape
    if n.op in JOINS:
        for i in n.ins:
            factors = n.op == "mul" and i.shape[1:] == (1, 1)
            need((i.shape[1:] == (h, w) or factors) and (n.op == "concat" or i.shape[0] == c),
                 "inputs of %dx%dx%d and %dx%dx%d do not match" % (c, h, w, *i.shape))
        return sum(i.shape[0] for i in n.ins) if n.op == "concat" else c, h, w
    if n.op == "conv":
        need(c % n["groups"] == 0 and n["out"] % n["groups"] == 0, "invalid grouped convolution: %d input and %d "
             "output channels, %d groups" % (c, n["out"], n["groups"]))
    if n.op in ("linear", "loss"):
        need((h, w) == (1, 1), "a linear layer's input must be flat (got %dx%dx%d)" % (c, h, w) if n.op == "linear" else
             "logits of %dx%dx%d" % (c, h, w))
    if n.op == "dropout":
        need(c * h * w <= DROPOUT_MAX, "dropout of more than %d values per image" % DROPOUT_MAX)
    if n.op in ("conv", "maxpool", "avgpool"):
        h, w = windows(n, h, w)
    elif n.op == "adaptpool":
        h, w = n["size"]
    elif n.op == "pad":
        c, h, w = (i + b + a for i, b, a in zip((c, h, w), n["before"], n["after"]))
    elif n.op in ("globalpool", "flatten"):
        c, h, w = c * h * w if n.op == "flatten" else c, 1, 1
    return n["out"] if n.op in ("conv", "linear") else c, h, w


def shape(n, image):
    """The shape (C, H, W) of a node's output, from the shapes of its inputs."""
    out = _shape(n, image)
    need(0 < out[0] <= CHANNELS_MAX and all(0 < k <= SIDE_MAX for k in out[1:]) and prod(out) <= ELEMENTS_MAX,
         "output is empty or too large")
    return out


def tensors(n):
    """(parameters, statistics) of a node, each a list of (name, shape)."""
    if n.op not in WEIGHTED:
        return [], []
    c, c_in = n.shape[0], n.ins[0].shape[0]
    if n.op == "scale":
        return [(n.name, [c, 1, 1])], []
    weight = {"conv": lambda: [c, c_in // n["groups"]] + n["kernel"],
              "linear": lambda: [c, c_in]}.get(n.op, lambda: [c])()
    parameters = [(n.name + ".weight", weight)] + [(n.name + ".bias", [c])] * bool(n.settings.get("bias", True))
    return parameters, [(n.name + ".running_" + s, [c]) for s in ("mean", "var")] if n.op == "batchnorm" else []


# ---- names -----------------------------------------------------------------------------------------------------------

TIMES = "times_"  # prefix of a constant scale's name, in its last part: times_0.125_1


def constant(name):
    """The value of a constant scale, from its name; None for other names."""
    match = re.search(r"(?:^|\.)%s(-?[0-9.]+(?:e[+-]?[0-9]+)?)_[0-9]+$" % TIMES, name)
    return float(match[1]) if match else None

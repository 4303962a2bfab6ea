#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compute a loss's gradients with respect to doubly stochastic matrices, for tests/parity/test_soft_permutation.c.

    /usr/bin/python3 tests/parity/make_soft_permutation_golden.py tests/parity/soft_permutation_golden.mcz

The network is r = (1-t) a + t P b + 2t(1-t) c, where P applies a doubly stochastic matrix per group to the units of
b: tinyten, and a network with a skip, a concat and a flatten. Huber's delta is 1, with batch statistics. Weights a,
b, c and images come from splitmix64 by make_network_golden.py's formula. The file has each group's matrix, which the
test reads, and its gradient in float64, stored as float32. The groups' axes are declared here by hand: for each axis
of a tensor (group, indices per unit), or None.
"""
import re
import sys

import numpy as np
import torch
import torch.nn.functional as F

from golden import images, labels, stream, unit, write
from make_network_golden import Net, gradients, loss_of, tinyten, worst

BATCH, T, SEEDS = 16, .4, (1, 2, 3)  # seeds of a, b, c; the images have a's


def mixed(n, x, classes):
    s = n.cbr("stem", x, 12, 3)
    y = n.relu(n.bn("block.bn1", n.conv("block.conv1", s, 10, 3, bias=True)))
    x = n.relu(n.bn("block.bn2", n.conv("block.conv2", y, 12, 3)) + s)
    x = torch.cat((n.cbr("branch1", x, 9), x, n.cbr("branch2", x, 14, 3)), 1)
    x = n.relu(n.linear("fc1", F.adaptive_avg_pool2d(x, (2, 3)).flatten(1), 20))
    return [n.linear("fc2", x, classes)]


def tinyten_axes(name):
    if name.startswith("dense"):
        return [None], [("layers.7.conv", 1)]
    i = int(name.split(".")[1])
    return [("layers.%d.conv" % i, 1)], [("layers.%d.conv" % (i - 1), 1)] if i else [None]


def mixed_axes(name):
    stem, mid, one, two, fc1 = ((g, 1) for g in ("stem.conv", "block.conv1", "branch1.conv", "branch2.conv",
                                                 "fc1"))
    rows = {"stem.conv": stem, "stem.bn": stem, "block.conv1": mid, "block.bn1": mid, "block.conv2": stem,
            "block.bn2": stem, "branch1.conv": one, "branch1.bn": one, "branch2.conv": two, "branch2.bn": two,
            "fc1": fc1, "fc2": None}
    cols = {"stem.conv": [None], "block.conv1": [stem], "block.conv2": [mid], "branch1.conv": [stem],
            "branch2.conv": [stem], "fc1": [(g, 6) for g, _ in (one, stem, two)], "fc2": [fc1]}
    layer = re.sub(r"\.(weight|bias)$", "", name)
    return [rows[layer]], cols.get(layer)


# name, builder, axes of its tensors, side of the images, units per group
NETS = [("tinyten", tinyten, tinyten_axes, 32,
         {"layers.%d.conv" % i: k for i, k in enumerate((16, 16, 32, 32, 32, 64, 64, 64))}),
        ("mixed", mixed, mixed_axes, 11,
         {"stem.conv": 12, "block.conv1": 10, "branch1.conv": 9, "branch2.conv": 14, "fc1": 20})]


def doubly_stochastic(name, k):
    """A doubly stochastic matrix by Sinkhorn's algorithm, from entries between e^-2 and e^2; float32 for the test."""
    p = np.exp(4 * unit(stream(4, name), k * k).astype(np.float64).reshape(k, k) - 2)
    for _ in range(1000):
        p /= p.sum(0)
        p /= p.sum(1, keepdims=True)
    return p.astype(np.float32)


def along(x, axis, segments, matrices):
    """x with each segment of an axis, which belongs to one group, multiplied by the group's matrix."""
    if segments == [None]:
        return x
    x, parts, at = x.movedim(axis, 0), [], 0
    for group, repeat in segments:
        m = matrices[group]
        part = x[at:at + len(m) * repeat]
        at += len(m) * repeat
        parts.append((m @ part.reshape(len(m), -1)).reshape(part.shape))
    assert at == len(x)
    return torch.cat(parts).movedim(0, axis)


class Point(Net):
    def __init__(self, axes, matrices, dtype):
        super().__init__(0, 1.0, dtype)
        self.axes, self.matrices = axes, matrices
        self.ends = [Net(seed, 1.0, dtype) for seed in SEEDS]

    def parameter(self, name, shape):
        a, b, c = (n.parameter(name, shape).detach() for n in self.ends)
        rows, cols = self.axes(name)
        b = along(b, 0, rows, self.matrices)
        if len(shape) > 1:
            b = along(b, 1, cols, self.matrices)
        w = [float(np.float32(w)) for w in (1 - T, T, 2 * T * (1 - T))]
        return w[0] * a + w[1] * b + w[2] * c


def run(build, axes, side, matrices, dtype):
    p = {k: torch.tensor(v, dtype=dtype, requires_grad=True) for k, v in matrices.items()}
    pixels = torch.tensor(images(stream(SEEDS[0], "images"), BATCH, side), dtype=dtype)
    loss_of(Point(axes, p, dtype), build, pixels, labels(stream(SEEDS[0], "labels"), BATCH, 10), 10).backward()
    return gradients(p)


def main():
    torch.set_num_threads(1)
    tensors = {}
    for net, build, axes, side, groups in NETS:
        matrices = {k: doubly_stochastic(net + "." + k, n) for k, n in groups.items()}
        for p in matrices.values():
            assert max(abs(p.sum(0) - 1).max(), abs(p.sum(1) - 1).max()) < 1e-6
        exact = run(build, axes, side, matrices, torch.float64)
        print(net, "float32's worst group: %.1e" % worst(run(build, axes, side, matrices, torch.float32), exact))
        for k in groups:
            tensors[f"{net}/matrix/{k}"] = matrices[k].ravel()
            tensors[f"{net}/gradient/{k}"] = exact[k].astype(np.float32)
    write(sys.argv[1], {"torch": torch.__version__, "batch": BATCH, "t": T}, tensors)


main()

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""REPAIR (Jordan et al. 2023) in PyTorch's float64, independently of mc-repair: all images are one batch, and each listed
channel is normalised and rescaled while the batch passes through the network. So every layer sees repaired inputs.

    tests/parity/repair.py DATA.mcz IMAGES REPAIRED.mcz NET.mcz WEIGHTS END.mcz...

Compares the logits of REPAIRED with those of this reference, and the parameters of the layers that REPAIR must not change.
Prints the largest difference of the logits, relative to the largest, and how much the repair changed them."""
import sys

import mcz
import numpy as np
import torch
from mcz.export.evaluate import EVALUATE
from mcz.graph import ACTIVATIONS

NONLINEAR = {*ACTIVATIONS, "mul"}
AFFINE = {"conv", "linear", "layernorm", "batchnorm"}


def listed(nodes):
    """Names of the nodes whose channels are repaired."""
    users = {n["name"]: [u for u in nodes if n["name"] in u["in"]] for n in nodes}

    def reaches(name):
        return any(u["op"] in NONLINEAR or u["op"] not in AFFINE and reaches(u["name"]) for u in users[name])

    logits = next(n for n in nodes if n["op"] == "loss" and not n["train_only"])["in"][0]
    return [n["name"] for n in nodes if n["op"] in AFFINE and n["name"] != logits and n.get("bias", True)
            and (n["op"] == "batchnorm" or reaches(n["name"]))], logits


def run(net, x, change):
    """The logits (N,K) of images x (N,C,H,W) in [0,1]. change(name, y) returns what replaces a listed node's output."""
    nodes, tensors = net.meta["graph"]["nodes"], {k: torch.tensor(v).double() for k, v in net.tensors.items()}
    names, logits = listed(nodes)
    first = nodes[0]
    mean, std = (torch.tensor(first[k]).double().view(-1, 1, 1) for k in ("mean", "std"))
    values = {first["name"]: (x - mean) / std}
    for n in nodes[1:]:
        y = EVALUATE[n["op"]](n, *(values[i] for i in n["in"]), lambda s, n=n: tensors["%s.%s" % (n["name"], s)])
        values[n["name"]] = change(n["name"], y) if n["name"] in names else y
    return values[logits].flatten(1)


def moments(y):
    """Means and deviations (C,1,1) of the channels."""
    variance, mean = torch.var_mean(y, (0, 2, 3), correction=0, keepdim=True)
    return mean, torch.where(variance > 1e-12 * mean ** 2, variance, 0.).sqrt()


data, images, repaired, net, weights, *ends = sys.argv[1:]
x = torch.tensor(mcz.read(data).tensors["images"][:int(images)]).double() / 255
repaired, net, ends = mcz.read(repaired), mcz.read(net), [mcz.read(e) for e in ends]
weights = torch.tensor(eval(weights)).double()
weights /= weights.sum()
target = {}


def add(weight):
    def change(name, y):
        target[name] = [t + weight * m for t, m in zip(target.get(name, [0, 0]), moments(y))]
        return y
    return change


def repair(name, y):
    mean, deviation = moments(y)
    scaled = (y - mean) / torch.where(deviation > 0, deviation, 1.) * target[name][1] + target[name][0]
    return torch.where(deviation > 0, scaled, y)


with torch.no_grad():
    for w, e in zip(weights, ends):
        run(e, x, add(w))
    expected, before, got = run(net, x, repair), run(net, x, lambda _, y: y), run(repaired, x, lambda _, y: y)
largest = expected.abs().max()
print("%s: %d layers; largest difference %.2g, changed by %.2g" % (
    net.meta["net"], len(target), (got - expected).abs().max() / largest, (before - expected).abs().max() / largest))
assert (got - expected).abs().max() <= 2e-5 * largest < (before - expected).abs().max()
for k, v in net.tensors.items():
    name, part = k.rsplit(".", 1)
    if name not in target or part.startswith("running"):
        assert np.array_equal(repaired.tensors[k], v), k

# SPDX-License-Identifier: Apache-2.0
"""Write a network and a data set without using mc: random_network.py SEED NET.mcz [DATA.mcz]

The network has what makes permuting hard: a skip, a concat, a flatten before a linear layer. Its weights,
biases and statistics are random, none of them 0 or 1."""
import sys

import mcz
import numpy as np

rng = np.random.default_rng(int(sys.argv[1]))
nodes, tensors, stats = [], {}, {}


def f32(shape, low, high):
    return rng.uniform(low, high, shape).astype(np.float32)


def node(op, name, inputs, **settings):
    nodes.append({"op": op, "name": name, "in": inputs, **settings})
    return name


def conv(name, source, c_in, c_out):
    node("conv", name, [source], out=c_out, kernel=[3, 3], stride=[1, 1], pad=[1, 1], groups=1, bias=True)
    bound = (3 / (9 * c_in)) ** .5
    tensors[name + ".weight"] = f32((c_out, c_in, 3, 3), -bound, bound)
    tensors[name + ".bias"] = f32((c_out,), -.5, .5)
    return name


def norm(name, source, c):
    node("batchnorm", name, [source], eps=1e-5, momentum=.1)
    tensors[name + ".weight"] = f32((c,), .5, 1.5)
    tensors[name + ".bias"] = f32((c,), -.5, .5)
    stats[name + ".running_mean"] = f32((c,), -.5, .5)
    stats[name + ".running_var"] = f32((c,), .5, 1.5)
    return name


def relu(name, source):
    return node("relu", name, [source])


def linear(name, source, c_in, c_out):
    node("linear", name, [source], out=c_out, bias=True)
    bound = (3 / c_in) ** .5
    tensors[name + ".weight"] = f32((c_out, c_in), -bound, bound)
    tensors[name + ".bias"] = f32((c_out,), -.5, .5)
    return name


node("normalise", "pixels", [], mean=[.5, .4, .3], std=[.2, .25, .3])
stem = relu("stem.relu", norm("stem.norm", conv("stem", "pixels", 3, 12), 12))
branch = norm("b.norm", conv("b", relu("a.relu", conv("a", stem, 12, 10)), 10, 12), 12)
block = relu("block", node("add", "sum", [stem, branch]))
side = relu("side.relu", conv("side", block, 12, 9))
both = node("concat", "both", [block, side])
pool = node("maxpool", "pool", [both], kernel=[2, 2], stride=[2, 2], pad=[0, 0], ceil=False)
flat = node("flatten", "flat", [pool])
hidden = relu("hidden.relu", linear("hidden", flat, 21 * 16, 20))
node("loss", "loss", [linear("head", hidden, 20, 5)], weight=1, train_only=False)
graph = {"net": "stranger", "input": [3, 8, 8], "classes": 5, "nodes": nodes}
mcz.write(sys.argv[2], "weights", {"net": "stranger", "dataset": "noise", "graph": graph}, {**tensors, **stats})

if len(sys.argv) > 3:
    meta = {"name": "noise", "split": "train", "order": "publisher", "classes": 5, "mean": [.5, .4, .3],
            "std": [.2, .25, .3], "augment": {"rotate": 0.0, "flip": False, "pad": 0}}
    images = rng.integers(0, 256, (300, 3, 8, 8), dtype=np.uint8)
    mcz.write(sys.argv[3], "dataset", meta,
              {"images": images, "labels": rng.integers(0, 5, 300).astype(np.int32)})

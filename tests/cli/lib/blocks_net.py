# SPDX-License-Identifier: Apache-2.0
"""Print a graph file with grouped bottlenecks of different widths: two of ResNeXt and two of RegNet (with gates). In one of
each, the following convolution has more, or fewer, channels per block."""
import json

nodes = [{"op": "normalise", "name": "pixels", "in": [], "mean": [.5] * 3, "std": [.25] * 3}]


def add(op, name, *inputs, **settings):
    nodes.append({"op": op, "name": name, "in": list(inputs), **settings})
    return name


def unit(name, x, out, k=1, stride=1, groups=1, op="relu"):
    x = add("conv", name, x, out=out, kernel=[k, k], stride=[stride] * 2, pad=[k // 2] * 2, groups=groups, bias=False)
    x = add("batchnorm", name + ".bn", x, eps=1e-5, momentum=.1)
    return add(op, name + ".relu", x) if op else x


def block(name, x, out, groups, into, within, stride=1, gate=False):
    op = "silu" if gate else "relu"
    y = unit(name + ".conv2", unit(name + ".conv1", x, into, op=op), within, 3, stride, groups, op)
    if gate:
        z = add("globalpool", name + ".pool", y)
        z = add("silu", name + ".fc1.silu", add("conv", name + ".fc1", z, out=6, kernel=[1, 1], stride=[1, 1], pad=[0, 0],
                                                groups=1, bias=True))
        z = add("conv", name + ".fc2", z, out=within, kernel=[1, 1], stride=[1, 1], pad=[0, 0], groups=1, bias=True)
        y = add("mul", name + ".se", y, add("sigmoid", name + ".gate", z))
    x = x if x in streams and stride == 1 else unit(name + ".down", x, out, 1, stride, op=None)
    streams.add(name)
    return add("relu", name, add("add", name + ".sum", unit(name + ".conv3", y, out, op=None), x))


streams = set()
x = unit("stem", "pixels", 10, 3)
x = block("layer1.0", x, 14, 4, 16, 16)
x = block("layer1.1", x, 14, 4, 16, 24)
x = block("layer2.0", x, 18, 3, 18, 18, 2, True)
x = block("layer2.1", x, 18, 3, 24, 15, 1, True)
add("linear", "fc", add("globalpool", "mean", x), out=10, bias=True)
add("loss", "loss", "fc", weight=1, train_only=False)
print(json.dumps({"net": "blocks", "input": [3, 16, 16], "classes": 10, "nodes": nodes}))

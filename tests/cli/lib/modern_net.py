# SPDX-License-Identifier: Apache-2.0
"""Print a graph file with one block of each architecture after resnet: an inverted residual with squeeze and
excitation, a ConvNeXt block, a grouped bottleneck, a zero-padded shortcut and a dense block, with every activation."""
import json

nodes = [{"op": "normalise", "name": "pixels", "in": [], "mean": [.5] * 3, "std": [.25] * 3}]
SETTINGS = {"leakyrelu": {"slope": .1}, "elu": {"alpha": .7}}


def add(op, name, *inputs, **settings):
    nodes.append({"op": op, "name": name, "in": list(inputs), **settings})
    return name


def conv(name, x, out, k=1, stride=1, groups=1):
    return add("conv", name, x, out=out, kernel=[k, k], stride=[stride] * 2, pad=[k // 2] * 2, groups=groups,
               bias=True)


def unit(name, x, out, k=1, stride=1, groups=1, op="relu"):
    x = add("batchnorm", name + ".bn", conv(name, x, out, k, stride, groups), eps=1e-5, momentum=.1)
    return add(op, name + ".act", x, **SETTINGS.get(op, {})) if op else x


def gate(name, x, hidden, out, op):
    y = add("silu", name + ".mid", conv(name + ".fc1", add("globalpool", name + ".pool", x), hidden))
    return add("mul", name, x, add(op, name + ".gate", conv(name + ".fc2", y, out)))


stem = unit("stem", "pixels", 12, 3, 2, op="hardswish")
x = unit("deep", unit("expand", stem, 24, op="relu6"), 24, 3, 1, 24, op="hardswish")
x = add("add", "residual", unit("project", gate("se", x, 8, 24, "hardsigmoid"), 12, op=""), stem)
y = add("layernorm", "ln", conv("dw", x, 12, 7, 1, 12), eps=1e-6)
y = add("scale", "gamma", conv("down", add("gelu", "up.act", conv("up", y, 32)), 12))
x = unit("a", add("add", "next", x, y), 16)
x = add("relu", "bottleneck", add("add", "sum", unit("c", unit("b", x, 16, 3, 1, 4), 16, op=""), x))
y = unit("wide.b", unit("wide.a", x, 32, 3, 2, op="leakyrelu"), 32, 3, op="")
x = add("avgpool", "half", x, kernel=[1, 1], stride=[2, 2], pad=[0, 0], ceil=False)
x = add("tanh", "wider", add("add", "wide", add("pad", "zeros", x, before=[8, 0, 0], after=[8, 0, 0]), y))
dense = [x]
for i, op in enumerate(("silu", "elu", "silu")):
    x = add("concat", f"dense{i}", *dense)
    dense.append(unit(f"grow{i}", x, 8, 3, op=op))
x = gate("last", add("concat", "all", *dense), 8, 56, "sigmoid")
add("linear", "fc", add("globalpool", "mean", x), out=10, bias=True)
add("loss", "loss", "fc", weight=1, train_only=False)
print(json.dumps({"net": "later", "input": [3, 16, 16], "classes": 10, "nodes": nodes}))

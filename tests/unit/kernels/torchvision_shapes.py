#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write torchvision_shapes.tsv, the shapes of test_convolution.c: one line per distinct convolution of five torchvision
networks at 32, 64 and 224 pixels.

    pip install torch torchvision
    tests/unit/kernels/torchvision_shapes.py >tests/unit/kernels/torchvision_shapes.tsv

Columns: the shape as mc_shape_text writes it; 1 if the convolution has a bias, else 0; 1 if it reads the pixels,
else 0; the networks, as NAME:SIZE, separated by commas."""
import torch
import torchvision
from torch import nn

NETWORKS = ("resnet18", "resnet50", "vgg16", "mobilenet_v2", "efficientnet_b0")
SIZES = (32, 64, 224)


def text(m, x, y):
    size = ["%dx%dx%d" % tuple(v.shape[1:]) for v in (x, y)]
    pairs = ["%s%dx%d" % (letter, *v) for letter, v in zip("ksp", (m.kernel_size, m.stride, m.padding))]
    return "%s-%s %s g%d" % (*size, " ".join(pairs), m.groups)


def shapes(name, size, found):
    net = getattr(torchvision.models, name)(weights=None).eval()
    first = []

    def record(m, inputs, y):
        key = text(m, inputs[0], y), int(m.bias is not None), int(not first)
        first.append(m)
        users = found.setdefault(key, [])
        if "%s:%d" % (name, size) not in users:
            users.append("%s:%d" % (name, size))

    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            assert m.dilation == (1, 1)
            m.register_forward_hook(record)
    with torch.no_grad():
        net(torch.zeros(1, 3, size, size))


def main():
    found = {}
    for name in NETWORKS:
        for size in SIZES:
            shapes(name, size, found)
    print("shape\tbias\tpixels\tnetworks")
    for (shape, bias, pixels), users in found.items():
        print(shape, bias, pixels, ",".join(users), sep="\t")


if __name__ == "__main__":
    main()

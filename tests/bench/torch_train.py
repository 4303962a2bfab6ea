# SPDX-License-Identifier: Apache-2.0
"""PyTorch's training step (zero_grad, forward, cross-entropy, backward, SGD with Nesterov momentum)
on one synthetic batch: prints the best images/s.  usage: torch_train.py nchw|cl BATCH THREADS SECS"""
import sys
import time

import torch
from torch import nn


def tinyten():
    layers = []
    for i, o, k, s, p in ((3, 16, 3, 1, 1), (16, 16, 3, 1, 1), (16, 32, 3, 2, 1), (32, 32, 3, 1, 1),
                          (32, 32, 3, 1, 1), (32, 64, 3, 2, 1), (64, 64, 3, 1, 0),
                          (64, 64, 1, 1, 0)):
        layers += [nn.Conv2d(i, o, k, s, p), nn.BatchNorm2d(o), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def main():
    layout, batch, threads, seconds = sys.argv[1], *map(int, sys.argv[2:4]), float(sys.argv[4])
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    memory = torch.channels_last if layout == "cl" else torch.contiguous_format
    net = tinyten().to(memory_format=memory).train()
    x = torch.randn(batch, 3, 32, 32).contiguous(memory_format=memory)
    y = torch.randint(0, 10, (batch,))
    sgd = torch.optim.SGD(net.parameters(), lr=.01, momentum=.9, nesterov=True, weight_decay=5e-4)
    best, begun, n = 1e9, time.perf_counter(), 0
    while n < 8 or time.perf_counter() - begun < seconds:
        t = time.perf_counter()
        sgd.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(net(x), y).backward()
        sgd.step()
        best = min(best, time.perf_counter() - t)
        n += 1
    print("%.0f" % (batch / best))


main()

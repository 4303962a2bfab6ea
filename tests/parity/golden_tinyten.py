# SPDX-License-Identifier: Apache-2.0
"""tinyten in PyTorch, for the scripts that make golden files. Its weights, images and labels come from splitmix64 by
formulas that the tests repeat bit for bit."""
import torch

import golden
from make_network_golden import Net, loss_of as loss_of_net, tinyten

BATCH = 16
IMAGES, LABELS = 999, 998


def parameters(seed):
    net = Net(0, 0, torch.float32)
    tinyten(net, torch.zeros(2, 3, 32, 32), 10)
    return {name: golden.weights(name, tuple(p.shape), seed * 1000 + t)
            for t, (name, p) in enumerate(net.params.items())}


def images(seed):
    return golden.images(seed * 1000 + IMAGES, BATCH, 32)


def labels(seed):
    return golden.labels(seed * 1000 + LABELS, BATCH, 10)


class Given(Net):
    """The logits with these parameters; norm(name, x) computes a batch norm."""

    def __init__(self, p, delta, norm):
        super().__init__(0, delta, None)
        self.given, self.norm = p, norm

    def parameter(self, name, shape):
        return self.given[name]

    def bn(self, name, x, eps=1e-5):
        return self.norm(name + ".", x)


def loss_of(p, pixels, labels, delta, norm):
    """The loss. delta: Huber's, or 0 for the plain ReLU."""
    return loss_of_net(Given(p, delta, norm), tinyten, pixels, labels, 10)

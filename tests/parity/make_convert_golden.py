#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Save a tiny PyTorch network and its logits, for tests/parity/test_convert.c.

    /usr/bin/python3 tests/parity/make_convert_golden.py tests/parity

convert_golden.safetensors is the module's state_dict, including num_batches_tracked. convert_golden.mcz has images
and their logits. convert_golden.json is the same network as a graph file, written by hand.
"""
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import torch_nets
from golden import write


class Golden(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.left, self.right = nn.Conv2d(8, 4, 1), nn.Conv2d(8, 4, 3, padding=1)
        self.fc = nn.Linear(128, 5)

    def forward(self, x):
        x = self.stem(x)
        x = F.relu(torch.cat([self.left(x), self.right(x)], 1) + x)
        return self.fc(F.max_pool2d(x, 2).flatten(1))


torch.manual_seed(1)
images = np.random.default_rng(1).integers(0, 256, (12, 3, 8, 8), dtype=np.uint8)
x = torch_nets.normalised(images, (.5, .4, .3), (.25, .3, .2))
net = torch_nets.lived_in(Golden(), x, 2)
torch_nets.save_safetensors(net, sys.argv[1] + "/convert_golden.safetensors")
write(sys.argv[1] + "/convert_golden.mcz", {}, {"images": images, "logits": torch_nets.logits(net, x)})

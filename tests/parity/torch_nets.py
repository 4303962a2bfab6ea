# SPDX-License-Identifier: Apache-2.0
"""The built-in networks as PyTorch modules with torchvision's tensor names, written from their papers' tables rather
than libcommon/nets/*.c, and their state_dicts as files."""
import json
import struct

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class TinyTen(nn.Module):
    class Unit(nn.Module):
        def __init__(self, i, o, k, s, p):
            super().__init__()
            self.conv, self.bn = nn.Conv2d(i, o, k, s, p), nn.BatchNorm2d(o)

        def forward(self, x):
            return F.relu(self.bn(self.conv(x)))

    def __init__(self, classes=10):
        super().__init__()
        self.layers = nn.Sequential(*(self.Unit(*u) for u in (
            (3, 16, 3, 1, 1), (16, 16, 3, 1, 1), (16, 32, 3, 2, 1), (32, 32, 3, 1, 1), (32, 32, 3, 1, 1),
            (32, 64, 3, 2, 1), (64, 64, 3, 1, 0), (64, 64, 1, 1, 0))))
        self.dense = nn.Linear(64, classes)

    def forward(self, x):
        return self.dense(self.layers(x).mean((2, 3)))


class ResNet(nn.Module):
    class Block(nn.Module):
        def __init__(self, i, o, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
            self.conv2, self.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
            self.downsample = None
            if stride != 1 or i != o:
                self.downsample = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y + (x if self.downsample is None else self.downsample(x)))

    def __init__(self, depth, classes=10):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        for stage, (i, o) in enumerate(((16, 16), (16, 32), (32, 64))):
            blocks = [self.Block(o if b else i, o, 2 if stage and not b else 1) for b in range((depth - 2) // 6)]
            setattr(self, "layer%d" % (stage + 1), nn.Sequential(*blocks))
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        return self.fc(self.layer3(self.layer2(self.layer1(x))).mean((2, 3)))


class GoogLeNet(nn.Module):
    class Unit(nn.Module):
        def __init__(self, i, o, k):
            super().__init__()
            self.conv = nn.Conv2d(i, o, k, 1, k // 2, bias=False)
            self.bn = nn.BatchNorm2d(o, eps=1e-3)

        def forward(self, x):
            return F.relu(self.bn(self.conv(x)))

    class Inception(nn.Module):
        def __init__(self, i, a, b0, b, c0, c, d):
            super().__init__()
            unit = GoogLeNet.Unit
            self.branch1 = unit(i, a, 1)
            self.branch2 = nn.Sequential(unit(i, b0, 1), unit(b0, b, 3))
            self.branch3 = nn.Sequential(unit(i, c0, 1), unit(c0, c, 3))
            self.branch4 = nn.Sequential(nn.MaxPool2d(3, 1, 1), unit(i, d, 1))

        def forward(self, x):
            return torch.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)

    class Aux(nn.Module):
        def __init__(self, i, classes):
            super().__init__()
            self.conv, self.fc1 = GoogLeNet.Unit(i, 128, 1), nn.Linear(2048, 1024)
            self.fc2 = nn.Linear(1024, classes)

        def forward(self, x):
            return self.fc2(F.relu(self.fc1(self.conv(F.adaptive_avg_pool2d(x, 4)).flatten(1))))

    TABLE = (("3a", 192, 64, 96, 128, 16, 32, 32), ("3b", 256, 128, 128, 192, 32, 96, 64),
             ("4a", 480, 192, 96, 208, 16, 48, 64), ("4b", 512, 160, 112, 224, 24, 64, 64),
             ("4c", 512, 128, 128, 256, 24, 64, 64), ("4d", 512, 112, 144, 288, 32, 64, 64),
             ("4e", 528, 256, 160, 320, 32, 128, 128), ("5a", 832, 256, 160, 320, 32, 128, 128),
             ("5b", 832, 384, 192, 384, 48, 128, 128))

    def __init__(self, classes=10):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = self.Unit(3, 64, 7), self.Unit(64, 64, 1), self.Unit(64, 192, 3)
        for name, *widths in self.TABLE:
            setattr(self, "inception" + name, self.Inception(*widths))
        self.aux1, self.aux2 = self.Aux(512, classes), self.Aux(528, classes)
        self.fc = nn.Linear(1024, classes)

    def forward(self, x):
        x = F.max_pool2d(self.conv3(self.conv2(self.conv1(x))), 3, 2, ceil_mode=True)
        for name, *_ in self.TABLE:
            x = getattr(self, "inception" + name)(x)
            if name == "3b":
                x = F.max_pool2d(x, 3, 2, ceil_mode=True)
            if self.training and name in ("4a", "4d"):  # for their running statistics
                (self.aux1 if name == "4a" else self.aux2)(x)
        return self.fc(x.mean((2, 3)))


def normalised(images, mean, std):
    """Images (N,C,H,W) uint8, normalised for a network."""
    x = torch.from_numpy(images.astype(np.float32) / np.float32(255))
    return (x - torch.tensor(mean).view(1, -1, 1, 1)) / torch.tensor(std).view(1, -1, 1, 1)


def lived_in(net, x, seed):
    """Changes every weight, bias and statistic from its initial value, so that a missing one is detected."""
    torch.manual_seed(seed)
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            nn.init.uniform_(m.weight, .8, 1.2)
            nn.init.uniform_(m.bias, -.2, .2)
    net.train()
    with torch.no_grad():
        for _ in range(8):
            net(x)
    return net.eval()


def logits(net, x):
    with torch.no_grad():
        return net.eval()(x).numpy()


def save_npz(net, path):
    np.savez(path, **{k: v.numpy() for k, v in net.state_dict().items()})


def save_safetensors(net, path):
    """Writes a file as safetensors.torch.save_file does: the widest dtype first, then by name."""
    state = {k: v.numpy() for k, v in net.state_dict().items()}
    header, data = {}, b""
    for name, v in sorted(state.items(), key=lambda kv: (-kv[1].itemsize, kv[0])):
        kind = {"float32": "F32", "int64": "I64"}[v.dtype.name]
        header[name] = {"dtype": kind, "shape": list(v.shape), "data_offsets": [len(data), len(data) + v.nbytes]}
        data += v.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def load(net, path):
    """Loads exactly the module's names, without num_batches_tracked."""
    net.load_state_dict({k: torch.from_numpy(v.copy()) for k, v in np.load(path).items()}, strict=True)
    return net

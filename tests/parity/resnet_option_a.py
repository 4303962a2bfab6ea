# SPDX-License-Identifier: Apache-2.0
"""ResNets for CIFAR with option A: shortcuts between stages keep every second pixel and add zero channels. Modules have the
names of the widespread PyTorch implementation."""
from torch import nn
from torch.nn import functional as F


class LambdaLayer(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Block(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.shortcut = nn.Sequential()
        if stride != 1 or channels != out:
            self.shortcut = LambdaLayer(
                lambda x: F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, out // 4, out // 4), "constant", 0))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    """depth: 6n + 2."""

    def __init__(self, depth=20, width=16, classes=10):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        for stage in range(3):
            out = width << stage
            blocks = [Block(out if i or not stage else out // 2, out, 2 if stage and not i else 1)
                      for i in range((depth - 2) // 6)]
            setattr(self, "layer%d" % (stage + 1), nn.Sequential(*blocks))
        self.linear = nn.Linear(width << 2, classes)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer3(self.layer2(self.layer1(out)))
        out = F.avg_pool2d(out, out.size()[3])
        return self.linear(out.view(out.size(0), -1))

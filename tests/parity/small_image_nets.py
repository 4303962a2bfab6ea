# SPDX-License-Identifier: Apache-2.0
"""Three public networks for images of 32 x 32, written in their authors' style: the nine-layer residual network of
DAWNBench's CIFAR-10 entries, SimpleNet (Hasanpour et al. 2016) and ResNet-18 with pre-activation (He et al. 2016).
tests/parity/torchvision_networks.py exports them."""
import torch
from torch import nn
from torch.nn import functional as F



class Residual(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return x + self.module(x)


def conv_bn(c_in, c_out, pool=False):
    block = [nn.Conv2d(c_in, c_out, 3, padding=1, bias=False), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True)]
    return nn.Sequential(*block, nn.MaxPool2d(2)) if pool else nn.Sequential(*block)


def resnet9(num_classes=10):
    def res(c):
        return Residual(nn.Sequential(conv_bn(c, c), conv_bn(c, c)))

    return nn.Sequential(
        conv_bn(3, 64), nn.Sequential(conv_bn(64, 128, pool=True), res(128)), conv_bn(128, 256, pool=True),
        nn.Sequential(conv_bn(256, 512, pool=True), res(512)), nn.AdaptiveMaxPool2d(1), nn.Flatten(),
        nn.Linear(512, num_classes, bias=False))


class SimpleNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        layers, c_in = [], 3
        for c in (64, 128, 128, 128, "M", 128, 128, 256, "M", 256, 256, "M", 512, "M", 2048, 256, "M", 256):
            if c == "M":
                layers += [nn.MaxPool2d(2, 2), nn.Dropout2d(.1)]
                continue
            kernel = 1 if c == 2048 or c_in == 2048 else 3
            layers += [nn.Conv2d(c_in, c, kernel, padding=kernel // 2), nn.BatchNorm2d(c, eps=1e-5, momentum=.05),
                       nn.ReLU(inplace=True)]
            c_in = c
        self.features, self.classifier = nn.Sequential(*layers), nn.Linear(256, num_classes)

    def forward(self, x):
        x = self.features(x)
        x = F.max_pool2d(x, kernel_size=x.size()[2:])
        return self.classifier(F.dropout(x, .1, training=self.training).view(x.size(0), -1))


class PreActBlock(nn.Module):
    def __init__(self, c_in, c, stride):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(c_in), nn.Conv2d(c_in, c, 3, stride, 1, bias=False)
        self.bn2, self.conv2 = nn.BatchNorm2d(c), nn.Conv2d(c, c, 3, 1, 1, bias=False)
        if stride != 1 or c_in != c:
            self.shortcut = nn.Sequential(nn.Conv2d(c_in, c, 1, stride, bias=False))

    def forward(self, x):
        out = F.relu(self.bn1(x))
        shortcut = self.shortcut(out) if hasattr(self, "shortcut") else x
        out = self.conv1(out)
        out = self.conv2(F.relu(self.bn2(out)))
        out += shortcut
        return out


class PreActResNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.conv1, c_in = nn.Conv2d(3, 64, 3, 1, 1, bias=False), 64
        for i, c in enumerate((64, 128, 256, 512)):
            blocks = [PreActBlock(c_in, c, 1 + (i > 0)), PreActBlock(c, c, 1)]
            setattr(self, "layer%d" % (i + 1), nn.Sequential(*blocks))
            c_in = c
        self.bn, self.linear = nn.BatchNorm2d(512), nn.Linear(512, num_classes)

    def forward(self, x):
        out = self.layer4(self.layer3(self.layer2(self.layer1(self.conv1(x)))))
        out = F.relu(self.bn(out))
        out = F.avg_pool2d(out, 4)
        return self.linear(torch.flatten(out, 1))


simplenet, preactresnet18 = SimpleNet, PreActResNet

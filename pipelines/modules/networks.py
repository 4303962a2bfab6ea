# SPDX-License-Identifier: Apache-2.0
"""Networks that graphs cannot express: a small vision transformer, and a ConvNeXt with GroupNorm. Both map images
(N,3,32,32) to logits (N,10). groups() returns their rows for mcz.groups, and the modules that show each group."""
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, width=64, depth=4, heads=4, patch=8):
        super().__init__()
        self.patch = nn.Conv2d(3, width, patch, patch)
        self.position = nn.Parameter(.02 * torch.randn(1, (32 // patch) ** 2, width))
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.position
        return self.head(self.norm(self.layers(x)).mean(1))

    def groups(self):
        width, heads = self.norm.weight.numel(), self.layers[0].attention.heads
        k = width // heads
        stream = ["patch.weight:0", "patch.bias:0", "position:2", "norm.weight:0", "norm.bias:0", "head.weight:1"]
        rows, at = [], {"stream": ["norm"]}
        for i in range(len(self.layers)):
            p = "layers.%d." % i
            stream += [p + name for name in (
                "norm1.weight:0", "norm1.bias:0", "norm2.weight:0", "norm2.bias:0", "attention.qkv.weight:1",
                "attention.out.weight:0", "attention.out.bias:0", "mlp.0.weight:1", "mlp.2.weight:0", "mlp.2.bias:0")]
            rows += [(p + name, axis, 0, 2 * width, 1, p + "mlp")
                     for name, axis in (("mlp.0.weight", 0), ("mlp.0.bias", 0), ("mlp.2.weight", 1))]
            # (tensor, axis, first index, group within a head): one group of queries and keys, another of values
            parts = [(p + "attention.qkv." + name, 0, j * width, "v" if j == 2 else "qk")
                     for name in ("weight", "bias") for j in range(3)] + [(p + "attention.out.weight", 1, 0, "v")]
            for name, axis, first, inner in parts:
                rows += [(name, axis, first, heads, k, p + "heads")]
                rows += [(name, axis, first + h * k, k, 1, "%shead%d.%s" % (p, h, inner)) for h in range(heads)]
            at["stream"] += [p + "norm1", p + "norm2"]
            at[p + "mlp"], qkv = p + "mlp.2:in", p + "attention.qkv"
            at[p + "head0.qk"] = ["%s[%d:%d]" % (qkv, j * width, (j + 1) * width) for j in range(2)]
            at[p + "head0.v"] = p + "attention.out:in"
        rows += [(name, int(axis), 0, width, 1, "stream") for name, axis in (s.split(":") for s in stream)]
        return rows, at


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.GroupNorm(4, width)
        self.mlp = nn.Sequential(nn.Conv2d(width, 4 * width, 1), nn.GELU(), nn.Conv2d(4 * width, width, 1))

    def forward(self, x):
        return x + self.mlp(self.norm(self.depthwise(x)))


class ConvNeXt(nn.Module):
    def __init__(self, widths=(32, 64), depth=2):
        super().__init__()
        layers, before = [nn.Conv2d(3, widths[0], 4, 4)], widths[0]
        for width in widths:
            if width != before:
                layers += [nn.GroupNorm(4, before), nn.Conv2d(before, width, 2, 2)]
            layers += [Block(width) for _ in range(depth)]
            before = width
        self.layers = nn.Sequential(*layers)
        self.norm, self.head = nn.GroupNorm(4, before), nn.Linear(before, 10)

    def forward(self, x):
        return self.head(self.norm(self.layers(x)).mean((2, 3)))

    def groups(self):
        """Per stage, a residual stream of 4 blocks of GroupNorm with the channels in each, and the hidden layers."""
        rows, at, stage = [], {}, 0
        for i, layer in enumerate([*self.layers, self.norm, self.head]):
            p = "layers.%d." % i if i < len(self.layers) else ["norm.", "head."][i - len(self.layers)]
            stream = []
            if isinstance(layer, nn.Conv2d):  # from one stage to the next
                stream = [("weight", 1)] * (stage > 0)
            elif isinstance(layer, Block):
                stream = [("depthwise.weight", 0), ("depthwise.bias", 0), ("norm.weight", 0), ("norm.bias", 0),
                          ("mlp.0.weight", 1), ("mlp.2.weight", 0), ("mlp.2.bias", 0)]
                rows += [(p + name, axis, 0, layer.mlp[0].out_channels, 1, p + "mlp")
                         for name, axis in (("mlp.0.weight", 0), ("mlp.0.bias", 0), ("mlp.2.weight", 1))]
                at[p + "mlp"] = p + "mlp.2:in"
                at.setdefault("stage%d.block0" % stage, []).append(p + "norm")
            else:
                stream = [("weight", 0), ("bias", 0)] if isinstance(layer, nn.GroupNorm) else [("weight", 1)]
            for first in (0, 1) if isinstance(layer, nn.Conv2d) else (0,):
                stage += first  # a convolution's outputs are the next stage's stream
                width = (stage and self.layers[0].out_channels << stage - 1) or 0
                k = width // 4
                for name, axis in ([("weight", 0), ("bias", 0)] if first else stream):
                    rows += [(p + name, axis, 0, 4, k, "stage%d" % stage)]
                    rows += [(p + name, axis, j * k, k, 1, "stage%d.block%d" % (stage, j)) for j in range(4)]
        return rows, at


NETWORKS = {"vit": ViT, "convnext": ConvNeXt}

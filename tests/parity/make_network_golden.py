#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compute gradients of larger networks and of their blocks with PyTorch, for tests/parity/test_networks.c and
test_torchvision_blocks.c.

    /usr/bin/python3 tests/parity/make_network_golden.py tests/parity/network_golden.mcz [CASE...]

With names of cases, it keeps the others of the file.

The blocks are a basic block with and without projection, an inception block, an auxiliary head, max pooling with
ceil, and zero-padded shortcuts with tanh, leaky ReLU and averages that count their padding. At a quarter width there
are blocks of torchvision's mobilenet_v2 and v3, efficientnet, convnext, resnext, regnet_y and densenet. The networks
are resnet20, googlenet with both heads, and googlenet with means instead of max pooling, which has no kinks with
Huber's activation. Dropout is off. Weights and images come from splitmix64 by a formula over a tensor's name, which
the tests repeat bit for bit.

A gradient is stored as a digest: its norm, and 64 sums of all elements with random signs. The mean square of such
sums of a difference d is |d|^2 (to 18% with 64 sums), so a digest tests every element. With Huber's delta = 1 each
tensor and the logits have a digest. With the plain ReLU the whole gradient has one, and the error of PyTorch's
float32 is stored too.

Huber's activation has no kinks, but max pooling has: if two pixels are nearly equal, rounding decides. ReLU6 and
similar functions also have kinks, and no value may be within 1e-5 of one. The first seed is used for which the error
of PyTorch's float32 is within a third of the bound.

The file also has the numbers of parameters, with and without those that exist only in training.
"""
import sys

import numpy as np
import torch
import torch.nn.functional as F

from golden import MEAN, STD, images, labels, read, splitmix, stream, weights, write

PROJECTIONS = 64


class Net:
    """A network that creates its parameters when it first runs, with shapes from the activations."""
    pool = staticmethod(F.max_pool2d)

    def __init__(self, seed, delta, dtype):
        self.seed, self.delta, self.dtype = seed, delta, dtype
        self.params, self.train_only = {}, set()
        self.near = 1.0  # minimum distance to a kink

    def parameter(self, name, shape):
        v = weights(name, shape, stream(self.seed, name))
        p = torch.tensor(v, dtype=self.dtype, requires_grad=True)
        assert name not in self.params
        self.params[name] = p
        return p

    def conv(self, name, x, out, k, stride=1, pad=None, bias=False, groups=1):
        w = self.parameter(name + ".weight", (out, x.shape[1] // groups, k, k))
        b = self.parameter(name + ".bias", (out,)) if bias else None
        return F.conv2d(x, w, b, stride, k // 2 if pad is None else pad, groups=groups)

    def bn(self, name, x, eps=1e-5):
        w, b = (self.parameter(name + s, (x.shape[1],)) for s in (".weight", ".bias"))
        return F.batch_norm(x, None, None, w, b, True, .1, eps)

    def relu(self, x):
        if not self.delta:
            return x.relu()
        y = x.clamp(min=0)
        return torch.where(y < self.delta, y * y / (2 * self.delta), y - self.delta / 2)

    def act(self, op, x):
        for kink in {"relu6": (0, 6), "hardswish": (-3, 3), "hardsigmoid": (-3, 3), "leaky_relu": (0,)}.get(op, ()):
            self.near = min(self.near, float((x - kink).detach().abs().min()))
        if op == "leaky_relu":
            return F.leaky_relu(x, .2)
        return self.relu(x) if op == "relu" else x.sigmoid() if op == "sigmoid" else getattr(F, op)(x)

    def layer_norm(self, name, x):
        w, b = (self.parameter(name + s, (x.shape[1],)) for s in (".weight", ".bias"))
        return F.layer_norm(x.permute(0, 2, 3, 1), (x.shape[1],), w, b, 1e-6).permute(0, 3, 1, 2)

    def linear(self, name, x, out):
        w, b = self.parameter(name + ".weight", (out, x.shape[1])), self.parameter(name + ".bias", (out,))
        return x @ w.t() + b

    # -- torchvision's later networks --
    def cba(self, name, x, out, k, op, stride=1, groups=1):
        x = self.bn(name + ".1", self.conv(name + ".0", x, out, k, stride, groups=groups))
        return self.act(op, x) if op else x

    def squeeze(self, name, x, hidden, op, gate):
        y = self.act(op, self.conv(name + ".fc1", x.mean((2, 3), keepdim=True), hidden, 1, bias=True))
        return x * self.act(gate, self.conv(name + ".fc2", y, x.shape[1], 1, bias=True))

    def inverted(self, name, x, wide, out, k, op, stride=1, squeeze=()):
        y = self.cba(name + ".deep", self.cba(name + ".expand", x, wide, 1, op), wide, k, op, stride, wide)
        y = self.cba(name + ".project", self.squeeze(name + ".se", y, *squeeze) if squeeze else y, out, 1, "")
        return y + x if y.shape == x.shape else y

    def bottleneck(self, name, x, out, groups, stride=1, squeeze=()):
        y = self.cba(name + ".b", self.cba(name + ".a", x, out, 1, "relu"), out, 3, "relu", stride, groups)
        y = self.cba(name + ".c", self.squeeze(name + ".se", y, *squeeze) if squeeze else y, out, 1, "")
        return self.act("relu", y + (x if y.shape == x.shape else self.cba(name + ".proj", x, out, 1, "", stride)))

    def convnext(self, name, x):
        y = self.layer_norm(name + ".norm", self.conv(name + ".dw", x, x.shape[1], 7, bias=True, groups=x.shape[1]))
        y = self.act("gelu", self.conv(name + ".up", y, 4 * x.shape[1], 1, bias=True))
        y = self.conv(name + ".down", y, x.shape[1], 1, bias=True)
        return x + y * self.parameter(name + ".layer_scale", (x.shape[1], 1, 1))

    # -- resnet --
    def block(self, name, x, out, stride=1):
        y = self.relu(self.bn(name + ".bn1", self.conv(name + ".conv1", x, out, 3, stride)))
        y = self.bn(name + ".bn2", self.conv(name + ".conv2", y, out, 3))
        if stride != 1 or x.shape[1] != out:
            x = self.bn(name + ".downsample.1", self.conv(name + ".downsample.0", x, out, 1, stride))
        return self.relu(y + x)

    # -- googlenet --
    def cbr(self, name, x, out, k=1):
        return self.relu(self.bn(name + ".bn", self.conv(name + ".conv", x, out, k), 1e-3))

    def inception(self, name, x, a, br, b, cr, c, d):
        return torch.cat((self.cbr(name + ".branch1", x, a),
                          self.cbr(name + ".branch2.1", self.cbr(name + ".branch2.0", x, br), b, 3),
                          self.cbr(name + ".branch3.1", self.cbr(name + ".branch3.0", x, cr), c, 3),
                          self.cbr(name + ".branch4.1", self.pool(x, 3, 1, 1), d)), 1)

    def aux(self, name, x, hidden, classes):
        before = set(self.params)
        x = self.cbr(name + ".conv", F.adaptive_avg_pool2d(x, 4), 128).flatten(1)
        x = self.linear(name + ".fc2", self.relu(self.linear(name + ".fc1", x, hidden)), classes)
        self.train_only |= set(self.params) - before
        return x


def ending(n, x, classes):
    return n.linear("fc", x.mean((2, 3)), classes)


def basic_block(n, x, classes):
    return [ending(n, n.block("block", n.cbr("stem", x, 16, 3), 16), classes)]


def projection_block(n, x, classes):
    return [ending(n, n.block("block", n.cbr("stem", x, 16, 3), 24, 2), classes)]


def inception_block(n, x, classes):
    return [ending(n, n.inception("block", n.cbr("stem", x, 24, 3), 16, 12, 20, 8, 16, 24), classes)]


def auxiliary_head(n, x, classes):
    x = n.cbr("stem", x, 24, 3)
    return [ending(n, x, classes), n.aux("aux", x, 40, classes)]


def max_pool_ceil(n, x, classes):
    x = F.max_pool2d(n.cbr("stem", x, 24, 3), 3, 2, ceil_mode=True)
    x = F.max_pool2d(n.cbr("middle", x, 16, 3), 3, 2, 1, ceil_mode=True)
    return [ending(n, F.max_pool2d(n.cbr("last", x, 32), 2, 2, ceil_mode=True), classes)]


def padded(n, x, classes):
    x = F.pad(n.conv("stem", x, 12, 3, bias=True).tanh(), (1, 2, 0, 1))
    x = F.avg_pool2d(x, 3, 1, 1)
    for name, out in ("a", 24), ("b", 48):
        y = n.act("leaky_relu", n.bn(name + ".bn1", n.conv(name + ".conv1", x, out, 3, 2)))
        y = n.bn(name + ".bn2", n.conv(name + ".conv2", y, out, 3))
        x = n.act("leaky_relu", y + F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, out // 4, out // 4)))
    return [ending(n, x, classes)]


def mobilenet_v2(n, x, classes):
    x = n.inverted("b", n.inverted("a", n.cba("stem", x, 8, 3, "relu6", 2), 24, 6, 3, "relu6"), 36, 6, 3, "relu6")
    return [ending(n, n.inverted("c", x, 36, 16, 3, "relu6", 2), classes)]


def mobilenet_v3(n, x, classes):
    x = n.inverted("a", n.cba("stem", x, 4, 3, "hardswish", 2), 16, 10, 5, "hardswish", 1, (8, "relu", "hardsigmoid"))
    x = n.inverted("b", x, 40, 10, 5, "hardswish", 1, (10, "relu", "hardsigmoid"))
    return [ending(n, n.cba("last", x, 30, 1, "hardswish"), classes)]


def efficientnet(n, x, classes):
    x = n.inverted("a", n.cba("stem", x, 8, 3, "silu", 2), 24, 6, 3, "silu", 1, (2, "silu", "sigmoid"))
    x = n.inverted("b", x, 36, 6, 3, "silu", 1, (2, "silu", "sigmoid"))
    return [ending(n, n.inverted("c", x, 36, 10, 5, "silu", 2, (2, "silu", "sigmoid")), classes)]


def convnext(n, x, classes):
    x = n.layer_norm("stem.1", n.conv("stem.0", x, 24, 4, 4, 0, bias=True))
    x = n.convnext("b", n.convnext("a", x))
    x = n.convnext("c", n.conv("down.1", n.layer_norm("down.0", x), 48, 2, 2, 0, bias=True))
    return [n.linear("fc", n.layer_norm("norm", x.mean((2, 3), keepdim=True)).flatten(1), classes)]


def resnext(n, x, classes):
    x = n.bottleneck("a", n.cba("stem", x, 16, 3, "relu"), 32, 8)
    return [ending(n, n.bottleneck("c", n.bottleneck("b", x, 32, 8), 64, 8, 2), classes)]


def regnet_y(n, x, classes):
    x = n.bottleneck("a", n.cba("stem", x, 8, 3, "relu", 2), 24, 3, 1, (2, "relu", "sigmoid"))
    return [ending(n, n.bottleneck("b", x, 52, 13, 2, (6, "relu", "sigmoid")), classes)]


def densenet(n, x, classes):
    x = [n.cba("stem", x, 16, 3, "relu")]
    for i in range(4):
        y = n.conv(f"l{i}.conv1", n.relu(n.bn(f"l{i}.norm1", torch.cat(x, 1))), 32, 1)
        x.append(n.conv(f"l{i}.conv2", n.relu(n.bn(f"l{i}.norm2", y)), 8, 3))
    y = n.conv("down.conv", n.relu(n.bn("down.norm", torch.cat(x, 1))), 24, 1)
    return [ending(n, n.relu(n.bn("norm", F.avg_pool2d(y, 2))), classes)]


def resnet(depth):
    def build(n, x, classes):
        x = n.relu(n.bn("bn1", n.conv("conv1", x, 16, 3)))
        for stage in range(3):
            for i in range((depth - 2) // 6):
                x = n.block(f"layer{stage + 1}.{i}", x, 16 << stage, 2 if stage and not i else 1)
        return [ending(n, x, classes)]
    return build


def googlenet(n, x, classes):
    x = n.cbr("conv3", n.cbr("conv2", n.cbr("conv1", x, 64, 7), 64), 192, 3)
    x = n.pool(x, 3, 2, ceil_mode=True)
    x = n.inception("inception3a", x, 64, 96, 128, 16, 32, 32)
    x = n.inception("inception3b", x, 128, 128, 192, 32, 96, 64)
    x = n.pool(x, 3, 2, ceil_mode=True)
    x = first = n.inception("inception4a", x, 192, 96, 208, 16, 48, 64)
    x = n.inception("inception4b", x, 160, 112, 224, 24, 64, 64)
    x = n.inception("inception4c", x, 128, 128, 256, 24, 64, 64)
    x = second = n.inception("inception4d", x, 112, 144, 288, 32, 64, 64)
    x = n.inception("inception4e", x, 256, 160, 320, 32, 128, 128)
    x = n.inception("inception5a", x, 256, 160, 320, 32, 128, 128)
    x = n.inception("inception5b", x, 384, 192, 384, 48, 128, 128)
    heads = [n.aux("aux1", first, 1024, classes), n.aux("aux2", second, 1024, classes)]
    return [ending(n, x, classes)] + heads


def googlenet_means(n, x, classes):
    n.pool = lambda x, *a, **kw: F.avg_pool2d(x, *a, **kw, count_include_pad=False)
    return googlenet(n, x, classes)


def tinyten(n, x, classes):
    for i, (out, k, s, p) in enumerate(((16, 3, 1, 1), (16, 3, 1, 1), (32, 3, 2, 1), (32, 3, 1, 1),
                                        (32, 3, 1, 1), (64, 3, 2, 1), (64, 3, 1, 0), (64, 1, 1, 0))):
        x = n.relu(n.bn(f"layers.{i}.bn", n.conv(f"layers.{i}.conv", x, out, k, s, p, True)))
    return [n.linear("dense", x.mean((2, 3)), classes)]


# name, builder, images, side, classes, number of seeds with the plain ReLU, bound with Huber's delta
CASES = [("basic_block", basic_block, 8, 13, 10, 5, 1e-4),
         ("projection_block", projection_block, 8, 13, 10, 5, 1e-4),
         ("inception_block", inception_block, 8, 11, 10, 5, 1e-4),
         ("auxiliary_head", auxiliary_head, 8, 9, 10, 5, 1e-4),
         ("max_pool_ceil", max_pool_ceil, 8, 18, 10, 5, 1e-4), ("padded", padded, 8, 13, 10, 5, 1e-4),
         ("mobilenet_v2", mobilenet_v2, 8, 10, 10, 5, 1e-4), ("mobilenet_v3", mobilenet_v3, 8, 10, 10, 5, 1e-4),
         ("efficientnet", efficientnet, 8, 12, 10, 5, 1e-4), ("convnext", convnext, 8, 24, 10, 5, 1e-4),
         ("resnext", resnext, 8, 12, 10, 5, 1e-4), ("regnet_y", regnet_y, 8, 12, 10, 5, 1e-4),
         ("densenet", densenet, 8, 12, 10, 5, 1e-4),
         ("resnet20", resnet(20), 16, 32, 10, 5, 1e-4), ("googlenet", googlenet, 2, 32, 100, 3, 1e-3),
         ("googlenet_means", googlenet_means, 2, 32, 100, 3, 2e-4)]
COUNTS = [("tinyten", tinyten, 10), ("tinyten", tinyten, 100), ("resnet20", resnet(20), 10),
          ("resnet32", resnet(32), 10), ("resnet32", resnet(32), 100), ("googlenet", googlenet, 10),
          ("googlenet", googlenet, 100), ("googlenet", googlenet, 200)]


def loss_of(n, build, pixels, classes_of, classes):
    """The cross-entropy of all heads that build makes on the net n."""
    mean, std = (torch.tensor(np.float32(v), dtype=pixels.dtype).view(1, 3, 1, 1) for v in (MEAN, STD))
    logits = build(n, (pixels - mean) / std, classes)
    n.logits = logits[0].detach().double().numpy().ravel()
    loss = [F.cross_entropy(y, torch.tensor(classes_of)) for y in logits]
    return loss[0] + .3 * sum(loss[1:])


def gradients(tensors):
    return {k: v.grad.double().numpy().ravel() for k, v in tensors.items()}


def run(build, seed, delta, dtype, n, side, classes):
    net = Net(seed, delta, dtype)
    pixels = torch.tensor(images(stream(seed, "images"), n, side), dtype=dtype, requires_grad=True)
    loss_of(net, build, pixels, labels(stream(seed, "labels"), n, classes), classes).backward()
    return gradients({**net.params, "pixels": pixels}), net


def projections(v, name):
    """64 sums of all elements, with signs from the bits of a hash of name and index."""
    z = splitmix(stream(0, "sign " + name), v.size)
    total = v.sum()
    return np.array([2 * v[(z >> np.uint64(k)) & np.uint64(1) == 1].sum() - total
                     for k in range(PROJECTIONS)])


def whole(grads):
    return {k: v for k, v in grads.items() if k != "pixels"}


def error(a, b):
    return float(np.sqrt(sum(((a[k] - b[k]) ** 2).sum() for k in b) / sum((b[k] ** 2).sum() for k in b)))


def worst(a, b):
    """True for a bias before a batch norm, which removes it: its gradient is 0."""
    norm = {k: np.linalg.norm(b[k]) for k in b}
    return max(float(np.linalg.norm(a[k] - b[k]) / (norm[k] if norm[k] > 1e-6 else 1)) for k in b)


def digest(parts, norm):
    return np.concatenate((parts, [norm])).astype(np.float32)


def count(build, classes):
    n = Net(1, 0, torch.float32)
    build(n, torch.zeros(2, 3, 32, 32), classes)
    sizes = {k: v.numel() for k, v in n.params.items()}
    return sum(sizes.values()), sum(v for k, v in sizes.items() if k not in n.train_only)


def main():
    path, chosen = sys.argv[1], set(sys.argv[2:]) or {case[0] for case in CASES}
    old = read(path) if len(sys.argv) > 2 else None
    tensors = {k: v for k, v in old.tensors.items() if k.partition("/")[0] not in chosen} if old else {}
    for name, build, classes in COUNTS:
        tensors[f"count/{name}:{classes}"] = np.array(count(build, classes), np.int64)
        print(name, classes, *tensors[f"count/{name}:{classes}"])
    for case, build, n, side, classes, seeds, bound in [c for c in CASES if c[0] in chosen]:
        shape = (n, side, classes)
        for seed in range(1, 21):
            exact, net = run(build, seed, 1.0, torch.float64, *shape)
            own = worst(run(build, seed, 1.0, torch.float32, *shape)[0], exact)
            print(case, "Huber, seed %d: float32's worst tensor %.1e, nearest kink %.1e" % (seed, own, net.near),
                  flush=True)
            if own <= bound / 3 and net.near > 1e-5:
                break
        else:
            sys.exit(f"{case}: no seed will do")
        tensors[f"{case}/logits"] = digest(projections(net.logits, "logits"), np.linalg.norm(net.logits))
        tensors[f"{case}/huber_seed"] = np.array([seed], np.int64)
        for k, v in exact.items():
            tensors[f"{case}/{k}"] = digest(projections(v, k), np.linalg.norm(v))
        own = []
        for seed in range(1, seeds + 1):
            exact = whole(run(build, seed, 0, torch.float64, *shape)[0])
            own.append(error(run(build, seed, 0, torch.float32, *shape)[0], exact))
            norm = np.sqrt(sum((v ** 2).sum() for v in exact.values()))
            tensors[f"{case}/relu{seed}"] = digest(sum(projections(v, k) for k, v in exact.items()), norm)
        tensors[f"{case}/own_error"] = np.array(own)
        print(case, "ReLU, float32:", *("%.1e" % e for e in own), flush=True)
    versions = dict.fromkeys(([old.meta["torch"]] if old else []) + [torch.__version__])
    write(path, {"torch": ", ".join(versions)}, tensors)


if __name__ == "__main__":
    main()

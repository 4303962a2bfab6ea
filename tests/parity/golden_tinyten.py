# SPDX-License-Identifier: Apache-2.0
"""A tinyten whose weights, images and labels come from splitmix64 by formulas that the tests repeat bit for
bit, and its loss by PyTorch: for the scripts that make golden files of it."""
import numpy as np
import torch

UNITS = [(3, 16, 3, 1, 1), (16, 16, 3, 1, 1), (16, 32, 3, 2, 1), (32, 32, 3, 1, 1),
         (32, 32, 3, 1, 1), (32, 64, 3, 2, 1), (64, 64, 3, 1, 0), (64, 64, 1, 1, 0)]
MEAN, STD = (.4914, .4822, .4465), (.247, .243, .261)
BATCH = 16
IMAGES, LABELS = 999, 998


def unit(stream, n):
    """n float32 in [0,1) with 24 bits; exact."""
    with np.errstate(over="ignore"):
        z = np.uint64(stream) * np.uint64(1 << 32) + np.arange(n, dtype=np.uint64)
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(40)).astype(np.float64) * 2.0 ** -24).astype(np.float32)


def layout():
    """Parameter tensors in flat order: name and shape."""
    for i, (a, b, k, _, _) in enumerate(UNITS):
        yield f"layers.{i}.conv.weight", (b, a, k, k)
        yield f"layers.{i}.conv.bias", (b,)
        yield f"layers.{i}.bn.weight", (b,)
        yield f"layers.{i}.bn.bias", (b,)
    yield "dense.weight", (10, 64)
    yield "dense.bias", (10,)


def parameters(seed):
    out = {}
    for t, (name, shape) in enumerate(layout()):
        u = unit(seed * 1000 + t, int(np.prod(shape)))
        two = np.float32(2)
        if len(shape) > 1:
            fan = int(np.prod(shape[1:])) + shape[0] * int(np.prod(shape[2:]))
            v = (two * u - 1) * np.float32(np.sqrt(6.0 / fan))
        elif name.endswith("bn.weight"):
            v = u + np.float32(.5)
        else:
            v = (two * u - 1) * np.float32(.25)
        out[name] = v.reshape(shape)
    return out


def images(seed):
    return unit(seed * 1000 + IMAGES, BATCH * 3072).reshape(BATCH, 3, 32, 32)


def labels(seed):
    return torch.tensor((unit(seed * 1000 + LABELS, BATCH) * np.float32(10)).astype(np.int64))


def loss_of(p, pixels, labels, delta, norm):
    """norm(name, x): the batch norm of that name; delta: Huber's, or 0 for the plain ReLU."""
    mean, std = (torch.tensor(np.float32(v), dtype=pixels.dtype).view(1, 3, 1, 1) for v in (MEAN, STD))
    x = (pixels - mean) / std
    for i, (_, _, _, stride, pad) in enumerate(UNITS):
        n = f"layers.{i}."
        x = torch.nn.functional.conv2d(x, p[n + "conv.weight"], p[n + "conv.bias"], stride, pad)
        x = norm(n + "bn.", x)
        if delta:
            y = x.clamp(min=0)
            x = torch.where(y < delta, y * y / (2 * delta), y - delta / 2)
        else:
            x = x.relu()
    x = x.mean((2, 3)) @ p["dense.weight"].t() + p["dense.bias"]
    return torch.nn.functional.cross_entropy(x, labels)

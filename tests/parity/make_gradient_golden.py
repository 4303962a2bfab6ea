#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gradients of a whole tinyten by PyTorch, for tests/parity/test_gradients.c.

    /usr/bin/python3 tests/parity/make_gradient_golden.py tests/parity/gradient_golden.mcz

Weights and images come from splitmix64 by a formula that the test repeats bit for bit. Written are
strided samples of float64 gradients (stored as float32): with Huber's delta = 1 one network and
three points of a quadratic Bezier curve; with the plain ReLU five networks, and beside each the
error that PyTorch's own float32 makes. And the running statistics after one batch.
"""
import os
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../formats"))
import mcz  # noqa: E402

UNITS = [(3, 16, 3, 1, 1), (16, 16, 3, 1, 1), (16, 32, 3, 2, 1), (32, 32, 3, 1, 1),
         (32, 32, 3, 1, 1), (32, 64, 3, 2, 1), (64, 64, 3, 1, 0), (64, 64, 1, 1, 0)]
MEAN, STD = (.4914, .4822, .4465), (.247, .243, .261)
BATCH, SAMPLES = 16, 400
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
    """Parameter tensors in flat order: name, shape, and how u becomes a value."""
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


def run(params, seed, delta, dtype):
    """Gradients of the parameters and the pixels, and the running statistics, as float64 arrays."""
    p = {k: torch.tensor(v, dtype=dtype, requires_grad=True) for k, v in params.items()}
    pixels = torch.tensor(unit(seed * 1000 + IMAGES, BATCH * 3072).reshape(BATCH, 3, 32, 32),
                          dtype=dtype, requires_grad=True)
    labels = torch.tensor((unit(seed * 1000 + LABELS, BATCH) * np.float32(10)).astype(np.int64))
    mean = torch.tensor(np.float32(MEAN), dtype=dtype).view(1, 3, 1, 1)
    std = torch.tensor(np.float32(STD), dtype=dtype).view(1, 3, 1, 1)
    stats = {}
    x = (pixels - mean) / std
    for i, (_, b, _, stride, pad) in enumerate(UNITS):
        n = f"layers.{i}."
        x = torch.nn.functional.conv2d(x, p[n + "conv.weight"], p[n + "conv.bias"], stride, pad)
        rm, rv = torch.zeros(b, dtype=dtype), torch.ones(b, dtype=dtype)
        x = torch.nn.functional.batch_norm(x, rm, rv, p[n + "bn.weight"], p[n + "bn.bias"], True,
                                           .1, 1e-5)
        stats[n + "bn.running_mean"], stats[n + "bn.running_var"] = rm, rv
        if delta:
            y = x.clamp(min=0)
            x = torch.where(y < delta, y * y / (2 * delta), y - delta / 2)
        else:
            x = x.relu()
    x = x.mean((2, 3)) @ p["dense.weight"].t() + p["dense.bias"]
    torch.nn.functional.cross_entropy(x, labels).backward()
    grads = {k: v.grad.double().numpy().ravel() for k, v in p.items()}
    grads["pixels"] = pixels.grad.double().numpy().ravel()
    return grads, {k: v.double().numpy() for k, v in stats.items()}


def sample(v):
    """Every so many values; coprime to 6, or a 3x3 kernel's samples would all lie in one column."""
    stride = (v.size + SAMPLES - 1) // SAMPLES
    while stride % 2 == 0 or stride % 3 == 0:
        stride += 1
    return v[::stride]


def error(a, b):
    """Relative error over all parameters, each tensor's samples standing for the whole tensor."""
    top = bottom = 0.0
    for k in b:
        if k != "pixels":
            d, r = sample(a[k]) - sample(b[k]), sample(b[k])
            top += b[k].size / r.size * float(d @ d)
            bottom += b[k].size / r.size * float(r @ r)
    return float(np.sqrt(top / bottom))


def main():
    torch.set_num_threads(1)
    tensors, own = {}, []

    def keep(case, values, cut=sample):
        for k, v in values.items():
            tensors[case + "/" + k] = np.ascontiguousarray(cut(v), np.float32)

    grads, stats = run(parameters(1), 1, 1.0, torch.float64)
    keep("huber", grads)
    keep("statistics", stats, lambda v: v)
    a, b, c = parameters(1), parameters(2), parameters(3)
    for t in (.25, .5, .8):
        w = [np.float32((1 - t) ** 2), np.float32(2 * t * (1 - t)), np.float32(t * t)]
        # the point as float32 arithmetic in any order gives it, to rounding
        point = {k: w[0].astype(np.float64) * a[k] + w[1].astype(np.float64) * c[k] +
                 w[2].astype(np.float64) * b[k] for k in a}
        grads, _ = run(point, 1, 1.0, torch.float64)
        keep(f"curve{t}", {k: v * float(w[1]) for k, v in grads.items() if k != "pixels"})
    for seed in (1, 2, 3, 4, 5):
        g64, _ = run(parameters(seed), seed, 0, torch.float64)
        g32, _ = run(parameters(seed), seed, 0, torch.float32)
        own.append(error(g32, g64))
        keep(f"relu{seed}", {k: v for k, v in g64.items() if k != "pixels"})
    tensors["own_error"] = np.array(own)
    mcz.write(sys.argv[1], "golden", {"torch": torch.__version__, "batch": BATCH}, tensors)
    print("PyTorch's own float32 errors with the ReLU:", *("%.2e" % e for e in own))


main()

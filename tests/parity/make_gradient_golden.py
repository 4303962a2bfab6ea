#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compute gradients of tinyten with PyTorch, for tests/parity/test_gradients.c.

    /usr/bin/python3 tests/parity/make_gradient_golden.py tests/parity/gradient_golden.mcz

Weights and images come from splitmix64 by a formula that the test repeats bit for bit. The file has strided
samples of float64 gradients, stored as float32: for one network and three points of a quadratic Bezier curve
with Huber's delta = 1, and for five networks with the plain ReLU, each with the error of PyTorch's float32.
It also has the running statistics after one batch.
"""
import sys

import numpy as np
import torch

from golden import write
from golden_tinyten import BATCH, images, labels, loss_of, parameters
from make_network_golden import gradients

SAMPLES = 400


def run(params, seed, delta, dtype):
    """The gradients of the parameters and the pixels, and the running statistics, as float64 arrays."""
    p = {k: torch.tensor(v, dtype=dtype, requires_grad=True) for k, v in params.items()}
    pixels = torch.tensor(images(seed), dtype=dtype, requires_grad=True)
    stats = {}

    def norm(n, x):
        rm, rv = torch.zeros(x.shape[1], dtype=dtype), torch.ones(x.shape[1], dtype=dtype)
        stats[n + "running_mean"], stats[n + "running_var"] = rm, rv
        return torch.nn.functional.batch_norm(x, rm, rv, p[n + "weight"], p[n + "bias"], True, .1, 1e-5)

    loss_of(p, pixels, labels(seed), delta, norm).backward()
    return gradients({**p, "pixels": pixels}), {k: v.double().numpy() for k, v in stats.items()}


def sample(v):
    """The distance between samples: coprime to 6, so that a 3x3 kernel's samples are in all columns."""
    stride = (v.size + SAMPLES - 1) // SAMPLES
    while stride % 2 == 0 or stride % 3 == 0:
        stride += 1
    return v[::stride]


def error(a, b):
    """The relative error over all parameters, estimated from each tensor's samples."""
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
        # the point, computed in float32 (any order of operations agrees up to rounding)
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
    write(sys.argv[1], {"torch": torch.__version__, "batch": BATCH}, tensors)
    print("PyTorch's own float32 errors with the ReLU:", *("%.2e" % e for e in own))


main()

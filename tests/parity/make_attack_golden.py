#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks on a whole tinyten by PyTorch, for tests/parity/test_attack.c.

    /usr/bin/python3 tests/parity/make_attack_golden.py tests/parity/attack_golden.mcz

Weights, images and starts come from splitmix64 by formulas that the test repeats, as in
make_gradient_golden.py. Written are, in both norms, from the image and from another start, in
evaluation mode with statistics that are given here and with those of the batch: strided samples of
the images after one step, and the mean losses at the start, after one step and after ten. Huber's
delta is 1 where "huber" stands, in float64, so that no kink flips with the rounding; plain ReLUs in
float32 where "relu" stands, losses only.
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
BATCH, SEED, STRIDE, STEPS = 16, 1, 13, 10
STARTS, LABELS, IMAGES, STATISTICS = 997, 998, 999, 500
BALLS = {"linf": (8 / 255, 2 / 255), "l2": (.5, .125)}


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
    for i, (a, b, k, _, _) in enumerate(UNITS):
        yield f"layers.{i}.conv.weight", (b, a, k, k)
        yield f"layers.{i}.conv.bias", (b,)
        yield f"layers.{i}.bn.weight", (b,)
        yield f"layers.{i}.bn.bias", (b,)
    yield "dense.weight", (10, 64)
    yield "dense.bias", (10,)


def parameters(dtype):
    out, two = {}, np.float32(2)
    for t, (name, shape) in enumerate(layout()):
        u = unit(SEED * 1000 + t, int(np.prod(shape)))
        if len(shape) > 1:
            fan = int(np.prod(shape[1:])) + shape[0] * int(np.prod(shape[2:]))
            v = (two * u - 1) * np.float32(np.sqrt(6.0 / fan))
        elif name.endswith("bn.weight"):
            v = u + np.float32(.5)
        else:
            v = (two * u - 1) * np.float32(.25)
        out[name] = torch.tensor(v.reshape(shape), dtype=dtype)
    return out


def loss_of(p, pixels, labels, delta, batch, seen=None):
    """With `seen`, each batch norm's mean and variance of its input go there."""
    x = (pixels - p["mean"]) / p["std"]
    for i, (_, _, _, stride, pad) in enumerate(UNITS):
        n = f"layers.{i}."
        x = torch.nn.functional.conv2d(x, p[n + "conv.weight"], p[n + "conv.bias"], stride, pad)
        if seen is not None:
            seen[n + "bn.running_mean"] = x.mean((0, 2, 3))
            seen[n + "bn.running_var"] = x.var((0, 2, 3), unbiased=False)
        mean, var = (None, None) if batch else (p[n + "bn.running_mean"], p[n + "bn.running_var"])
        x = torch.nn.functional.batch_norm(x, mean, var, p[n + "bn.weight"], p[n + "bn.bias"],
                                           batch, 0, 1e-5)
        if delta:
            y = x.clamp(min=0)
            x = torch.where(y < delta, y * y / (2 * delta), y - delta / 2)
        else:
            x = x.relu()
    x = x.mean((2, 3)) @ p["dense.weight"].t() + p["dense.bias"]
    return torch.nn.functional.cross_entropy(x, labels)


def length(x):
    return x.double().flatten(1).norm(dim=1).to(x.dtype).view(-1, 1, 1, 1)


def attack(p, clean, x, labels, norm, delta, batch):
    """x after one step and after ten; losses before, after one and after ten."""
    eps, step = BALLS[norm]
    one, losses = None, []
    for s in range(STEPS):
        x = x.detach().requires_grad_(True)
        loss = loss_of(p, x, labels, delta, batch)
        grad, = torch.autograd.grad(loss, x)
        losses.append(float(loss))
        with torch.no_grad():
            if norm == "linf":
                x = (x + step * grad.sign()).clamp(clean - eps, clean + eps)
            else:
                d = x + step * grad / length(grad) - clean
                x = clean + d * torch.clamp(eps / length(d), max=1)
            x = x.clamp(0, 1)
        one = x.clone() if s == 0 else one
    losses.append(float(loss_of(p, x, labels, delta, batch)))
    return one, [losses[0], losses[1], losses[-1]]


def main():
    torch.set_num_threads(1)
    tensors, given = {}, {}
    labels = torch.tensor((unit(SEED * 1000 + LABELS, BATCH) * np.float32(10)).astype(np.int64))
    images = unit(SEED * 1000 + IMAGES, BATCH * 3072).reshape(BATCH, 3, 32, 32)
    away = np.float32(2) * unit(SEED * 1000 + STARTS, BATCH * 3072).reshape(images.shape) - 1
    for kind, delta, dtype in ("huber", 1.0, torch.float64), ("relu", 0.0, torch.float32):
        p = parameters(dtype)
        p["mean"] = torch.tensor(np.float32(MEAN), dtype=dtype).view(1, 3, 1, 1)
        p["std"] = torch.tensor(np.float32(STD), dtype=dtype).view(1, 3, 1, 1)
        clean = torch.tensor(images, dtype=dtype)
        if delta:  # float32 numbers about the batch's own, or nothing would reach the last layer
            loss_of(p, clean, labels, delta, True, seen := {})
            for t, (name, v) in enumerate(seen.items()):
                u = torch.tensor(unit(SEED * 1000 + STATISTICS + t, len(v)))
                given[name] = (v.float() * (.8 + .4 * u)).numpy()
                tensors["given/" + name] = given[name]
        p.update({k: torch.tensor(v, dtype=dtype) for k, v in given.items()})
        for norm, reach in ("linf", 8 / 255), ("l2", 1 / 128):
            # of the l2 ball: 3,072 pixels of up to 1/128 are .25 away
            start = np.clip(images + np.float32(reach) * away, 0, 1).astype(np.float32)
            for begin, x in ("clean", clean), ("random", torch.tensor(start, dtype=dtype)):
                for batch in False, True:
                    case = f"{kind}/{norm}/{begin}/{'batch' if batch else 'given'}"
                    one, losses = attack(p, clean, x, labels, norm, delta, batch)
                    tensors[case + "/losses"] = np.array(losses)
                    if kind == "huber":
                        tensors[case + "/x"] = one.numpy().ravel()[::STRIDE].astype(np.float32)
                    print(case, *("%.4f" % v for v in losses))
    mcz.write(sys.argv[1], "golden", {"torch": torch.__version__, "batch": BATCH}, tensors)


main()

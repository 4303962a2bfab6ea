#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attack tinyten with PyTorch, for tests/parity/test_attack.c.

    /usr/bin/python3 tests/parity/make_attack_golden.py tests/parity/attack_golden.mcz

Weights, images and starts come from splitmix64 by formulas that the test repeats, as in
make_gradient_golden.py. There is a case for each norm, for a start at the image and elsewhere, and for
fixed statistics and the batch's. The file has strided samples of the images after one step, and the mean
losses at the start, after one step and after ten. "huber" cases use Huber's delta = 1 in float64, so that
rounding flips no kink. "relu" cases use plain ReLUs in float32, and have losses only.
"""
import sys

import numpy as np
import torch

from golden import unit, write
from golden_tinyten import BATCH, images, labels, loss_of, parameters

SEED, STRIDE, STEPS = 1, 13, 10
STARTS, STATISTICS = 997, 500
BALLS = {"linf": (8 / 255, 2 / 255), "l2": (.5, .125)}


def attacked_loss(p, pixels, classes, delta, batch, seen=None):
    """The loss with the batch's statistics, or those in p. If `seen` is a dictionary, it receives the mean and
    the variance of each batch norm's input."""
    def norm(n, x):
        if seen is not None:
            seen[n + "running_mean"] = x.mean((0, 2, 3))
            seen[n + "running_var"] = x.var((0, 2, 3), unbiased=False)
        mean, var = (None, None) if batch else (p[n + "running_mean"], p[n + "running_var"])
        return torch.nn.functional.batch_norm(x, mean, var, p[n + "weight"], p[n + "bias"], batch, 0, 1e-5)

    return loss_of(p, pixels, classes, delta, norm)


def length(x):
    return x.double().flatten(1).norm(dim=1).to(x.dtype).view(-1, 1, 1, 1)


def attack(p, clean, x, classes, norm, delta, batch):
    """x after one step and after ten, and the losses before, after one and after ten."""
    eps, step = BALLS[norm]
    one, losses = None, []
    for s in range(STEPS):
        x = x.detach().requires_grad_(True)
        loss = attacked_loss(p, x, classes, delta, batch)
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
    losses.append(float(attacked_loss(p, x, classes, delta, batch)))
    return one, [losses[0], losses[1], losses[-1]]


def main():
    torch.set_num_threads(1)
    tensors, given = {}, {}
    classes, pixels = labels(SEED), images(SEED)
    away = np.float32(2) * unit(SEED * 1000 + STARTS, BATCH * 3072).reshape(pixels.shape) - 1
    for kind, delta, dtype in ("huber", 1.0, torch.float64), ("relu", 0.0, torch.float32):
        p = {k: torch.tensor(v, dtype=dtype) for k, v in parameters(SEED).items()}
        clean = torch.tensor(pixels, dtype=dtype)
        if delta:  # float32 numbers near the batch's statistics; otherwise the last layer would see zeros
            attacked_loss(p, clean, classes, delta, True, seen := {})
            for t, (name, v) in enumerate(seen.items()):
                u = torch.tensor(unit(SEED * 1000 + STATISTICS + t, len(v)))
                given[name] = (v.float() * (.8 + .4 * u)).numpy()
                tensors["given/" + name] = given[name]
        p.update({k: torch.tensor(v, dtype=dtype) for k, v in given.items()})
        for norm, reach in ("linf", 8 / 255), ("l2", 1 / 128):
            # within the l2 ball: 3,072 pixels that differ by up to 1/128 are .25 away
            start = np.clip(pixels + np.float32(reach) * away, 0, 1).astype(np.float32)
            for begin, x in ("clean", clean), ("random", torch.tensor(start, dtype=dtype)):
                for batch in False, True:
                    case = f"{kind}/{norm}/{begin}/{'batch' if batch else 'given'}"
                    one, losses = attack(p, clean, x, classes, norm, delta, batch)
                    tensors[case + "/losses"] = np.array(losses)
                    if kind == "huber":
                        tensors[case + "/x"] = one.numpy().ravel()[::STRIDE].astype(np.float32)
                    print(case, *("%.4f" % v for v in losses))
    write(sys.argv[1], {"torch": torch.__version__, "batch": BATCH}, tensors)


main()

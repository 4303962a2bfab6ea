# SPDX-License-Identifier: Apache-2.0
"""bootstrap.py U.losses A.losses SAME.tsv OTHER.tsv: compare mc-bootstrap's tables with NumPy

SAME.tsv (seed 7, 500 resamples, level .9) is computed from the same random numbers. OTHER.tsv (4000 resamples, level .95)
is compared with a bootstrap by NumPy's generator."""
import sys

import mcz
import numpy as np
from philox import philox

BOOTSTRAP = 15


def drawn(seed, r, n):
    bits = philox(seed, BOOTSTRAP, r, np.arange((n + 3) // 4), 0).T.reshape(-1)[:n]
    return (bits * np.uint64(n) >> np.uint64(32)).astype(int)


def far(value, t, accuracy):
    line = (1 - t) * value[0] + t * value[-1]
    return line - value if accuracy else value - line


def places(value, t, accuracy):
    return value.argmin(), value.argmax(), far(value, t, accuracy).argmax()


def figures(value, t, chord, accuracy, at):
    """[ends, mean, arc_mean, min, max, barrier] of values (T); the last three at the points `at`."""
    arc = (chord * (value[1:] + value[:-1]) / 2).sum() / chord.sum()
    return np.array([(value[0] + value[-1]) / 2, value.mean(), arc, value[at[0]], value[at[1]], far(value, t, accuracy)[at[2]]])


paths = [mcz.read(p) for p in sys.argv[1:3]]


def intervals(name, accuracy, picks, level):
    """An array (3, 6, 3): first, second, difference; the figures; value, low, high."""
    samples = []
    for s in paths:
        v = 100. * s.tensors[name + "/correct"] if accuracy else s.tensors[name + "/loss"].astype(float)
        t, chord = s.tensors["t"], s.tensors["chord"]
        at = places(v.mean(1), t, accuracy)
        samples.append([figures(v[:, p].mean(1), t, chord, accuracy, at) for p in [slice(None)] + picks])
    x = np.array(samples + [np.subtract(samples[1], samples[0])])
    low, high = (np.percentile(x[:, 1:], 50 * (1 + side * level), axis=1) for side in (-1, 1))
    return np.stack([x[:, 0], low, high], axis=2)


def table(path):
    rows = [line.rstrip("\n").split("\t") for line in open(path)]
    return {tuple(r[:3]): np.array(r[3:], float).reshape(3, 3) for r in rows[1:]}


ours, other = table(sys.argv[3]), table(sys.argv[4])
names = "ends mean arc_mean min max barrier".split()
worst, astray = 0, 0
generator = np.random.default_rng(1)
for d in paths[0].meta["data"]:
    same = [drawn(7, r, d["images"]) for r in range(500)]
    free = [generator.integers(0, d["images"], d["images"]) for _ in range(4000)]
    for accuracy in (0, 1):
        want, near = (intervals(d["name"], accuracy, p, level) for p, level in ((same, .9), (free, .95)))
        for f, name in enumerate(names):
            key = d["name"], "accuracy" if accuracy else "loss", name
            scale = np.abs(want[:2, f]).max()
            worst = max(worst, np.abs(ours.pop(key) - want[:, f]).max() / scale)
            got = other.pop(key)
            width = near[:, f, 2] - near[:, f, 1]
            astray = max(astray, np.abs(got - near[:, f])[:, 1:].max() / width.max())
            assert np.abs(got - near[:, f])[:, 0].max() <= 1e-5 * scale
assert not ours and not other, (ours, other)
print("rows: %d" % (2 * 2 * len(names)))
print("largest difference by the same draws: %.2g of the figure" % worst)
print("largest difference by other draws: %.2g of an interval's width" % astray)
assert worst < 2e-5 and astray < .12

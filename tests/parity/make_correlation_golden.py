#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""NumPy's correlations and mean squared distances, in float64, of the activations that
tests/parity/test_correlation.c makes too.

    tests/parity/make_correlation_golden.py > tests/parity/correlation_golden.tsv

Activations are multiples of 1/128 from splitmix64, cut at 0 as by a ReLU, so that both sides have the
same bits. Group p is seen at two taps, group q at one; some units never fire, one is constant."""
import sys

import numpy as np

IMAGES = 60
TAPS = [("p", 16, 64, 0), ("p", 16, 1, 30), ("q", 33, 25, 1000)]  # group, K, pixels, added to each


def draw(seed, n):
    k = np.arange(1, n + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + k * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11))


def activations(tap, K, pixels, add):
    """Two arrays (images, K, pixels): b's unit j follows a's unit K-1-j."""
    shape = (IMAGES, K, pixels)
    n = IMAGES * K * pixels
    x = (draw(2 * tap, n) % np.uint64(2001)).astype(np.int64).reshape(shape) - 900
    e = (draw(2 * tap + 1, n) % np.uint64(3001)).astype(np.int64).reshape(shape) - 1500
    y = x[:, ::-1] + e
    x = np.maximum(x, 0) + add
    y = np.maximum(y, 0) + add
    x[:, 3] = 0
    y[:, 5] = 777
    return x.astype(np.float32) / np.float32(128), y.astype(np.float32) / np.float32(128)


def correlations(x, y):
    K = x.shape[1]
    rows = [v.astype(np.float64).transpose(1, 0, 2).reshape(K, -1) for v in (x, y)]
    with np.errstate(invalid="ignore"):
        c = np.corrcoef(*rows)[:K, K:]
    return np.where(np.isfinite(c), c, 0)


def distances(x, y):
    K = x.shape[1]
    x, y = (v.astype(np.float64).transpose(1, 0, 2).reshape(K, -1) for v in (x, y))
    return np.array([((x[i] - y) ** 2).mean(axis=1) for i in range(K)])


def main():
    groups = {}
    for i, (group, K, pixels, add) in enumerate(TAPS):
        x, y = activations(i, K, pixels, add)
        groups.setdefault(group, []).append((correlations(x, y), distances(x, y)))
    out = sys.stdout
    out.write("group\trow\tcolumn\tcorrelation\tsquared_distance\n")
    for group, each in groups.items():
        correlation, distance = (sum(v) / len(v) for v in zip(*each))
        for (i, j), v in np.ndenumerate(correlation):
            out.write("%s\t%d\t%d\t%r\t%r\n" % (group, i, j, float(v), float(distance[i, j])))


main()

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compute correlations and mean squared distances with NumPy in float64, for the activations in
tests/parity/test_correlation.c.

    tests/parity/make_correlation_golden.py > tests/parity/correlation_golden.tsv

Activations are multiples of 1/128 from splitmix64, clipped at 0 as by a ReLU, so that both programs have the
same bits. Group p has two taps, and group q one. Some units are always 0, and one is constant."""
import sys

import numpy as np

from golden import draw

IMAGES = 60
TAPS = [("p", 16, 64, 0), ("p", 16, 1, 30), ("q", 33, 25, 1000)]  # group, K, pixels, added to each


def activations(tap, K, pixels, add):
    """Two arrays (images, K, pixels); unit j of b is correlated with unit K-1-j of a."""
    shape = (IMAGES, K, pixels)
    n = IMAGES * K * pixels
    x = (draw(2 * tap, 0, n) % np.uint64(2001)).astype(np.int64).reshape(shape) - 900
    e = (draw(2 * tap + 1, 0, n) % np.uint64(3001)).astype(np.int64).reshape(shape) - 1500
    y = x[:, ::-1] + e
    x = np.maximum(x, 0) + add
    y = np.maximum(y, 0) + add
    x[:, 3] = 0
    y[:, 5] = 777
    return x.astype(np.float32) / np.float32(128), y.astype(np.float32) / np.float32(128)


def rows(x):
    """(K, images * pixels) float64 of (images, K, pixels)."""
    return x.astype(np.float64).transpose(1, 0, 2).reshape(x.shape[1], -1)


def correlations(x, y):
    with np.errstate(invalid="ignore"):
        c = np.corrcoef(rows(x), rows(y))[:x.shape[1], x.shape[1]:]
    return np.where(np.isfinite(c), c, 0)


def distances(x, y):
    y = rows(y)
    return np.array([((v - y) ** 2).mean(axis=1) for v in rows(x)])


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

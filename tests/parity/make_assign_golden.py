#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SciPy's optimal values of the matrices that tests/parity/test_assign.c makes too.

    tests/parity/make_assign_golden.py > tests/parity/assign_golden.tsv

1,000 matrices with n from 1 to 512 and one of 2048; the matrices are those of assign_matrices.h, bit
for bit. tests/bench/assign.py takes them from here."""
import sys

import numpy as np

from golden import draw

KINDS = ["uniform", "correlation", "ties", "tied-correlation"]
FEATURES = 24


def below(seed, first, count, limit):
    return (draw(seed, first, count) % np.uint64(limit)).astype(np.int64)


def matrix(kind, n, seed):
    if kind == "uniform":
        return (draw(seed, 0, n * n).astype(np.float64) * 2.0**-53).reshape(n, n)
    if kind == "ties":
        return below(seed, 0, n * n, 5).reshape(n, n) - 2.0
    x = (below(seed, 0, n * FEATURES, 17) - 8).reshape(n, FEATURES)
    y = x[::-1] + (below(seed, n * FEATURES, n * FEATURES, 33) - 16).reshape(n, FEATURES)
    dead = below(seed, 2 * n * FEATURES, 2 * n, 20) == 0
    x[dead[:n]] = 0
    y[dead[n:]] = 0
    both = np.outer((x * x).sum(1), (y * y).sum(1)).astype(np.float64)
    dot = (x @ y.T).astype(np.float64)
    c = np.where(both > 0, dot / np.sqrt(np.where(both > 0, both, 1)), 0)
    return c if kind == "correlation" else np.floor(c * 16) / 16


def cases():
    for i in range(1000):
        yield KINDS[i % len(KINDS)], 1 + 511 * i * i // (999 * 999), i
    yield "correlation", 2048, 1000


def main():
    from scipy.optimize import linear_sum_assignment

    print("kind\tn\tseed\tvalue")
    for kind, n, seed in cases():
        value = matrix(kind, n, seed)
        rows, cols = linear_sum_assignment(value, maximize=True)
        print(kind, n, seed, repr(float(value[rows, cols].sum())), sep="\t")


if __name__ == "__main__":
    sys.exit(main())

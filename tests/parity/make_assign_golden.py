#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Make SciPy's optimal assignment values of the matrices in tests/parity/test_assign.c.

    tests/parity/make_assign_golden.py > tests/parity/assign_golden.tsv
    tests/parity/make_assign_golden.py wide > tests/parity/assign_wide_golden.tsv

1,000 matrices with n from 1 to 512, and one with n = 2048, are those of assign_matrices.h, bit for bit.
tests/bench/assign.py uses them too. The wide matrices, of assign_wide_matrices.h, span many orders of
magnitude. For these the script writes the value of the best permutation in exact rationals, and the median u
of the nonzero costs after the minima of rows and columns are subtracted. It compares SciPy's permutation."""
import sys
from fractions import Fraction

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


def spread(seed, first, count, bits):
    """Numbers from 2^-bits to 2^bits."""
    r = draw(seed, first, count)
    return np.ldexp(1 + r.astype(np.float64) * 2.0**-53, (r % np.uint64(2 * bits)).astype(np.int64) - bits)


def huge_units(n, seed):
    """Distances of integer vectors; one unit on each side is 2^40 times as long as the others."""
    x = (below(seed, 0, n * FEATURES, 17) - 8).reshape(n, FEATURES).astype(np.float64)
    y = x[::-1] + (below(seed, n * FEATURES, n * FEATURES, 9) - 4).reshape(n, FEATURES)
    x[n // 3] *= 2.0**40
    y[n // 2] *= 2.0**40
    d = np.zeros((n, n))
    for k in range(FEATURES):
        d += (x[:, None, k] - y[None, :, k]) ** 2
    return -d


WIDE = {
    "spread": lambda n, seed: -spread(seed, 0, n * n, 40).reshape(n, n),
    "ties": lambda n, seed: -np.ldexp(1.0, below(seed, 0, n * n, 9) * 10 - 40).reshape(n, n),
    "equal": lambda n, seed: np.full((n, n), -2.0**40),
    "denormal": lambda n, seed: -np.ldexp(
        (draw(seed, 0, n * n) >> (draw(seed, n * n, n * n) % np.uint64(53))).astype(np.float64), -1074).reshape(n, n),
    "rank-one": lambda n, seed: -np.outer(spread(seed, 0, n, 40), spread(seed, n, n, 40)),
    "rank-one-positive": lambda n, seed: np.outer(spread(seed, 0, n, 16), spread(seed, n, n, 16)),
    "columns": lambda n, seed: -draw(seed, n, n * n).astype(np.float64).reshape(n, n) * spread(seed, 0, n, 40),
    "huge-units": huge_units,
}


def exact_best(value):
    """The textbook O(n^3) algorithm with potentials, on integers: the value in units of its lowest bit."""
    n = len(value)
    exact = [[Fraction(float(v)) for v in row] for row in value]
    unit = max(v.denominator for row in exact for v in row)
    cost = [[int(-v * unit) for v in row] for row in exact]
    u, v, row_of, way = [0] * (n + 1), [0] * (n + 1), [0] * (n + 1), [0] * (n + 1)
    for i in range(1, n + 1):
        row_of[0], j0 = i, 0
        least, used = [None] * (n + 1), [False] * (n + 1)
        while row_of[j0]:
            used[j0], i0, delta = True, row_of[j0], None
            for j in range(1, n + 1):
                if used[j]:
                    continue
                c = cost[i0 - 1][j - 1] - u[i0] - v[j]
                if least[j] is None or c < least[j]:
                    least[j], way[j] = c, j0
                if delta is None or least[j] < delta:
                    delta, j1 = least[j], j
            for j in range(n + 1):
                if used[j]:
                    u[row_of[j]] += delta
                    v[j] -= delta
                elif j:
                    least[j] -= delta
            j0 = j1
        while j0:
            row_of[j0] = row_of[way[j0]]
            j0 = way[j0]
    return [j - 1 for _, j in sorted((row_of[j], j) for j in range(1, n + 1))]


def wide():
    from scipy.optimize import linear_sum_assignment

    print("kind\tn\tseed\tu\tbest")
    for seed, (kind, n) in enumerate((k, n) for k in WIDE for n in (1, 2, 3, 8, 20, 33, 70)):
        value = WIDE[kind](n, seed)
        best = exact_best(value)
        cost = value.max(1)[:, None] - value
        cost -= cost.min(0)
        u = float(np.median(cost[cost > 0])) if (cost > 0).any() else 0.0
        total = [sum(Fraction(float(value[i, j])) for i, j in enumerate(p))
                 for p in (best, linear_sum_assignment(value, maximize=True)[1])]
        short = total[0] - total[1]
        assert short >= 0, "SciPy is better than the best: %s %d" % (kind, n)
        if short > Fraction(u) * n / 10**9:
            print("%s %d: SciPy's permutation is worth %.1e u less" % (kind, n, short / Fraction(u)), file=sys.stderr)
        print(kind, n, seed, repr(u), ",".join(map(str, best)), sep="\t")


def cases():
    for i in range(1000):
        yield KINDS[i % len(KINDS)], 1 + 511 * i * i // (999 * 999), i
    yield "correlation", 2048, 1000


def main():
    if sys.argv[1:] == ["wide"]:
        return wide()
    from scipy.optimize import linear_sum_assignment

    print("kind\tn\tseed\tvalue")
    for kind, n, seed in cases():
        value = matrix(kind, n, seed)
        rows, cols = linear_sum_assignment(value, maximize=True)
        print(kind, n, seed, repr(float(value[rows, cols].sum())), sep="\t")


if __name__ == "__main__":
    sys.exit(main())

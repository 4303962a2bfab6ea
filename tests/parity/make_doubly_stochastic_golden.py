#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Decompose random doubly stochastic matrices greedily (Birkhoff-von Neumann) with SciPy's linear_sum_assignment.

    tests/parity/make_doubly_stochastic_golden.py > tests/parity/doubly_stochastic_golden.tsv

A case consists of a line "matrix n drop terms", n lines of the matrix, and a line per term with its weight and the
column of each row. Excluded entries are -inf. Every matching is a unique optimum: without one of its entries, no
matching is within 1e-9 of it. Terms after the first below 1e-6 are rounding errors, and omitted."""
import numpy as np
from scipy.optimize import linear_sum_assignment

# n, seed, fraction of entries that are 0, drop
CASES = [(3, 1, 0, 0), (5, 2, .3, 0), (8, 3, 0, 0), (12, 4, .5, 0), (12, 5, 0, 5e-3)]


def doubly_stochastic(n, seed, zeros):
    rng = np.random.default_rng(seed)
    d = np.exp(2 * rng.standard_normal((n, n)))
    perm = rng.permutation(n)
    keep = rng.random((n, n)) >= zeros
    keep[np.arange(n), perm] = keep[np.arange(n), np.roll(perm, 1)] = True
    d *= keep
    for _ in range(20000):
        d /= d.sum(1, keepdims=True)
        d /= d.sum(0, keepdims=True)
    assert abs(d.sum(1) - 1).max() < 1e-12
    return d


def matching(left, drop):
    """(columns, value) of the best perfect matching, or None."""
    value = np.where((left > 0) & (left >= drop), left, -np.inf)
    try:
        rows, cols = linear_sum_assignment(value, maximize=True)
    except ValueError:
        return None, -np.inf
    return cols, value[rows, cols].sum()


def alone(left, drop, cols, worth):
    for i, j in enumerate(cols):
        without = left.copy()
        without[i, j] = 0
        if matching(without, drop)[1] > worth - 1e-9:
            return False
    return True


def decompose(d, drop):
    left, rows = d.copy(), np.arange(len(d))
    while True:
        cols, worth = matching(left, drop)
        if cols is None:
            return
        alpha = left[rows, cols].min()
        if alpha < 1e-6:
            return
        assert alone(left, drop, cols, worth)
        yield alpha, cols
        left[rows, cols] -= alpha


def main():
    for n, seed, zeros, drop in CASES:
        d = doubly_stochastic(n, seed, zeros)
        terms = list(decompose(d, drop))
        print("matrix\t%d\t%r\t%d" % (n, float(drop), len(terms)))
        for row in d.tolist():
            print("\t".join(map(repr, row)))
        for alpha, cols in terms:
            print(repr(float(alpha)), *cols.tolist(), sep="\t")


main()

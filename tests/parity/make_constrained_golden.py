#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Find the optima of the constrained assignments in tests/parity/test_constrained.c with HiGHS, through SciPy.

    tests/parity/make_constrained_golden.py > tests/parity/constrained_golden.tsv

A and B are uniform matrices of make_assign_golden.py. The value is A, and the constraint is B + .5 I ("aligned")
or B / 4 - A ("opposed"). `exact` is the maximum value of a permutation whose constraint is at least the
identity's. `relaxed` is that of the linear programme, which equals the minimum of the Lagrangian's bound."""
import math

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix, eye, kron, vstack

from make_assign_golden import matrix

SIZES = [2, 3, 5, 8, 12, 16, 24]
SEEDS = [1, 3, 5]


def problem(kind, n, seed):
    a, b = matrix("uniform", n, seed), matrix("uniform", n, seed + 1)
    return a, b + .5 * np.eye(n) if kind == "aligned" else b / 4 - a


def solve(a, c, whole):
    n = len(a)
    ones = np.ones((1, n))
    rows = vstack([kron(eye(n), ones), kron(ones, eye(n)), csr_matrix(c.reshape(1, -1))])
    trace = c.trace()
    low = np.concatenate([np.ones(2 * n), [trace]])
    high = np.concatenate([np.ones(2 * n), [np.inf]])
    r = milp(-a.ravel(), constraints=LinearConstraint(rows, low, high), bounds=Bounds(0, 1),
             integrality=np.full(n * n, int(whole)), options={"mip_rel_gap": 0, "time_limit": 300})
    assert r.status == 0, r.message
    if whole:
        perm = r.x.reshape(n, n).argmax(1)
        assert sorted(perm) == list(range(n))
        assert math.fsum(list(c[range(n), perm]) + list(-c.diagonal())) >= 0
        return math.fsum(a[range(n), perm])
    return -r.fun


def main():
    print("kind\tn\tseed\texact\trelaxed")
    for kind in "aligned", "opposed":
        for n in SIZES:
            for seed in SEEDS:
                a, c = problem(kind, n, seed)
                exact, relaxed = float(solve(a, c, True)), float(solve(a, c, False))
                print("%s\t%d\t%d\t%r\t%r" % (kind, n, seed, exact, relaxed))


main()

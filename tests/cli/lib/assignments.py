# SPDX-License-Identifier: Apache-2.0
"""make OUT: write a matrices stream of several groups. check MATRICES PERMUTATION: compare a permutation
with SciPy's, unit for unit if the optimum is unique."""
import os
import sys

import mcz
import numpy as np

sys.path.append(os.environ["MC_ROOT"] + "/tests/parity")
import make_assign_golden as golden

GROUPS = [("layer0", "correlation", 16), ("layer1", "uniform", 1), ("layer2", "correlation", 64),
          ("layer3", "uniform", 65), ("layer4", "correlation", 200), ("layer5", "ties", 30),
          ("layer6", "uniform", 130)]


def make(out):
    groups, tensors = [], {}
    for seed, (name, kind, n) in enumerate(GROUPS):
        a = golden.matrix(kind, n, seed)
        dead = [np.flatnonzero(~a.any(1 - axis)).tolist() for axis in (0, 1)]
        groups.append({"name": name, "size": n, "taps": 1, "dead_a": dead[0], "dead_b": dead[1]})
        tensors[name] = a
    mcz.write(out, "matrices", {"measure": "score", "at": "post", "groups": groups}, tensors,
              history=mcz.history("test", {"seed": 1}))


def check(matrices, permutation):
    from scipy.optimize import linear_sum_assignment

    m, p = mcz.read(matrices), mcz.read(permutation)
    assert p.kind == "permutation" and p.inputs == [m.id], (p.kind, p.inputs)
    assert [h["tool"] for h in p.history] == ["test", "mc-hungarian"], p.history
    assert p.history[1]["args"] == [], p.history
    assert list(p.tensors) == [g[0] for g in GROUPS], list(p.tensors)
    unique = 0
    for group, (name, _, n) in zip(p.meta["groups"], GROUPS):
        a, perm = m.tensors[name], p.tensors[name]
        assert perm.dtype == np.int32 and sorted(perm) == list(range(n)), perm
        rows, cols = linear_sum_assignment(a, maximize=True)
        best = a[rows, cols].sum()
        assert abs(a[rows, perm].sum() - best) <= 1e-12 * n, (name, best)
        assert group["name"] == name and group["size"] == n, group
        assert abs(group["value"] - best) <= 1e-12 * n and 0 <= group["gap"] <= 1e-12 * n, group
        assert abs(group["bound"] - best) <= 2e-12 * n, group
        differ = int((perm != cols).sum())
        assert differ <= group["ties"] <= n, (group, differ)
        unique += group["ties"] == 0
    assert unique >= 3, unique
    assert p.meta["groups"][5]["ties"] > 0, p.meta


{"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Maps of every kind from moments, with NumPy and SciPy, independently of this suite's code.

procrustes.py plant NOISE MOMENTS.mcz           moments of random activations x and y, x = M y + NOISE, with planted maps M
procrustes.py planted P.mcz                     P has the planted maps
procrustes.py best MOMENTS.mcz C.mcz P.mcz      C has the second moments, P the best maps of C"""
import itertools
import sys

import mcz
import numpy as np
from scipy.optimize import linear_sum_assignment

draw = np.random.RandomState(3)
N, HEADS, WIDTH = 400, 3, 4
KINDS = {"stream": (8, "centred"), "mlp": (6, "signed"), "rotary": (6, "rotation"), "turned": (6, "half-turn"), "order": (5, None), "free": (6, "orthogonal"),
         "heads": (HEADS, None)}
INNER = {"qk": "orthogonal", "v": "signed"}


def polar(c):
    u, _, v = np.linalg.svd(c)
    return u @ v


def centred(c):
    """The best map that fixes the ones, in an orthonormal basis of their complement."""
    k = len(c)
    basis = np.linalg.qr(np.c_[np.ones(k), np.eye(k)[:, 1:]])[0][:, 1:]
    return np.full((k, k), 1 / k) + basis @ polar(basis.T @ c @ basis) @ basis.T


def signed(c):
    row, col = linear_sum_assignment(np.abs(c), maximize=True)
    m = np.zeros_like(c)
    m[row, col] = np.where(c[row, col] < 0, -1, 1)
    return m


def rotation(c):
    """The best rotation of each pair of units i and i + n / 2, as a complex number."""
    half = len(c) // 2
    z = np.diag(c)[:half] + np.diag(c)[half:] + 1j * (np.diag(c, -half) - np.diag(c, half))
    z = np.diag(z / abs(z))
    return np.block([[z.real, -z.imag], [z.imag, z.real]])


def half_turn(c):
    """The best sign of each pair of units i and i + n / 2."""
    half = len(c) // 2
    return np.diag(np.tile(np.where(np.diag(c)[:half] + np.diag(c)[half:] < 0, -1., 1.), 2))


def order(c):
    return np.eye(len(c))[linear_sum_assignment(c, maximize=True)[1]]


BEST = {"orthogonal": polar, "centred": centred, "signed": signed, "rotation": rotation, "half-turn": half_turn, None: order}
PLANTED = {name: BEST[kind](draw.randn(k, k)) for name, (k, kind) in KINDS.items()}
for kind, u in itertools.product(INNER, range(HEADS)):
    PLANTED["head%d.%s" % (u, kind)] = BEST[INNER[kind]](draw.randn(WIDTH, WIDTH))
GROUPS = [{"name": name, "size": k, **({"allows": kind} if kind else {})} for name, (k, kind) in KINDS.items()]
GROUPS += [{"name": "head%d.%s" % (u, kind), "size": WIDTH, "within": len(KINDS) - 1, "unit": u, "allows": INNER[kind]}
           for u in range(HEADS) for kind in INNER]
NAMES = [g["name"] for g in GROUPS]


def plant(noise, path):
    taps, tensors = [], {}
    source = PLANTED["heads"].argmax(1)  # the unit of y at each place
    for name in [n for n in KINDS if n != "heads"] * 2 + ["head0." + k for k in INNER] * 2:
        k = HEADS * WIDTH if name[:4] == "head" else KINDS[name][0]
        x = draw.randn(N, k) @ np.diag(1 + np.arange(k)) + draw.randn(k)
        if name == "free":
            x[:, 1] = x[:, 2] = 0
            x = x @ polar(np.random.RandomState(5).randn(k, k)).T
        if name[:4] != "head":
            y = x @ PLANTED[name]
        else:
            y = np.zeros_like(x).reshape(N, HEADS, WIDTH)
            for h, u in enumerate(source):
                y[:, u] = x.reshape(N, HEADS, WIDTH)[:, h] @ PLANTED["head%d.%s" % (u, name[6:])]
            y = y.reshape(N, -1)
        y = y + noise * draw.randn(N, k) * 3
        tap = "%d/%s%d/" % (len(taps), name, len(taps))
        tensors.update({tap + "sum_a": x.sum(0), tap + "sum_b": y.sum(0), tap + "sumsq_a": (x * x).sum(0),
                        tap + "sumsq_b": (y * y).sum(0), tap + "cross": x.T @ y})
        taps.append({"name": name + str(len(taps)), "group": NAMES.index(name), "start": 0, "count": k, "samples": N})
    mcz.write(path, "moments", {"version": 2, "at": "post", "groups": GROUPS, "taps": taps, "images": N, "total": N, "shards": 1,
                                "counted": [0]}, tensors)


def matrix(p, name):
    t = p.tensors[name].astype("f8")
    return t if t.ndim == 2 else np.eye(len(t))[p.tensors[name]]


def planted(p):
    for name, m in PLANTED.items():
        got = matrix(p, name)
        if name == "free":  # planted where there are data
            data = polar(np.random.RandomState(5).randn(6, 6))[:, [0, 3, 4, 5]]
            assert np.abs(data.T @ got - data.T @ m).max() < 1e-5, name
            assert np.abs(got @ got.T - np.eye(6)).max() < 1e-6
            rest = np.linalg.svd(data.T)[2][4:]  # elsewhere nearest to the identity: symmetric, not negative
            free = rest @ got @ np.linalg.svd(data.T @ m)[2][4:].T
            overlap = rest @ np.linalg.svd(data.T @ m)[2][4:].T
            assert np.abs(free - polar(overlap)).max() < 1e-5
        else:
            assert np.abs(got - m).max() < 1e-5, (name, got, m)
    assert np.abs(matrix(p, "stream").sum(1) - 1).max() < 1e-6


def moments(m):
    """{group: matrix}"""
    sums = {}
    for i, t in enumerate(m.meta["taps"]):
        at = "%d/%s/" % (i, t["name"])
        c = m.tensors[at + "cross"] / np.sqrt(m.tensors[at + "sumsq_a"].sum() * m.tensors[at + "sumsq_b"].sum())
        name = m.meta["groups"][t["group"]]["name"]
        sums[name] = sums.get(name, 0) + c
    return sums


def best(m, c, p):
    want = moments(m)
    assert set(want) == set(c.tensors) and c.meta["measure"] == "moment"
    for name, w in want.items():
        assert np.abs(c.tensors[name] - w).max() < 1e-14, name
    for name, (_, kind) in KINDS.items():
        if name == "free":  # the best map is not unique
            assert abs((matrix(p, name) * want[name]).sum() - np.linalg.norm(want[name], "nuc")) < 1e-6
        elif name != "heads":
            assert np.abs(matrix(p, name) - BEST[kind](want[name])).max() < 1e-5, name
    pair = lambda k, h, u: want["head0." + k][h * WIDTH:(h + 1) * WIDTH, u * WIDTH:(u + 1) * WIDTH]
    inner = {(k, h, u): BEST[INNER[k]](pair(k, h, u)) for k in INNER for h in range(HEADS) for u in range(HEADS)}
    value = np.array([[sum((inner[k, h, u] * pair(k, h, u)).sum() for k in INNER) for u in range(HEADS)] for h in range(HEADS)])
    units = max(itertools.permutations(range(HEADS)), key=lambda q: sum(value[h, u] for h, u in enumerate(q)))
    assert (p.tensors["heads"] == units).all()
    for k in INNER:
        for h, u in enumerate(units):
            assert np.abs(matrix(p, "head%d.%s" % (u, k)) - inner[k, h, u]).max() < 1e-5


if sys.argv[1] == "plant":
    plant(float(sys.argv[2]), sys.argv[3])
else:
    {"planted": planted, "best": best}[sys.argv[1]](*map(mcz.read, sys.argv[2:]))

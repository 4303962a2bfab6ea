#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Match weights (Ainsworth et al. 2023, algorithm 1) with NumPy and SciPy, from the authors' description rather than this
suite's code. The networks' permutations are declared by hand, axis by axis, as in git-re-basin. Without INIT, a first
forward sweep uses only tensors between groups that are already matched, as mc-match does.

    tests/parity/match.py A.mcz B.mcz P.mcz SEED [INIT.mcz]

Prints the objective before and after each sweep, and fails if P.mcz differs from the result."""
import sys

import mcz
import numpy as np
from philox import philox
from scipy.optimize import linear_sum_assignment


def order(n, seed, sweep):
    o = list(range(n))
    for i in range(n, 1, -1):
        k = philox(seed, 16, sweep, i, 0)[0] * i >> 32
        o[i - 1], o[k] = o[k], o[i - 1]
    return o


def conv(spec, name, out, inp):
    spec[name + ".weight"], spec[name + ".bias"] = (out, inp), (out,)


def norm(spec, name, p):
    spec[name + ".weight"] = spec[name + ".bias"] = (p,)


def tinyten(tensors):
    spec, last = {}, None
    for i in range(8):
        p = "layers.%d.conv" % i
        conv(spec, p, p, last)
        norm(spec, "layers.%d.bn" % i, p)
        last = p
    conv(spec, "dense", None, last)
    return spec


def resnet(tensors):
    """A stage's stream is named after its first block's shortcut, and the first stage's after the stem."""
    spec, stream = {}, "conv1"
    conv(spec, "conv1", stream, None)
    norm(spec, "bn1", stream)
    for stage in 1, 2, 3:
        for block in range(1000):
            path = "layer%d.%d." % (stage, block)
            if path + "conv1.weight" not in tensors:
                break
            inside, into = path + "conv1", stream
            conv(spec, path + "conv1", inside, into)
            norm(spec, path + "bn1", inside)
            if any(k.startswith(path + "downsample") or k.startswith(path + "shortcut") for k in tensors):
                stream = path + "conv2"
                for short in "downsample", "shortcut":
                    conv(spec, path + short + ".0", stream, into)
                    norm(spec, path + short + ".1", stream)
            conv(spec, path + "conv2", stream, inside)
            norm(spec, path + "bn2", stream)
    conv(spec, "linear", None, stream)
    conv(spec, "fc", None, stream)
    return spec


def main(a, b, found, seed, init=None):
    a, b, found = mcz.read(a), mcz.read(b), mcz.read(found)
    net = a.meta["net"]
    spec = (tinyten if net == "tinyten" else resnet)(a.tensors)
    names = [n for n in a.tensors if ".running_" not in n]
    A, B = ({n: s.tensors[n].astype(float) for n in names} for s in (a, b))
    groups = [g["name"] for g in found.meta["groups"]]
    assert set(groups) == {p for n in names for p in spec[n]} - {None}, (groups, spec)
    perm = {g["name"]: np.arange(g["size"]) for g in found.meta["groups"]}
    if init:
        perm = dict(mcz.read(init).tensors)
    forward = not init

    def permuted(name, but=None):
        x = B[name]
        for axis, p in enumerate(spec[name]):
            if p is not None and axis != but:
                x = np.take(x, perm[p], axis)
        return x

    def objective():
        return sum(np.vdot(A[n], permuted(n)) for n in names)

    print("%.9g" % objective())
    changed, sweep = True, 0
    while changed or forward and sweep == 1:
        changed, sweep = False, sweep + 1
        first, known = forward and sweep == 1, set()
        for i in range(len(groups)) if first else order(len(groups), seed, sweep):
            p = groups[i]
            value = 0
            for n in names:
                for axis, q in enumerate(spec[n]):
                    if q == p and (not first or set(spec[n]) <= known | {None, p}):
                        x, y = (np.moveaxis(t, axis, 0).reshape(len(perm[p]), -1) for t in (A[n], permuted(n, axis)))
                        value = value + x @ y.T
            new = linear_sum_assignment(value, maximize=True)[1]
            rows = np.arange(len(new))
            known.add(p)
            if first:
                perm[p] = new
            elif value[rows, new].sum() > value[rows, perm[p]].sum() + 1e-9:
                perm[p], changed = new, True
        print("%.9g" % objective())
    assert all((found.tensors[g] == perm[g]).all() for g in groups), "another permutation"


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]), *sys.argv[5:])

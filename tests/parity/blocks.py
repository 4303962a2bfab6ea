#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Match blocks of grouped convolutions with NumPy and SciPy, independently of this suite's code, for the network of
tests/cli/lib/blocks_net.py. It tries every order of the blocks, and selects the one with the largest total of the best
assignments within blocks. Then it applies the permutation to the weights, layer by layer. The end of PAM's curve must be
B with P's blocks, and other units within them.

    tests/parity/blocks.py MOMENTS.mcz P.mcz B.mcz PB.mcz CURVE.mcz"""
import itertools
import sys

import mcz
import numpy as np
from scipy.optimize import linear_sum_assignment

moments, p, b, pb, curve = (mcz.read(f) for f in sys.argv[1:6])
found, groups = p.tensors, {g["name"]: g for g in p.meta["groups"]}
b, pb = b.tensors, pb.tensors
learned = {g["name"]: curve.tensors["permutation/" + g["name"]] for g in curve.meta["groups"]}
assert list(learned) == list(found)
end = {k[2:]: v for k, v in curve.tensors.items() if k.startswith("2/")}
at = {}  # {module: correlations of its units}
for i, t in enumerate(moments.meta["taps"]):
    x, y, xx, yy, xy = (moments.tensors["%d/%s/%s" % (i, t["name"], k)] for k in
                        ("sum_a", "sum_b", "sumsq_a", "sumsq_b", "cross"))
    n = t["samples"]
    vx, vy = xx - x * x / n, yy - y * y / n
    alive = np.outer(vx > 1e-10 * vx.max(), vy > 1e-10 * vy.max())
    at[t["name"]] = np.divide(xy - np.outer(x, y) / n, np.sqrt(np.outer(vx, vy)), where=alive, out=np.zeros(alive.shape))
BLOCKS = {"layer1.0": (4, 16, 16), "layer1.1": (4, 16, 24), "layer2.0": (3, 18, 18), "layer2.1": (3, 24, 15)}


def check_weights(block, n, widths, perm, out, vectors):
    """Asserts that `out` has b's weights of this block in the order of perm."""
    index, names = [], [block + ".conv1", block + ".conv2"]
    order = perm[block + ".conv1/blocks"]
    for name, width in zip(names, widths):
        k = width // n
        to = [u * k + i for u in order for i in perm["%s[%d:%d]" % (name, u * k, (u + 1) * k)]]
        index.append(to)
        for part in ["weight"] + vectors.split():
            assert (out["%s.bn.%s" % (name, part)] == b["%s.bn.%s" % (name, part)][to]).all()
    # the grouped convolution: its rows move, and each row's inputs move within the block that the row came from
    w, k, m = b[names[1] + ".weight"], widths[0] // n, widths[1] // n
    want = np.stack([w[r][[c - order[h // m] * k for c in index[0][h // m * k:(h // m + 1) * k]]]
                     for h, r in enumerate(index[1])])
    assert (out[names[1] + ".weight"] == want).all(), block
    was, now = b[block + ".conv3.weight"][:, index[1]], out[block + ".conv3.weight"]
    assert sorted(map(bytes, was)) == sorted(map(bytes, now)), block  # its outputs move too


for block, (n, *widths) in BLOCKS.items():
    seen, names = [], [block + ".conv1", block + ".conv2"]
    for name in names:
        several = [at[k] for k in (name + ".relu", name + ".silu", name.replace("conv2", "se")) if k in at]
        seen.append(sum(several) / len(several))
    assert [len(c) for c in seen] == widths

    def inside(c, h, u):
        k = len(c) // n
        part = c[h * k:(h + 1) * k, u * k:(u + 1) * k]
        return part, linear_sum_assignment(-part)[1]

    def worth(order):
        return sum(part[range(len(to)), to].sum() for c in seen for h, u in enumerate(order)
                   for part, to in [inside(c, h, u)])

    ranked = sorted(itertools.permutations(range(n)), key=worth)
    order = found[block + ".conv1/blocks"]
    assert tuple(order) == ranked[-1], (block, order, ranked[-1])
    value = groups[block + ".conv1/blocks"]["value"]
    assert abs(value / worth(order) - 1) < 1e-9, (value, worth(order))
    for name, c in zip(names, seen):
        k = len(c) // n
        for h, u in enumerate(order):
            best, g = inside(c, h, u)[1], "%s[%d:%d]" % (name, u * k, (u + 1) * k)
            assert (found[g] == best).all(), (g, found[g], best)
            assert (groups[g]["within"], groups[g]["unit"]) == (list(groups).index(block + ".conv1/blocks"), u)
    check_weights(block, n, widths, found, pb, "bias running_mean running_var")
    assert (learned[block + ".conv1/blocks"] == order).all(), block
    check_weights(block, n, widths, learned, end, "bias")
    print("%s: blocks %s of %d orders, value %.6f (second best %.6f, unchanged %.6f)" %
          (block, list(order), len(ranked), value, worth(ranked[-2]), worth(range(n))))
assert any((found[g] != np.arange(len(found[g]))).any() for g in found if g.endswith("/blocks"))
assert any((learned[g] != found[g]).any() for g in found), "nothing moved within the blocks"

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The bounds of theorem 3.1 (Tatro et al. 2020, appendix C.1 and C.2) in NumPy's float64.

    tests/parity/bound.py A.mcz B.mcz A.acts B.acts [P.mcz]   the output of mc-bound --path, from the networks and their
                                                              activations (mc-acts --raw --at pre)
    tests/parity/bound.py                                     the theorem's bounds, and how tight they are

Without operands, the script trains two regressors. It prints the losses F_u, F_a along the straight line and the paper's
bounds B_u, B_a on them (root mean squared error, with the ends' epsilon; means over t). Then it tests the class of
networks for which appendix C.2 says that the bound is tight.

Its inequalities are equalities with one hidden layer, but not with two or more. Let E be the deviation that the layer
below causes at layer i, and D the difference of the ends there. The bound requires |E + t D| = |E| + t |D| and
|E - (1-t) D| = |E| + (1-t) |D|. So D must have the direction of E and the opposite one, which no signs satisfy if neither
is zero. The script prints the ratio that the paper's signs reach, for biases that keep the ends of a layer far apart
(size) or close, and the ratio of the best signs.

Every claim is asserted; the script fails if one is false."""
import itertools
import sys

import numpy as np

T = 65
GRID = np.linspace(0, 1, T)


def recursion(norms, deltas, t):
    """The bound on the distance between the outputs at t and the mixture of the ends'. norms: (L,2); deltas: (L-1)."""
    d0 = d1 = 0.
    for (s0, s1), delta in zip(norms, deltas):
        c = (1 - t) * s0 * d0 + t * s1 * d1
        d0, d1 = c + t * delta, c + (1 - t) * delta
    return (1 - t) * norms[-1][0] * d0 + t * norms[-1][1] * d1


def rms(x):
    """The root of the mean squared length over images. x: (N,K)."""
    return np.sqrt((x ** 2).sum(1).mean())


# ---- streams ---------------------------------------------------------------------------------------
def of_streams(a, b, acts_a, acts_b, perm=None):
    """Print the bound on the barrier of a cross-entropy at T points."""
    import mcz
    a, b, acts_a, acts_b = (mcz.read(f) for f in (a, b, acts_a, acts_b))
    layers = [n["name"] for n in a.meta["graph"]["nodes"] if n["op"] == "linear"]
    norms = [[np.linalg.norm(w.tensors[n + ".weight"].astype(np.float64), 2) for w in (a, b)] for n in layers]
    perms = {"unaligned": {}}
    if perm:
        perms["aligned"] = mcz.read(perm).tensors
    table = [GRID]
    for p in perms.values():
        deltas = []
        for i, n in enumerate(layers[:-1]):
            x, y = (v.tensors["%d/%s" % (i, n)].astype(np.float64)[:, :, 0, 0] for v in (acts_a, acts_b))
            deltas.append(rms(x - y[:, p.get(n, slice(None))]))
        table.append([np.sqrt(2) * recursion(norms, deltas, t) for t in GRID])
    print("\t".join(["t", *perms]))
    for row in zip(*table):
        print("\t".join("%.17g" % v for v in row))


# ---- networks of this script: lists of (W, b) --------------------------------------------------------
def forward(net, x):
    """Pre-activations of every layer, the output last."""
    f, g = [], x
    for w, b in net:
        f.append(g @ w.T + b)
        g = np.maximum(f[-1], 0)
    return f


def between(p, q, t):
    return [((1 - t) * w + t * v, (1 - t) * b + t * c) for (w, b), (v, c) in zip(p, q)]


def reordered(net, perms):
    out, last = [], slice(None)
    for (w, b), p in itertools.zip_longest(net, perms, fillvalue=slice(None)):
        out.append((w[p][:, last], b[p]))
        last = p
    return out


def measured(p, q, x, y):
    """At T points: the loss, the bound on it with the ends' epsilons, how far the output is from the mixture, the bound."""
    fp, fq = forward(p, x), forward(q, x)
    norms = [[np.linalg.norm(w, 2), np.linalg.norm(v, 2)] for (w, _), (v, _) in zip(p, q)]
    deltas = [rms(a - b) for a, b in zip(fp[:-1], fq[:-1])]
    eps = rms(fp[-1] - y), rms(fq[-1] - y)
    rows = []
    for t in GRID:
        out = forward(between(p, q, t), x)[-1]
        far = recursion(norms, deltas, t)
        rows.append((rms(out - y), far + (1 - t) * eps[0] + t * eps[1],
                     rms(out - (1 - t) * fp[-1] - t * fq[-1]), far))
    return np.array(rows).T, eps


def trained(seed, x, y, widths, steps=3000, rate=.02):
    """A regressor by gradient descent with momentum on the mean squared error."""
    rng = np.random.RandomState(seed)
    sizes = [x.shape[1], *widths, y.shape[1]]
    net = [[rng.randn(m, n) * np.sqrt(2 / n), np.zeros(m)] for n, m in zip(sizes, sizes[1:])]
    speed = [[np.zeros_like(w), np.zeros_like(b)] for w, b in net]
    for _ in range(steps):
        f = forward(net, x)
        back = 2 * (f[-1] - y) / len(x)
        for i in reversed(range(len(net))):
            below = np.maximum(f[i - 1], 0) if i else x
            grads = back.T @ below, back.sum(0)
            if i:
                back = (back @ net[i][0]) * (f[i - 1] > 0)
            for k in 0, 1:
                speed[i][k] = .9 * speed[i][k] - rate * grads[k]
                net[i][k] = net[i][k] + speed[i][k]
    return net


def theorem():
    rng = np.random.RandomState(0)
    x = rng.randn(256, 3)
    y = np.stack([np.sin(2 * x[:, 0]) + x[:, 1], x[:, 2] * x[:, 0]], 1)
    print("theorem 3.1: regressors of two hidden layers, means over t")
    print("pair\tepsilon\tF_u\tB_u\tF_a\tB_a")
    for seeds in (1, 2), (3, 4), (5, 6):
        p, q = (trained(s, x, y, (6, 6)) for s in seeds)
        perms = [np.array(min(itertools.permutations(range(6)), key=lambda o: rms(a - b[:, o])))
                 for a, b in zip(forward(p, x)[:-1], forward(q, x))]
        found, shown = {}, []
        for way, end in ("u", q), ("a", reordered(q, perms)):
            (loss, _, far, bound), eps = measured(p, end, x, y)
            paper = bound + max(eps)  # one epsilon for both ends
            assert (loss <= paper * (1 + 1e-12)).all() and (far <= bound * (1 + 1e-12) + 1e-12).all()
            found[way] = paper
            shown += [loss.mean(), paper.mean()]
        assert (found["a"] <= found["u"] * (1 + 1e-12)).all()
        print("\t".join(["%d-%d" % seeds] + ["%.4g" % v for v in [max(eps)] + shown]))


# ---- appendix C.2 ------------------------------------------------------------------------------------
def tight(hidden, size, units=4, images=32):
    """Networks, images and labels as appendix C.2 has them: W of the first network a non-negative isometry Q, of the
    second -Q; biases by which min f(1) exceeds max f(0) by the layer's size, and the first's are positive; labels below
    the ends' outputs, along the last difference where one hidden layer lets the outputs be equal."""
    rng = np.random.RandomState(hidden)
    x = rng.rand(images, units)
    p, q, g, h = [], [], x, x
    for i in range(hidden):
        Q = np.eye(units)[rng.permutation(units)]
        low, high = g @ Q.T, -(h @ Q.T)
        b = np.full(units, -low.min())
        c = np.full(units, (low + b).max() + size[i] - high.min())
        p.append((Q, b))
        q.append((-Q, c))
        g, h = low + b, high + c
    Q = np.eye(units)[rng.permutation(units)]
    z, y = g @ Q.T, -(h @ Q.T)
    shift = (z - y).max(0)  # the second's outputs are the first's or above
    p.append((Q, np.zeros(units)))
    q.append((-Q, shift))
    y = y + shift
    labels = np.minimum(z, y) - .25 * (h - g) @ Q.T
    return p, q, x, labels


def tightness():
    print("\nappendix C.2: what the line reaches of the bound (1: equality), the paper's signs")
    print("hidden\tsizes\tloss at worst t\tmean loss\toutput at worst t\tmean output")
    for size in (1,), (4,), (1, 1), (1, 10), (1, 100), (1, 1, 1):
        (loss, bound, far, far_bound), _ = measured(*tight(len(size), size))
        inner = slice(1, -1)
        assert (loss <= bound * (1 + 1e-12)).all() and (far <= far_bound * (1 + 1e-12)).all()
        ratios = loss / bound, far[inner] / far_bound[inner]
        row = [ratios[0].min(), loss.mean() / bound.mean(), ratios[1].min(), far.mean() / far_bound.mean()]
        print("\t".join([str(len(size)), ",".join(map(str, size))] + ["%.4f" % v for v in row]))
        if len(size) == 1:
            assert min(row) > 1 - 1e-12
        else:
            assert max(row) < 1 - 1e-3 and ratios[1].max() < 1 - 1e-3, ratios
    # of one unit and one image, weights of 1 and -1: the first layer adds t (1-t) |w - v| |D_1|, D_1 = 1
    print("\nall signs of two hidden layers of one unit: the most that is reached at t = 1/2, and of the means")
    print("D_2/D_1\tat 1/2\tof the means")
    t = GRID[1:-1]
    for scale in 0, .1, 1, 10, 100:
        bound = np.array([recursion([[1, 1]] * 3, [1, scale], s) for s in t])
        far = []
        for w2, v2, w3, v3, sign in itertools.product((1, -1), repeat=5):
            E, D = t * (1 - t) * (w2 - v2), sign * scale
            far.append(abs((1 - t) * w3 * (E + t * D) + t * v3 * (E - (1 - t) * D)))
        ratio = np.array(far) / bound
        print("%g\t%.4f\t%.4f" % (scale, ratio[:, T // 2 - 1].max(), max(f.mean() for f in far) / bound.mean()))
        assert ratio.max() < 1 + 1e-12 and (ratio.max() > 1 - 1e-12) == (scale == 0), (scale, ratio.max())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        of_streams(*sys.argv[1:])
    else:
        theorem()
        tightness()

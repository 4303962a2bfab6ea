# SPDX-License-Identifier: Apache-2.0
# mc-corr refuses cross moments above the bound that their squares allow, with every measure and in the signature, and
# names the tap and units. A perfect correlation from float64 sums with large means passes.
fixture moments
py <<'END'
s = mcz.read("m.mcz")
name = next(k for k in s.tensors if k.endswith("/cross"))
part = {k: s.tensors[name[:-len("cross")] + k] for k in ("sum_a", "sum_b", "sumsq_a", "sumsq_b", "cross")}
n = s.meta["taps"][0]["samples"]
var = lambda side: part["sumsq_" + side] - part["sum_" + side] ** 2 / n
mean = np.outer(part["sum_a"], part["sum_b"]) / n
most = np.sqrt(np.outer(var("a"), var("b")))
i, j = np.unravel_index(most.argmax(), most.shape)
open("units", "w").write("units %d and %d" % (i, j))
for file, factor in ("above", 1.0001), ("below", -1.0001), ("most", 1), ("least", -1):
    t = {k: v.copy() for k, v in s.tensors.items()}
    t[name][i, j] = mean[i, j] + factor * most[i, j]
    mcz.write(file + ".mcz", s.kind, s.meta, t)

# a unit and its multiple, far from 0: their correlation is 1 up to rounding
x = 1e4 + np.random.default_rng(1).standard_normal((100000, 2))
y = 3 * x - 7
meta = {"version": 2, "at": "post", "groups": [{"name": "g", "size": 2}], "images": 100000, "total": 100000, "shards": 1,
        "counted": [0], "taps": [{"name": "g", "group": 0, "start": 0, "count": 2, "samples": 100000}]}
mcz.write("far.mcz", "moments", meta, dict(zip(("0/g/" + p for p in ("sum_a", "sum_b", "sumsq_a", "sumsq_b", "cross")), (
    x.sum(0), y.sum(0), (x * x).sum(0), (y * y).sum(0), x.T @ y))))
END
for file in above below; do
    for how in '' '--measure l2' --signature; do
        fails 3 "$file.mcz: tap layers.0.relu: $(<units): sums*inconsistent" mc-corr $how $file.mcz
    done
done
for file in most least far; do for how in '' '--measure l2' --signature; do mc-corr -q $how $file.mcz >out; done; done
mc-corr -q far.mcz -o far-c.mcz
py <<'END'
c = mcz.read("far-c.mcz").tensors["g"]
assert (abs(c.diagonal() - 1) < 1e-6).all() and abs(c).max() <= 1, c
END

# SPDX-License-Identifier: Apache-2.0
# The correlations, distances and second moments of two networks agree with NumPy's in float64, from the networks' raw activations.
fixture pair

acts() { mc-acts -t 1 --data data.mcz --samples $images "$@"; }

for at in post pre; do
    acts --at $at a.mcz b.mcz -o m.mcz
    mc-corr -q m.mcz -o c.mcz
    mc-corr -q --measure l2 m.mcz -o l2.mcz
    mc-corr -q --measure moment m.mcz -o moment.mcz
    acts --at $at --raw a.mcz -o a.acts
    acts --at $at --raw b.mcz -o b.acts
    py <<'END'
a, b, c, l2, moment = (mcz.read(f) for f in ("a.acts", "b.acts", "c.mcz", "l2.mcz", "moment.mcz"))
worst = farthest = off = 0
assert l2.meta["measure"] == "l2" and l2.meta["at"] == c.meta["at"]
for i, group in enumerate(c.meta["groups"]):
    name = "%d/%s" % (i, a.meta["taps"][i]["name"])
    K = group["size"]
    x, y = (v.tensors[name].astype(np.float64).transpose(1, 0, 2, 3).reshape(K, -1) for v in (a, b))
    for v, dead in (x, group["dead_a"]), (y, group["dead_b"]):
        assert list(np.flatnonzero(v.var(1) <= 1e-10 * v.var(1).max())) == list(dead), name
    with np.errstate(invalid="ignore", divide="ignore"):
        want = np.corrcoef(x, y)[:K, K:]
    want[group["dead_a"], :] = 0
    want[:, group["dead_b"]] = 0
    worst = max(worst, np.abs(c.tensors[group["name"]] - want).max())
    want = np.array([((u - y) ** 2).mean(1) for u in x])
    farthest = max(farthest, (np.abs(l2.tensors[group["name"]] + want) / (1 + want)).max())
    want = x @ y.T / (np.linalg.norm(x) * np.linalg.norm(y))
    off = max(off, np.abs(moment.tensors[group["name"]] - want).max() / np.abs(want).max())
print("largest difference from NumPy: %.2g; of a distance: %.2g; of a moment: %.2g" % (worst, farthest, off))
assert len(moment.tensors) == 8 and off <= 1e-6, off
assert len(c.tensors) == 8 and worst <= 1e-6, worst
assert len(l2.tensors) == 8 and farthest <= 3e-6, farthest
END
done

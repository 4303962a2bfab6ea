# SPDX-License-Identifier: Apache-2.0
# mc-permute moves every group, and each tensor has the units in the order of its group's permutation.
fixture stranger

py <<'EOF'
a, qa, q = (mcz.read(f + ".mcz") for f in ("a", "qa", "q"))
p = q.tensors
assert list(p) == ["stem", "a", "side", "hidden"], list(p)
assert all((np.sort(v) == np.arange(len(v))).all() and (v != np.arange(len(v))).any() for v in p.values())
x, y = a.tensors, qa.tensors
assert (y["stem.weight"] == x["stem.weight"][p["stem"]]).all()
assert (y["b.norm.running_var"] == x["b.norm.running_var"][p["stem"]]).all()
assert (y["b.weight"] == x["b.weight"][p["stem"]][:, p["a"]]).all()
both = np.concatenate([p["stem"], 12 + p["side"]])
places = (both[:, None] * 16 + np.arange(16)).ravel()
assert (y["hidden.weight"] == x["hidden.weight"][p["hidden"]][:, places]).all()
assert (y["head.weight"] == x["head.weight"][:, p["hidden"]]).all()
assert (y["head.bias"] == x["head.bias"]).all()
EOF

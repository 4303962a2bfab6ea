# SPDX-License-Identifier: Apache-2.0
# mc-procrustes with two networks recovers planted maps from matrices that determine them in two directions only: the weights decide
# the others. Without networks it does not. Networks of other groups are refused, and others than those of the matrices reported.
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/mapped_net.py"
mc-convert -q a.safetensors --groups g.tsv -o a.mcz
mc-permute --random 2 --perm-out planted.mcz a.mcz -o moved.mcz
mc-permute --inverse planted.mcz -o back.mcz
py <<'END'
from mcz.writing import history
p = mcz.read("back.mcz")
kinds = {g["name"]: g.pop("map", None) for g in p.meta["groups"]}
def partial(m):  # of rank 2
    x = np.random.RandomState(len(m)).randn(len(m), 2)
    return m.astype("f8") @ x @ x.T
values = {k: partial(v) for k, v in p.tensors.items() if k[:4] != "head"}
inside = np.zeros((2, 4, 2, 4))
for h, u in enumerate(p.tensors["heads"]):
    inside[h, :, u] = partial(p.tensors["head%d" % u])
values["head0"] = inside.reshape(8, 8)
values["mlp"] = p.tensors["mlp"].astype("f8")
values["mlp"][2] = 0  # a unit without data
values["turned"] = p.tensors["turned"] * [1, 0, 1, 0.]  # a pair without data
groups = [{**g, "taps": 1, "dead_a": [], "dead_b": [], **({"allows": kinds[g["name"]]} if kinds[g["name"]] else {})} for g in p.meta["groups"]]
values = {g["name"]: values[g["name"]] for g in groups if g["name"] in values}
meta = {"measure": "moment", "at": "post", "groups": groups}
ids = [mcz.read(f).id for f in ("a.mcz", "moved.mcz")]
mcz.write("c.mcz", "matrices", meta, values, history=history("mcz.torch.moments", dict(zip("ab", ids))))
groups[-1] = {k: v for k, v in groups[-1].items() if k != "allows"}
mcz.write("plain.mcz", "matrices", meta, values)
END
mc-procrustes c.mcz a.mcz moved.mcz -o p.mcz 2>err
grep -qx 'mc-procrustes: 10 directions of 5 groups without data: mapped by the weights (-v lists them)' err || die "$(<err)"
mc-procrustes -q c.mcz -o alone.mcz
for p in p alone; do mc-permute --compose planted.mcz $p.mcz -o $p-one.mcz; done
py <<'END'
def apart(name):
    one = mcz.read(name).tensors
    return max(np.abs(v - (np.arange(2) if k == "heads" else np.eye(len(v)))).max() for k, v in one.items())
assert apart("p-one.mcz") < 1e-5 and apart("alone-one.mcz") > .1, (apart("p-one.mcz"), apart("alone-one.mcz"))
END
mc-procrustes -q -t 1 - a.mcz moved.mcz <c.mcz | same_content - p.mcz
mc-procrustes c.mcz moved.mcz a.mcz 2>err >/dev/null
grep -qx 'mc-procrustes: warning: c.mcz was computed for other networks than moved.mcz and a.mcz, and is applied anyway' err || die "$(<err)"
fails 3 'a.mcz: group turned allows half-turn maps, but the matrix is for permutation maps' mc-procrustes plain.mcz a.mcz moved.mcz
fails 2 'B.mcz' mc-procrustes c.mcz a.mcz

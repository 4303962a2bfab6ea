# SPDX-License-Identifier: Apache-2.0
# mc-procrustes with two networks recovers planted maps from matrices that determine them in two directions only: the weights decide
# the others, and which units without data match. Without networks it does not. Networks of other groups are refused. A warning says
# that the matrices are of other networks. Networks are not read if the data suffice.
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
values["mlp"][1:4] *= 1e-20  # three units of the first network without data, none of the second
values["mlp"][0] += .01
values["turned"] = p.tensors["turned"] * [1, 1e-20, 1, 1e-20]  # a pair without data
groups = [{**g, "taps": 1, "dead_a": [], "dead_b": [], **({"allows": kinds[g["name"]]} if kinds[g["name"]] else {})} for g in p.meta["groups"]]
values = {g["name"]: values[g["name"]] for g in groups if g["name"] in values}
meta = {"measure": "moment", "at": "post", "groups": groups}
ids = [mcz.read(f).id for f in ("a.mcz", "moved.mcz")]
mcz.write("c.mcz", "matrices", meta, values, history=history("mcz.torch.moments", dict(zip("ab", ids))))
groups[-1] = {k: v for k, v in groups[-1].items() if k != "allows"}
mcz.write("plain.mcz", "matrices", meta, values)
END
mc-procrustes c.mcz a.mcz moved.mcz -o p.mcz 2>err
grep -qx 'mc-procrustes: 12 directions of 5 groups without data (mapped by the weights; -v lists them)' err || die "$(<err)"
mc-procrustes -q c.mcz -o alone.mcz
for p in p alone; do mc-permute --compose planted.mcz $p.mcz -o $p-one.mcz; done
py <<'END'
def apart(name):
    one = mcz.read(name).tensors
    return max(np.abs(v - (np.arange(2) if k == "heads" else np.eye(len(v)))).max() for k, v in one.items())
assert apart("p-one.mcz") < 1e-5 and apart("alone-one.mcz") > .1, (apart("p-one.mcz"), apart("alone-one.mcz"))
END
mc-procrustes -q -t 1 - a.mcz moved.mcz <c.mcz | same_content - p.mcz
# weights of 0 decide nothing
py <<'END'
import mcz.safetensors
mcz.safetensors.write("z.safetensors", {k: v * 0 for k, v in mcz.read("a.mcz").tensors.items()})
END
mc-convert -q z.safetensors --groups g.tsv -o z.mcz
mc-procrustes -q c.mcz z.mcz z.mcz -o zero.mcz
py <<'END'
zero, alone = mcz.read("zero.mcz").tensors, mcz.read("alone.mcz").tensors
assert all(np.abs(v - alone[k]).max() < 1e-5 for k, v in zero.items())
END
mc-procrustes c.mcz moved.mcz a.mcz 2>err >/dev/null
grep -qx 'mc-procrustes: warning: c.mcz was computed for other networks than moved.mcz and a.mcz, and is applied anyway' err || die "$(<err)"
fails 3 'a.mcz: the matrices are for other groups (the first is turned)' mc-procrustes plain.mcz a.mcz moved.mcz
mc-corr --measure moment "$MC_ROOT/formats/samples/good-moments.mcz" | mc-procrustes -q - none none -o p.mcz

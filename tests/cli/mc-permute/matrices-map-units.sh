# SPDX-License-Identifier: Apache-2.0
# mc-permute applies maps of every kind as NumPy does: products in float64, rounded once to float32, float16 or bfloat16. It inverts
# and composes them, and --random draws them from the seed. Heads move with the maps inside them. A gate moves
# without signs.
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/mapped_net.py"
for f in a a16 ab; do
    mc-convert -q $f.safetensors --groups g.tsv -o $f.mcz
    mc-permute --random 2 --perm-out p.mcz $f.mcz -o p$f.mcz
done
mc-permute --random 2 a.mcz | same_content - pa.mcz
mc-permute --random 4 --perm-out q.mcz pa.mcz -o qpa.mcz
mc-info --check p.mcz q.mcz pa.mcz >checked
grep -q '"map": *"centred"' <(mc-info --json p.mcz)
grep -q 'float32 *6x6 *stream' <(mc-info p.mcz)
py <<'END'
p = mcz.read("p.mcz")
assert p.meta["version"] == 3 and [g.get("map") for g in p.meta["groups"]] == ["centred", None, "orthogonal", "orthogonal", "signed", "rotation",
                                                                        "half-turn"]
m = {k: v.astype("f8") for k, v in p.tensors.items()}
m["heads"] = np.eye(2)[p.tensors["heads"]]
for k, v in m.items():
    assert np.abs(v @ v.T - np.eye(len(v))).max() < 1e-6, k
assert np.abs(m["stream"].sum(1) - 1).max() < 1e-6 and np.linalg.det(m["rotary"]) > .99 and (np.abs(m["mlp"]).sum(1) == 1).all()
assert (m["mlp"] == -1).any() and (p.tensors["heads"] == [1, 0]).all() and np.abs(m["stream"] - np.round(m["stream"])).max() > .1
S, inner = m["stream"], np.kron(m["heads"], np.eye(4)) @ np.block([[m["head0"], np.zeros((4, 4))], [np.zeros((4, 4)), m["head1"]]])
pairs = m["rotary"].reshape(2, 2, 2, 2)
assert not pairs[:, 0, :, 1].any() and not pairs[:, 1, :, 0].any() and np.linalg.det(pairs[:, 0, :, 0]) > .99
turned, signs = np.eye(6), np.diag(m["turned"])
assert (m["turned"] == np.diag(signs)).all() and (signs[:2] == signs[2:]).all() and set(signs) == {-1, 1}
turned[1:5, 1:5] = m["turned"]
rotary = np.eye(9)
rotary[1:, 1:] = np.kron(m["rotary"], np.eye(2))
for name, kind in ("a", "f4"), ("a16", "f2"), ("ab", "bf16"):
    x, y = mcz.read(name + ".mcz"), mcz.read("p%s.mcz" % name)
    wide = lambda v: ((v.astype("u4") << 16).view("f4") if kind == "bf16" else v).astype("f8")
    t = {k: wide(v) for k, v in x.tensors.items()}
    want = {"emb": t["emb"] @ S.T, "q": inner @ t["q"] @ S.T, "o": S @ t["o"] @ inner.T, "up": m["mlp"] @ t["up"] @ S.T,
            "down": S @ t["down"] @ m["mlp"].T, "gate": abs(m["mlp"]) @ t["gate"] @ S.T,
            "c": np.einsum("ij,jkl", S, t["c"]), "d": np.einsum("ij,ajl->ail", S, t["d"]),
            "r": rotary @ t["r"] @ S.T, "bias": S @ t["bias"], "t": turned @ t["t"] @ S.T}
    step = {"f4": 2.0 ** -24, "f2": 2.0 ** -11, "bf16": 2.0 ** -8}[kind]
    for k, v in y.tensors.items():
        off = np.abs(wide(v) - want[k])
        assert (off <= 1.01 * step * np.abs(want[k]) + 1e-12).all(), (name, k, off.max())  # rounded once
END
# the inverse and compositions: equal up to the rounding of a matrix
mc-permute --inverse p.mcz pa.mcz -o back.mcz
mc-permute --inverse p.mcz -o i.mcz
mc-permute i.mcz pa.mcz | same_content - back.mcz
mc-permute --compose p.mcz q.mcz -o pq.mcz
mc-permute pq.mcz a.mcz -o once.mcz
mc-permute --compose p.mcz i.mcz -o one.mcz
mc-info --check i.mcz pq.mcz one.mcz >checked
py <<'END'
a, back, once, twice, one = (mcz.read(f + ".mcz") for f in ("a", "back", "once", "qpa", "one"))
close = lambda x, y: np.abs(x - y).max() < 3e-6
assert all(close(a.tensors[k], back.tensors[k]) and close(once.tensors[k], twice.tensors[k]) for k in a.tensors)
assert [g.get("map") for g in one.meta["groups"]][:2] == ["centred", None]
assert all(close(v, np.arange(2) if k == "heads" else np.eye(len(v))) for k, v in one.tensors.items())
END
# an assignment has no matrix: a swap of two units is not a rotation, so they stay
py <<'END'
p = mcz.read("p.mcz")
groups = [{k: v for k, v in g.items() if k != "map"} for g in p.meta["groups"]]
tensors = {g["name"]: np.arange(g["size"], dtype="i4") for g in groups}
mcz.write("identity.mcz", "permutation", {"groups": groups}, tensors)
mcz.write("swap.mcz", "permutation", {"groups": groups}, {**tensors, "rotary": np.array([1, 0, 2, 3], "i4")})
END
mc-permute identity.mcz a.mcz | same_content - a.mcz
mc-permute --compose identity.mcz p.mcz | same_content - p.mcz
mc-permute --compose p.mcz identity.mcz | same_content - p.mcz
mc-permute --compose p.mcz p.mcz | mc-info --json - | grep -q '"half-turn"'
fails 3 'swap.mcz: *"rotary" allows rotation maps (got permutation, which would change the function)' mc-permute swap.mcz a.mcz
mc-match -q a.mcz pa.mcz -o matched.mcz
mc-permute matched.mcz pa.mcz -o x.mcz
# networks that allow less, and programs that expect permutations
sed 's/centred/permutation/' g.tsv >less.tsv
mc-convert -q a.safetensors --groups less.tsv -o less.mcz
fails_unchanged 3 'p.mcz: *"stream" allows permutation maps (got centred, which would change the function)' mc-permute p.mcz less.mcz -o x.mcz
for command in "mc-bezier --epochs 0 --perm p.mcz a.mcz a.mcz" "mc-match --init p.mcz a.mcz a.mcz" "mc-permute --join a.mcz p.mcz"; do
    fails 3 'p.mcz: group "stream" has a matrix (a permutation expected; mc-permute applies matrices)' $command
done
mc-permute --join a.mcz pa.mcz -o joint.mcz
fails 3 'p.mcz: a joint set cannot be followed by matrices' mc-permute --compose joint.mcz p.mcz

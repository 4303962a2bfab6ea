# SPDX-License-Identifier: Apache-2.0
# mc-pam writes the same bytes twice. Its curve ends in the permuted second network, and other programs accept both.
fixture pam

both | same curve.mcz -
mc-info --check curve.mcz
mc-eval -q -t 1 --data d.mcz --bn-data d.mcz --points 3 curve.mcz >curve.tsv
expect_equal "$(wc -l <curve.tsv)" 4
expect_equal "$(field log.json permutation outer | wc -l)$(field log.json iteration outer | wc -l)" 11
# the curve's last point is the second network, permuted
mc-bezier -q -t 1 --point 0 --bn-data d.mcz curve.mcz -o first.mcz
mc-bezier -q -t 1 --point 1 --bn-data d.mcz curve.mcz -o last.mcz
py "$(field log.json permutation moved)" <<'END'
curve = mcz.read("curve.mcz")
names = [n[2:] for n in curve.tensors if n.startswith("0/")]
perm = {n: p for n, p in curve.tensors.items() if n.startswith("permutation/")}
assert len(perm) == 2 and all(sorted(p) == list(range(len(p))) for p in perm.values())
assert sum(np.sum(p != np.arange(len(p))) for p in perm.values()) == int(sys.argv[1])
for point, nets in ("0", ("n1", "first")), ("2", ("pb", "last")):
    for net in nets:
        w = mcz.read(net + ".mcz").tensors
        assert all(np.array_equal(curve.tensors[point + "/" + n], w[n]) for n in names), net
b = mcz.read("n2.mcz").tensors
assert any(not np.array_equal(curve.tensors["2/" + n], b[n]) for n in names)
END
mc-permute --verify d.mcz curve.mcz n2.mcz >/dev/null
mc-permute --inverse curve.mcz pb.mcz -o back.mcz
same_content back.mcz n2.mcz

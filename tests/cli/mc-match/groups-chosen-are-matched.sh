# SPDX-License-Identifier: Apache-2.0
# mc-match --groups aligns the chosen groups only; the others stay the identity, or as in --init. Chosen heads move whole and
# keep their order inside; channels are matched in heads that stay. Each result is the best of all such permutations.
py <<'END'
from mcz import groups, safetensors
draw, heads, width = np.random.RandomState(4), 3, 4
shapes = {"qkv.weight": (12, 6), "out.weight": (6, 12), "up.weight": (7, 6), "down.weight": (6, 7), "free": (5, 5)}
rows = [groups.Row("qkv.weight", 0, 0, heads, width, "heads"), groups.Row("out.weight", 1, 0, heads, width, "heads"),
        groups.Row("up.weight", 0, 0, 7, 1, "mlp"), groups.Row("down.weight", 1, 0, 7, 1, "mlp")]
for h in range(heads):
    rows += [groups.Row("qkv.weight", 0, h * width, width, 1, "head%d" % h), groups.Row("out.weight", 1, h * width, width, 1, "head%d" % h)]
groups.write("g.tsv", groups.rows(rows, shapes)[0])
for n in "a", "b":
    safetensors.write(n + ".safetensors", {k: draw.randn(*s).astype("f4") for k, s in shapes.items()})
END
for n in a b; do mc-convert $n.safetensors --groups g.tsv -o $n.mcz; done
mc-match -q a.mcz b.mcz -o all.mcz
mc-match -q --groups '*' a.mcz b.mcz | same_content - all.mcz
mc-match -q --groups 'head?,heads,mlp' a.mcz b.mcz | same_content - all.mcz
for case in mlp:mlp units:heads inside:'head?' one:head1 mixed:heads,head2; do
    mc-match -v --groups "${case#*:}" a.mcz b.mcz -o ${case%%:*}.mcz 2>${case%%:*}.log
done
mc-match -q --groups mlp --init units.mcz a.mcz b.mcz -o both.mcz
mc-match -q --groups heads,mlp a.mcz b.mcz -o together.mcz
py <<'END'
from fnmatch import fnmatch
from itertools import permutations, product
a, b = (mcz.read(n + ".mcz").tensors for n in ("a", "b"))
chosen = {"mlp": ["mlp"], "units": ["heads"], "inside": ["head?"], "one": ["head1"], "mixed": ["heads", "head2"]}
names, heads, width = ["heads", "mlp", "head0", "head1", "head2"], 3, 4
dot = a["qkv.weight"].astype("f8") @ b["qkv.weight"].T + a["out.weight"].T.astype("f8") @ b["out.weight"]
mlp = a["up.weight"].astype("f8") @ b["up.weight"].T + a["down.weight"].T.astype("f8") @ b["down.weight"]
for case, allowed in chosen.items():
    s, log = mcz.read(case + ".mcz", "permutation"), open(case + ".log").read()
    may = {n: any(fnmatch(n, p) for p in allowed) for n in names}
    value = lambda order, inner: sum(dot[h * width + i, u * width + inner[u][i]] for h, u in enumerate(order) for i in range(width))
    inner = {}
    for h, u in product(range(heads), repeat=2):  # the best order inside for each place
        ways = permutations(range(width)) if may["head%d" % u] else [tuple(range(width))]
        inner[h, u] = max(ways, key=lambda p: sum(dot[h * width + i, u * width + p[i]] for i in range(width)))
    orders = list(permutations(range(heads)) if may["heads"] else [tuple(range(heads))])
    found = max(orders, key=lambda order: value(order, {u: inner[h, u] for h, u in enumerate(order)}))
    assert tuple(s.tensors["heads"]) == found, case
    assert all(tuple(s.tensors["head%d" % u]) == inner[h, u] for h, u in enumerate(found)), case
    if not may["mlp"]:
        assert list(s.tensors["mlp"]) == list(range(7)), case
    moved = [n for n in names if list(s.tensors[n]) != sorted(s.tensors[n])]
    assert moved and all(may[n] for n in moved), (case, moved)
    assert ["groups", ",".join(allowed)] in s.history[-1]["args"]
    for g in s.meta["groups"]:
        assert ("value" in g) == may[g["name"]] == ("%s: %d units, kept" % (g["name"], g["size"]) not in log), (case, g)
both, together = (mcz.read(n + ".mcz").tensors for n in ("both", "together"))
assert all((both[n] == p).all() for n, p in together.items())
from scipy.optimize import linear_sum_assignment
assert list(mcz.read("mlp.mcz").tensors["mlp"]) == list(linear_sum_assignment(mlp, maximize=True)[1])
END
fails_unchanged 2 "--groups: 'haeds' matches no group*a.mcz*mean 'heads'" mc-match --groups haeds a.mcz b.mcz -o no.mcz
# also in a network with a graph
fixture pair
group=$(mc-match -v a.mcz b.mcz 2>&1 >/dev/null | sed -n 's/^mc-match: \(.*\): [0-9]* units.*/\1/p' | sed -n 2p)
mc-match -v --groups "$group" a.mcz b.mcz 2>log >p.mcz
expect_equal "$(grep -c ' units, kept' log)" "$(($(grep -c ' units, ' log) - 1))"
mc-permute -v p.mcz b.mcz 2>&1 >/dev/null | awk -v g="mc-permute: $group:" 'index($0, g) == 1 { moved = $3 } index($0, g) != 1 && $3 > 0 { exit 1 } END { if (!moved) exit 1 }' ||
    die "$(mc-permute -v p.mcz b.mcz 2>&1 >/dev/null)"

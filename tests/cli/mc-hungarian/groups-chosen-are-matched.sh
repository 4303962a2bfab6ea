# SPDX-License-Identifier: Apache-2.0
# mc-hungarian --groups matches the chosen groups only, as SciPy does, and the others stay the identity: with groups in units,
# whole units that keep their order inside, and units that stay while their insides are matched.
py <<'END'
draw, heads, width = np.random.RandomState(3), 4, 5
names = ["mlp", "heads"] + ["head%d.%s" % (h, k) for h in range(heads) for k in ("qk", "v")] + ["out"]
sizes = {"mlp": 7, "heads": heads, "out": 6}
groups, tensors = [], {}
for n in names:
    g = {"name": n, "size": sizes.get(n, width), "taps": 0 if n == "heads" else 1, "dead_a": [], "dead_b": []}
    if n.startswith("head") and n != "heads":
        g.update(within=names.index("heads"), unit=int(n[4]))
        g["taps"] = int(n[4] == "0")
    groups.append(g)
    if n in ("mlp", "out"):
        tensors[n] = draw.uniform(-1, 1, (g["size"],) * 2)
    if n.startswith("head0"):
        tensors[n] = draw.uniform(-1, 1, (heads * width,) * 2)
mcz.write("m.mcz", "matrices", {"measure": "correlation", "at": "post", "groups": groups}, tensors)
END
mc-info --check -q m.mcz
mc-hungarian -q m.mcz -o all.mcz
mc-hungarian -q --groups '*' m.mcz | same_content - all.mcz
while read -r n patterns; do mc-hungarian -v --groups "$patterns" m.mcz -o $n.mcz 2>$n.log; done <<'END'
mlp mlp
units heads
inside head?.*
some head?.v,out
mixed heads,head1.qk,mlp
END
py <<'END'
from fnmatch import fnmatch
from itertools import permutations
from scipy.optimize import linear_sum_assignment
m, patterns = mcz.read("m.mcz"), {"mlp": ["mlp"], "units": ["heads"], "inside": ["head?.*"], "some": ["head?.v", "out"],
                                  "mixed": ["heads", "head1.qk", "mlp"]}
names, width, heads = [g["name"] for g in m.meta["groups"]], 5, 4

def best(matrix, chosen):
    """(value, permutation)"""
    p = linear_sum_assignment(matrix, maximize=True)[1] if chosen else np.arange(len(matrix))
    return matrix[np.arange(len(p)), p].sum(), list(p)

for case, allowed in patterns.items():
    s, log = mcz.read(case + ".mcz", "permutation"), open(case + ".log").read()
    chosen = {n: any(fnmatch(n, a) for a in allowed) for n in names}
    expected = {n: best(m.tensors[n], chosen[n])[1] for n in ("mlp", "out")}
    pair = {(h, u, k): best(m.tensors["head0." + k][h * width:][:width, u * width:][:, :width], chosen["head%d.%s" % (u, k)])
            for h in range(heads) for u in range(heads) for k in ("qk", "v")}
    orders = permutations(range(heads)) if chosen["heads"] else [tuple(range(heads))]
    units = max(orders, key=lambda order: sum(pair[h, u, k][0] for h, u in enumerate(order) for k in ("qk", "v")))
    expected["heads"] = list(units)
    expected.update(("head%d.%s" % (u, k), pair[h, u, k][1]) for h, u in enumerate(units) for k in ("qk", "v"))
    for g in s.meta["groups"]:
        n = g["name"]
        assert list(s.tensors[n]) == expected[n], (case, n)
        assert ("value" in g) == chosen[n] == ("%s: %d units, kept" % (n, g["size"]) not in log), (case, n)
    moved = [n for n in names if list(s.tensors[n]) != list(range(len(s.tensors[n])))]
    assert moved and all(chosen[n] for n in moved), case
    assert s.history[-1]["args"] == [["groups", ",".join(allowed)]], s.history
END
fails_unchanged 2 "--groups: 'mpl' matches no group*m.mcz*mean 'mlp'*mlp, heads, head0.qk, head0.v, head1.qk" \
    mc-hungarian --groups 'mlp,mpl' m.mcz -o no.mcz
fails_unchanged 2 "--groups: '' matches no group*m.mcz" mc-hungarian --groups '' m.mcz -o no.mcz

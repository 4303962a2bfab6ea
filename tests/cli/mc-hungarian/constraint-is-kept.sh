# SPDX-License-Identifier: Apache-2.0
# mc-hungarian --constraint is kept, and its value is at most the bound that NumPy confirms; a loose one changes nothing.
fixture constrained

mc-hungarian -v -t 1 --constraint pre.mcz post.mcz -o p.mcz 2>errors
mc-hungarian -q -t 2 --constraint pre.mcz <post.mcz | same p.mcz -
cat pre.mcz | MC_ISA=portable mc-hungarian -q --constraint - post.mcz | same p.mcz -
expect_equal "$(grep -cE '^mc-hungarian: (first|second): [0-9]+ units, value -[0-9.]+ \(mean -[0-9.]+\), gap [0-9.e-]+, 0 in ties, multiplier [0-9.e-]+, slack [0-9.e-]+, unconstrained -[0-9.]+$' errors)" 2
py <<'END'
import math
post, pre, free, p = (mcz.read(f + ".mcz") for f in ("post", "pre", "free", "p"))
for g, f in zip(p.meta["groups"], free.meta["groups"]):
    k, K = g["name"], g["size"]
    perm = p.tensors[k]
    slack = math.fsum(list(pre.tensors[k][range(K), perm]) + list(-pre.tensors[k].diagonal()))
    value = math.fsum(post.tensors[k][range(K), perm])
    freely = pre.tensors[k][range(K), free.tensors[k]].sum() - pre.tensors[k].trace()
    assert slack >= 0 > freely, (slack, freely)  # it binds, and is kept
    assert abs(value - g["value"]) < 1e-12 and abs(g["bound"] - value - g["gap"]) < 1e-12
    assert post.tensors[k].trace() - 1e-12 < value <= g["bound"] + 1e-12 < f["value"]
    assert 0 <= g["gap"] < (.1 if K == 40 else .2) * (f["value"] - post.tensors[k].trace()), g
END
mc-info p.mcz | grep -q 'constraint=l2'
# a loose constraint: the plain permutation
mc-hungarian --constraint loose.mcz post.mcz --no-history -o x.mcz
py <<'END'
x, free = mcz.read("x.mcz"), mcz.read("free.mcz")
assert x.meta == free.meta and all((x.tensors[k] == free.tensors[k]).all() for k in free.tensors)
END

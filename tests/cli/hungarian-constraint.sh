# SPDX-License-Identifier: Apache-2.0
# mc-hungarian --constraint: the permutation keeps the constraint and is worth no more than its bound, which
# NumPy confirms; where nothing binds it is the plain one; what does not belong together is refused.
. "$MC_ROOT/tests/cli/lib.bash"

# matrices NAME MEASURE AT CORNER: two groups; the identity's entries are CORNER
matrices() {
    /usr/bin/python3 - "$MC_ROOT" "$@" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
name, measure, at, corner = sys.argv[2:6]
draw = np.random.RandomState(sum(name.encode()))
tensors = {"first": -draw.rand(40, 40), "second": -draw.rand(9, 9)}
for t in tensors.values():
    if corner:
        np.fill_diagonal(t, float(corner))
groups = [{"name": k, "size": len(t), "taps": 1, "dead_a": [], "dead_b": []} for k, t in tensors.items()]
mcz.write(name, "matrices", {"measure": measure, "at": at, "groups": groups}, tensors)
END
}
matrices post.mcz l2 post ''
matrices pre.mcz l2 pre -.1
matrices loose.mcz l2 pre -1

mc-hungarian post.mcz -o free.mcz
mc-hungarian -v -t 1 --constraint pre.mcz post.mcz -o p.mcz 2>told
mc-hungarian -q -t 2 --constraint pre.mcz <post.mcz >x.mcz && same p.mcz x.mcz
cat pre.mcz | MC_ISA=portable mc-hungarian -q --constraint - post.mcz >x.mcz && same p.mcz x.mcz
grep -cE '^mc-hungarian: (first|second): [0-9]+ units, value -[0-9.]+ \(mean -[0-9.]+\), gap [0-9.e-]+, 0 in ties, multiplier [0-9.e-]+, slack [0-9.e-]+, unconstrained -[0-9.]+$' told |
    grep -qx 2 || die "$(cat told)"
/usr/bin/python3 - "$MC_ROOT" <<'END'
import math
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
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
grep -q 'constraint=l2' <(mc-info p.mcz)

# nothing binds: the plain permutation
mc-hungarian --constraint loose.mcz post.mcz --no-history -o x.mcz
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
x, free = mcz.read("x.mcz"), mcz.read("free.mcz")
assert x.meta == free.meta and all((x.tensors[k] == free.tensors[k]).all() for k in free.tensors)
END

# what does not belong together, and what is damaged: nothing is written
fails 3 "post.mcz: is of activations after the ReLU, not before it" mc-hungarian --constraint post.mcz pre.mcz
fails 3 "pre.mcz: is of activations before the ReLU, not after it" mc-hungarian --constraint loose.mcz pre.mcz
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
s = mcz.read("pre.mcz")
groups, (first, second) = s.meta["groups"], s.tensors.values()
mcz.write("fewer.mcz", s.kind, dict(s.meta, groups=groups[:1]), {"first": first})
groups[1]["name"] = "other"
mcz.write("other.mcz", s.kind, s.meta, {"first": first, "other": second})
groups[1].update(name="second", size=8)
mcz.write("narrow.mcz", s.kind, s.meta, {"first": first, "second": second[:8, :8].copy()})
END
fails 3 "fewer.mcz has 1 group, post.mcz has 2" mc-hungarian --constraint fewer.mcz post.mcz
fails 3 "other.mcz has other of 9 units where stdin has second of 9" \
    mc-hungarian --constraint other.mcz <post.mcz
fails 3 "narrow.mcz has second of 8 units" mc-hungarian --constraint narrow.mcz post.mcz -o x.mcz
head -c $(($(stat -c %s pre.mcz) - 1)) pre.mcz >cut.mcz
cp p.mcz old.mcz
fails 3 "cut.mcz: " mc-hungarian --constraint cut.mcz post.mcz -o old.mcz
same p.mcz old.mcz
fails 3 "is a permutation stream, not" mc-hungarian --constraint p.mcz post.mcz
fails 1 "cannot open 'nothing.mcz'" mc-hungarian --constraint nothing.mcz post.mcz
fails 2 "only one input can be standard input" mc-hungarian --constraint - </dev/null
no_temporaries

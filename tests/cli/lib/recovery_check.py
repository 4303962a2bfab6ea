# SPDX-License-Identifier: Apache-2.0
"""recovery_check.py PLANTED FOUND MATRICES [LAYER UNIT...]: check that FOUND inverts PLANTED in every
group. Units that MATRICES lists as dead may be permuted among themselves; each UNIT of LAYER must be listed."""
import sys

import mcz
from channels import channels

planted, found, matrices = (mcz.read(f) for f in sys.argv[1:4])
groups = {g["name"]: g for g in matrices.meta["groups"]}
assert list(planted.tensors) == list(found.tensors) == list(groups)
moved = channels(planted)
assert list(moved) == list(matrices.tensors)
for name, p in channels(found).items():
    q, dead = moved[name], set(groups[name]["dead_a"])
    assert sorted(q[i] for i in groups[name]["dead_b"]) == sorted(dead), name
    assert len(dead) < len(p) / 4, name  # more would prove nothing
    wrong = {i for i in range(len(p)) if q[p[i]] != i}
    assert wrong <= dead and {q[p[i]] for i in wrong} <= dead, (name, wrong, dead)
if len(sys.argv) > 4:
    assert {int(u) for u in sys.argv[5:]} <= set(groups[sys.argv[4]]["dead_a"]), groups[sys.argv[4]]

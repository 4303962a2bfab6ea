# SPDX-License-Identifier: Apache-2.0
# mc-procrustes recovers planted maps of every kind from moments of random activations. On noisy activations it agrees with NumPy and
# SciPy: polar factors, also in the complement of the ones; rotations; assignments; heads by the nuclear norms of all pairs. Directions
# without data are counted. Second moments agree too.
/usr/bin/python3 -c 'import scipy' 2>/dev/null || exit 77
/usr/bin/python3 "$MC_ROOT/tests/parity/procrustes.py" plant 0 moments.mcz
mc-corr --measure moment moments.mcz -o c.mcz
mc-procrustes -v c.mcz -o p.mcz 2>report
grep -q 'free: 6 units, orthogonal, value .*, 2 directions without data' report || die "$(<report)"
grep -q '2 directions of 1 group without data (give the networks to map them by weights' report
/usr/bin/python3 "$MC_ROOT/tests/parity/procrustes.py" planted p.mcz
mc-corr --measure moment moments.mcz | mc-procrustes -q | same_content - p.mcz
mc-procrustes -q -t 1 c.mcz | same_content - p.mcz
/usr/bin/python3 "$MC_ROOT/tests/parity/procrustes.py" plant 1 moments.mcz
mc-corr --measure moment moments.mcz -o c.mcz
mc-procrustes -q c.mcz -o p.mcz
/usr/bin/python3 "$MC_ROOT/tests/parity/procrustes.py" best moments.mcz c.mcz p.mcz
mc-info --check moments.mcz c.mcz p.mcz >checked
# without `allows` it is mc-hungarian
fixture matrices
mc-procrustes -q m.mcz -o p.mcz
mc-hungarian -q m.mcz -o h.mcz
py <<'END'
p, h = mcz.read("p.mcz"), mcz.read("h.mcz")
assert p.meta == h.meta and all((v == h.tensors[k]).all() for k, v in p.tensors.items())
END

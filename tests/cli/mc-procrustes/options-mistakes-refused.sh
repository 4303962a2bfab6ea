# SPDX-License-Identifier: Apache-2.0
# mc-procrustes refuses wrong options, other streams, and distances for groups that allow more than permutations; a failing
# upstream ends it. It pins the wording of its messages.
matrices=$MC_ROOT/formats/samples/good-matrices.mcz
fails_with 3 "$MC_ROOT/formats/samples/good-moments.mcz: matrices expected, got moments: run mc-corr first" \
    mc-procrustes "$MC_ROOT/formats/samples/good-moments.mcz"
fails_with 2 "--threads: 'none' is not a whole number from 1 to 1024" mc-procrustes -t none "$matrices"
fails_with 2 "missing: operand B.mcz (see --help)" mc-procrustes "$matrices" a.mcz
fails_with 2 "unexpected argument 'x' (expected: MATRICES.mcz A.mcz B.mcz)" mc-procrustes "$matrices" a.mcz b.mcz x
{ head -c 200 "$matrices"; exit 1; } | mc-procrustes 2>err | fails 3 'stdin: is empty' mc-info --check -
expect_equal "$(wc -l <err)" 1
py <<'END'
group = {"name": "g", "size": 3, "taps": 1, "dead_a": [], "dead_b": []}
def write(name, measure, value, **more):
    mcz.write(name, "matrices", {"measure": measure, "at": "post", "groups": [{**group, **more}]}, {"g": np.full((3, 3), value)})
write("l2.mcz", "l2", -1., allows="orthogonal")
write("plain.mcz", "l2", -1.)
write("huge.mcz", "moment", 1e308, allows="orthogonal")
write("zero.mcz", "moment", 0., allows="centred")
END
fails_with 3 'l2.mcz: group g allows orthogonal maps, but the measure is l2 (moment or correlation expected)' mc-procrustes l2.mcz
mc-procrustes -q plain.mcz -o p.mcz
fails_unchanged 3 'huge.mcz: g: the sum of matched values is not finite' mc-procrustes huge.mcz -o p.mcz
# without data the map is the identity
mc-procrustes zero.mcz -o p.mcz 2>err
grep -qx 'mc-procrustes: 2 directions of 1 group without data (give the networks to map them by weights; -v lists them)' err
py <<'END'
assert np.abs(mcz.read("p.mcz").tensors["g"] - np.eye(3)).max() < 1e-6
END

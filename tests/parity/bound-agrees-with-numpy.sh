# SPDX-License-Identifier: Apache-2.0
# mc-bound agrees with NumPy in float64, from the networks and their raw pre-activations. tests/parity/bound.py asserts the
# paper's bounds, and when they are tight.
bound=$MC_ROOT/tests/parity/bound.py
fixture bounded

for s in 1 2; do mc-acts -q -t 1 --data d.mcz --samples 80 --at pre --raw n$s.mcz -o $s.acts; done
mc-bound n1.mcz n2.mcz m.mcz p.mcz --path ours.tsv >ours
/usr/bin/python3 "$bound" n1.mcz n2.mcz 1.acts 2.acts p.mcz >numpy.tsv
py <<'END_OF_PYTHON'
ours, want = (np.genfromtxt(f, names=True) for f in ("ours.tsv", "numpy.tsv"))
assert len(ours) == len(want) == 65 and ours.dtype.names == want.dtype.names == ("t", "unaligned", "aligned")
worst = max(np.abs(ours[k] - want[k]).max() / want[k].max() for k in ours.dtype.names)
print("largest difference from NumPy, relative to the maximum: %.2g" % worst)
assert worst <= 1e-6, worst  # distances come from float32 blocks
rows = [line.split("\t") for line in open("ours")]
assert [r[0] for r in rows] == ["permutation", "unaligned", "aligned"]
for way, most, at, mean in rows[1:]:
    v = want[way]
    assert abs(float(most) / v.max() - 1) < 1e-6 and abs(float(mean) / v.mean() - 1) < 1e-6, way
    assert abs(float(at) - want["t"][v.argmax()]) < 1e-3
END_OF_PYTHON

/usr/bin/python3 "$bound" >theory || die "$(cat theory)"
expect_equal "$(grep -c . theory)" 20

# SPDX-License-Identifier: Apache-2.0
# On the images of the moments, the measured loss at every point of the straight line is below mc-bound's bound plus the
# line between the ends' losses, unaligned and aligned.
fixture bounded

mc-permute p.mcz n2.mcz -o aligned.mcz
cp n2.mcz unaligned.mcz
mc-bound n1.mcz n2.mcz m.mcz p.mcz --points 33 --path bound.tsv >summary
for way in unaligned aligned; do
    mc-bezier -q --epochs 0 n1.mcz $way.mcz | mc-eval -q -t 1 --data d.mcz --samples 80 --points 33 -o $way.tsv
done
py <<'END'
bound = np.genfromtxt("bound.tsv", names=True)
for way in "unaligned", "aligned":
    m = np.genfromtxt(way + ".tsv", names=True)
    t, loss, b = m["t"], m["trainloss"], bound[way]
    assert len(t) == 33 and np.abs(t - bound["t"]).max() < 1e-8
    rise = loss - (1 - t) * loss[0] - t * loss[-1]
    assert rise.max() > .01, (way, rise.max())  # the barrier exists
    assert (rise <= b + 1e-5).all(), (way, rise - b)
    assert b[0] == b[-1] == 0 and (b[1:-1] > 0).all()
assert (bound["aligned"] <= bound["unaligned"]).all() and bound["aligned"].max() < .95 * bound["unaligned"].max()
END

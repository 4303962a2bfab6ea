# SPDX-License-Identifier: Apache-2.0
# On a logarithmic axis, mc-plot draws losses of 0 at the foot and counts them in a warning. It refuses the axis if no loss
# is above 0 or one is below.
head='t\ttest.loss\ttest.accuracy\n'
printf "$head"'0\t0.000000\t100\n.25\t.002\t99\n.5\t1.3\t68\n.75\t0\t99\n1\t.000001\t100\n' >some.tsv
printf "$head"'0\t.01\t100\n.25\t.2\t99\n.5\t1.3\t68\n.75\t.3\t99\n1\t.02\t100\n' >none.tsv
printf "$head"'0\t0\t100\n.5\t0\t100\n1\t0\t100\n' >all.tsv
printf "$head"'0\t.1\t100\n.5\t-.2\t100\n1\t.1\t100\n' >below.tsv
sed 's/^\.5\t1\.3/.5\t0/; s/^\.75\t0/.75\t.1/' some.tsv >other.tsv
for e in 1:.5 2:.1 3:0; do printf '{"event":"epoch","epoch":%s,"loss":%s,"accuracy":50}\n' ${e%:*} 0${e#*:}; done | sed 's/00,/0,/' >log.json
warns() { # TEXT PICTURE ARGUMENT...
    mc-plot "${@:3}" -o "$2" 2>errors
    expect_equal "$(<errors)" "${1:+mc-plot: warning: $1}"
}
rule="drawn below the logarithmic axis, at '0'"
warns "some: 2 of 5 losses are 0: $rule" some.svg path --log-loss some.tsv
warns "a: 1 of 5 losses are 0: $rule" mean.svg path --log-loss a=some.tsv,other.tsv none.tsv
warns "log: 1 of 3 losses are 0: $rule" log.svg log --log-loss log.json
warns '' none.svg path --log-loss none.tsv
warns '' linear.svg path some.tsv
warns '' fit.svg path --log-loss none.tsv --fit all.tsv
fails 3 "all.tsv: --log-loss requires losses above 0 (all are 0)" mc-plot path --log-loss all.tsv
fails 3 "below.tsv: --log-loss requires losses above 0 (got -0.2)" mc-plot path --log-loss below.tsv
py <<'P'
from picture import *
def places(name):
    """The heights of the markers from the left, and of the 0 on the loss axis."""
    p = Picture(name)
    zero = [t.y for t in p.texts if t.text == "0" and t.anchor == "end" and t.x < p.panels()[0][0]]
    return [y for _, y in sorted(p.markers(FIRST, 0))], zero, p.panels()[0]
for name, at in ("some.svg", [0, 3]), ("log.svg", [2]):
    markers, zero, frame = places(name)
    assert len(markers) == (5 if name == "some.svg" else 3) and len(zero) == 1, (name, markers, zero)
    for i, y in enumerate(markers):
        assert (abs(y - markers[at[0]]) < .1) == (i in at), (name, markers)
        assert frame[1] <= y <= frame[3], (name, markers, frame)
    assert markers[at[0]] == max(markers) and abs(zero[0] - markers[at[0]]) < 7, (name, zero, markers)
for name in "none.svg", "linear.svg", "fit.svg":
    assert (len(places(name)[1]) == 1) == (name == "fit.svg"), (name, places(name))
P

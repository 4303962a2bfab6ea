# SPDX-License-Identifier: Apache-2.0
# On a logarithmic axis, mc-plot draws losses of 0 on a dotted line at the foot and counts them in a warning. It refuses the axis
# if no loss is above 0 or one is below.
head='t\ttest.loss\ttest.accuracy\n'
printf "$head"'0\t0.000000\t100\n.25\t.002\t99\n.5\t1.3\t68\n.75\t0\t99\n1\t.000001\t100\n' >some.tsv
printf "$head"'0\t.01\t100\n.25\t.2\t99\n.5\t1.3\t68\n.75\t.3\t99\n1\t.02\t100\n' >none.tsv
printf "$head"'0\t0\t100\n.5\t0\t100\n1\t0\t100\n' >all.tsv
printf "$head"'0\t.1\t100\n.5\t-.2\t100\n1\t.1\t100\n' >below.tsv
sed 's/^\.5\t1\.3/.5\t0/; s/^\.75\t0/.75\t.1/' some.tsv >other.tsv
printf '{"event":"epoch","epoch":%d,"loss":%s,"accuracy":50}\n' 1 .5 2 .1 3 0 | sed 's/:\./:0./' >log.json
py <<'P'
import contextlib, io
from picture import *

def draw(warning, *arguments):
    """Returns the loss' panel."""
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        p = Picture(arguments[0], "--log-loss", *arguments[1:])
    p.check_texts()
    rule = "drawn below the logarithmic axis, at '0'"
    assert errors.getvalue() == (warning and "mc-plot: warning: %s losses are 0: %s\n" % (warning, rule)), errors.getvalue()
    assert not any(panel.arrows for panel in p.panels), "a zero does not leave the frame"
    return p.panels[0]

for panel, zeros in ((draw("some: 2 of 5", "path", "some.tsv"), [0, 3]), (draw("log: 1 of 3", "log", "log.json"), [2]),
                     (draw("a: 1 of 5", "path", "a=some.tsv,other.tsv", "none.tsv"), [0]), (draw("", "path", "none.tsv", "--fit", "all.tsv"), [])):
    foot, = [place for value, place in numbers(panel.y) if value == 0]
    dotted, = [a for a in panel.axes.lines if a.get_linestyle() == ":"]
    assert list(dotted.get_ydata()) == [foot, foot]
    bottom, top = panel.axes.get_ylim()
    y = panel.lines[0].points[:, 1]
    assert [i for i in range(len(y)) if y[i] == foot] == zeros, (foot, y)
    assert bottom < foot == min(foot, *y) and max(y) < top, (foot, y)
    assert len(panel.lines[0].marked) == len(y)
    assert all(foot < place for value, place in numbers(panel.y) if value), numbers(panel.y)
for panel in draw("", "path", "none.tsv"), Picture("path", "some.tsv").panels[0]:
    assert not [a for a in panel.axes.lines if a.get_linestyle() == ":"]
assert 0 not in [value for value, _ in numbers(draw("", "path", "none.tsv").y)]
P
mc-plot path --log-loss some.tsv -o some.svg 2>errors
expect_equal "$(<errors)" "mc-plot: warning: some: 2 of 5 losses are 0: drawn below the logarithmic axis, at '0'"
fails 3 "all.tsv: --log-loss requires losses above 0 (all are 0)" mc-plot path --log-loss all.tsv
fails 3 "below.tsv: --log-loss requires losses above 0 (got -0.2)" mc-plot path --log-loss below.tsv

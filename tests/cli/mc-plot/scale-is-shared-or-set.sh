# SPDX-License-Identifier: Apache-2.0
# --fit and --fit-data give compared pictures the same scale; --y-range and a plane's ranges set it. A path's own scale
# separates its lines. A line that leaves the frame has arrows at the edge, and its extreme value next to the first one.
fixture tables
for s in .3:low 1.4:high; do
    awk -v m=${s%:*} 'BEGIN { OFS = "\t"; print "t", "test.loss", "test.accuracy", "test.robust.loss", "test.robust.accuracy"
        for (i = 0; i <= 16; i++) { b = m * 4 * (i / 16) * (1 - i / 16); print i / 16, .3 + b, 90 - 30 * b, 1.2 + b, 50 - 20 * b } }' >${s#*:}.tsv
done
awk 'NR > 1 { $3 *= 4; $4 -= 20 } 1' FS='\t' OFS='\t' plane.tsv >steep.tsv
sed 's/0\.0\([0-9]\)/-0.3\1/' sig.tsv >negative.tsv
awk 'NR > 1 { $2 = .3 + ($2 - .3) * 8 } 1' FS='\t' OFS='\t' high.tsv >far.tsv
cp high.tsv high2.tsv
printf 'layer\tunits\tidentity\tpermuted\tdead_a\tdead_b\nx\t4\t.1\t.5\t0\t0\ny\t4\t.2\t.55\t0\t0\n' >layers.tsv
py <<'P'
from picture import *

def draw(arguments):
    p = Picture(*arguments.split())
    p.check_texts()
    return p

def axes(arguments, names="y"):
    """The numbers of each panel's axis."""
    return [[v for v, _ in numbers(getattr(panel, names))] for panel in draw(arguments).panels]

# --fit and --fit-data
low, both = axes("path low.tsv"), axes("path low.tsv --fit high.tsv")
assert both == axes("path high.tsv --fit x=low.tsv") != low and both[0][-1] >= 1.6 > low[0][-1], (both, low)
assert axes("path low.tsv --fit low.tsv") == low
clean = axes("path low.tsv --data test --fit-data test.robust")
assert clean == axes("path low.tsv --data test.robust --fit-data test") != low
(_, top), (bottom, high) = (panel.axes.get_ylim() for panel in draw("path low.tsv --fit-data test.robust").panels)
assert top > 1.5 and bottom < 44 and high > 90, (top, bottom, high)
assert axes("signature sig.tsv --fit negative.tsv") == axes("signature negative.tsv --fit sig.tsv") != axes("signature sig.tsv")
fit = axes("plane plane.tsv --fit steep.tsv", "colours")
assert fit == axes("plane steep.tsv --fit plane.tsv", "colours") != axes("plane plane.tsv", "colours"), fit

# ranges
loss, accuracy = axes("plane plane.tsv --loss-range 0:20 --accuracy-range 0:100", "colours")
assert (loss[0], loss[-1], accuracy[0], accuracy[-1]) == (0, 20, 0, 100), (loss, accuracy)
assert [panel.axes.images[0].get_clim() for panel in draw("plane plane.tsv --loss-range 1:2.25").panels][0] == (1, 2.25)
loss, accuracy = axes("log log.json --y-range 0:8")
assert (loss[0], loss[-1]) == (0, 8) and accuracy == axes("log log.json")[1], (loss, accuracy)
assert draw("signature sig.tsv --y-range -.5:.75").panels[0].axes.get_ylim() == (-.5, .75)
p = draw("path low.tsv high.tsv --y-range ,40:100")
assert p.panels[0].axes.get_ylim() == draw("path low.tsv high.tsv").panels[0].axes.get_ylim() and p.panels[1].axes.get_ylim() == (40, 100)

# high leaves the frame twice in each panel: its ends are .3 and 90, its middle 1.7 and 48; low does not
given = draw("path low.tsv high.tsv --y-range 0.25:0.7,76:92")
assert given.labels == ["low", "high"]
for panel, marker, edge, extreme in zip(given.panels, "^v", (.7, 76), ("1.7", "48")):
    assert [a[:2] for a in panel.arrows] == [(SECOND, marker)] * 2 and {a[3] for a in panel.arrows} == {edge}, panel.arrows
    left, right = (a[2] for a in panel.arrows)
    at = (1 - (1 - .4 / 1.4) ** .5) / 2  # where its parabola has the height .4, or 12 points of accuracy less than 90: .4 too
    at = at if panel is given.panels[0] else (1 - (1 - (14 / 30) / 1.4) ** .5) / 2
    assert abs(left - at) < .01 and abs(left + right - 1) < 1e-9, (left, right, at)
    text, = [t for t in given.texts if t.text == extreme and t.colour == SECOND]
    x, y = panel.axes.transData.transform((left, edge))
    assert abs(text.corners - (x, y)).min(0).max() < 20, (text, x, y)
# without an outer neighbour, the arrow is at the outer point; each line has its own
arrows = draw("signature layers.tsv --y-range .3:.6").panels[0].arrows
assert arrows == [(FIRST, "v", 1, .3)] and "0.1" in draw("signature layers.tsv --y-range .3:.6").all_texts(), arrows
assert not draw("signature layers.tsv --y-range .1:.55").panels[0].arrows, "a value on the edge is inside"

# one line of large range leaves the frame; none leaves if that does not help
apart = draw("path low.tsv high.tsv far.tsv")
assert apart.labels == ["low", "high", "far"] and {a[0] for a in apart.panels[0].arrows} == {THIRD}
assert "11.5" in apart.all_texts() and numbers(apart.panels[0].y)[-1][0] < 3 and not apart.panels[1].arrows
for arguments in "path low.tsv high.tsv", "path high.tsv high2.tsv far.tsv":
    assert not [panel.arrows for panel in draw(arguments).panels if panel.arrows], arguments
P
usage_error "FROM:TO expected, got '5'" mc-plot path low.tsv --y-range 5 -o x.svg
usage_error "FROM must be less than TO (got '3:2')" mc-plot path low.tsv --y-range ,3:2 -o x.svg
usage_error "FROM:TO or FROM:TO,FROM:TO expected" mc-plot path low.tsv --y-range 0:1,0:1,0:1 -o x.svg
usage_error "--y-range: one range expected for signature, got two" mc-plot signature sig.tsv --y-range 0:1,0:1 -o x.svg
usage_error "--y-range: with --log-loss it must start above 0 (got 0)" mc-plot path low.tsv --log-loss --y-range 0:1 -o x.svg
usage_error "--y-range has no effect on plane" mc-plot plane plane.tsv --y-range 0:1 -o x.svg
fails 3 "unknown column 'x.loss'" mc-plot path low.tsv --fit-data x
fails 1 "cannot open 'none.tsv'" mc-plot path low.tsv --fit none.tsv

# numbers that an axis cannot show are refused
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n1\t1\t50\n' >flat.tsv
for range in 1e16:10000000000000004 1e15:1000000000000004 5:5.000001; do
    usage_error '--y-range: ' timeout 20 mc-plot path flat.tsv --y-range $range -o no.svg
done
for value in 1e308 -1e308 1e101; do
    printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n1\t%s\t50\n' $value >wild.tsv
    fails 3 "column 'test.loss': " timeout 20 mc-plot path wild.tsv -o no.svg
done
printf 't\ttest.loss\ttest.accuracy\n0\t1e-310\t50\n1\t1e99\t50\n' >wild.tsv
timeout 20 mc-plot path wild.tsv --log-loss -o wide.svg

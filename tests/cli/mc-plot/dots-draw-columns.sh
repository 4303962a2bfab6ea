# SPDX-License-Identifier: Apache-2.0
# mc-plot dots draws one dot per row and column of any table, with a bar where NAME_sd has a deviation, and none for an empty
# cell. Rows are named by columns. No line joins the dots, and none is on the frame. Wrong tables and options are refused.
printf 'a\tb\tmany\tfew\tfew_sd\n%s\n%s\n%s\n' "one	x	10	20	5" "two	y	30		" "three	-it's-	50	70	" >t.tsv
{ printf 'method\tseen\n' && seq -f 'a long name of method %g	0' 12; } >equal.tsv
mc-plot dots --columns many - <t.tsv -o x.png
mc-plot dots --columns many t.tsv --size 8x6cm -o x.pdf
py <<'END'
from picture import *

p = Picture("dots", "--columns", "many,few", "t.tsv")
one = Picture("dots", "--label", "a,b", "--columns", "many", "--title", "a title", "t.tsv")
ranged = Picture("dots", "--label", "b", "--columns", "few,many", "--y-name", "accuracy (%)", "--y-range", "0:100", "t.tsv")
small = Picture("dots", "--columns", "few,many", "--size", "240x180", "t.tsv")
equal = Picture("dots", "--columns", "seen", "equal.tsv")

def dots(line):
    return [(x, y) for x, y in line.points if np.isfinite(y)]

for q in p, one, ranged, small, equal:
    q.check_texts()
    panel, = q.panels
    left, bottom, right, top = panel.axes.bbox.extents
    for line, artist in zip(panel.lines, panel.axes.lines):
        radius = artist.get_markersize() / 2 * q.figure.dpi / 72
        inside = (line.pixels > (left + radius, bottom + radius)) & (line.pixels < (right - radius, top - radius))
        assert (inside | np.isnan(line.pixels)).all(), (line.pixels, radius, panel.axes.bbox)
        assert line.style == "None" and line.marker != "None" and len(line.marked) == len(q.panels[0].axes.get_xticks())
    assert [s.style for s in q.samples] == ["None"] * len(q.labels) and not panel.bands and not panel.arrows
assert not any("…" in name for q in (p, one, ranged, small) for name in q.all_texts()), small.all_texts()
many, few = map(dots, p.panels[0].lines)
assert [y for _, y in many] == [10, 30, 50] and [y for _, y in few] == [20, 70], (many, few)
assert many[0][0] < few[0][0] < many[1][0] < many[2][0] < few[1][0], "a row's dots are side by side"
assert p.panels[0].bars == [(SECOND, few[0][0], 15, 25)] and not one.panels[0].bars
assert (p.labels, p.note, p.panels[0].title) == (["many", "few"], "± sd", ""), (p.labels, p.note)
assert (one.note, one.panels[0].title, one.title) == ("", "many", "a title")
assert (ranged.note, ranged.panels[0].title) == ("± sd", "accuracy (%)")
for q, names in (p, ["one", "two", "three"]), (one, ["one x", "two y", "three -it's-"]), (ranged, ["x", "y", "-it's-"]):
    assert [label.get_text() for _, label in shown(q.panels[0].x)] == names, q.all_texts()
values = [v for v, _ in numbers(ranged.panels[0].y)]
assert min(values) == 0 and max(values) == 100, values

# a dot out of the range has an arrow and its value; an empty cell does not count
outside = Picture("dots", "--columns", "few", "--y-range", "0:50", "t.tsv")
assert outside.panels[0].arrows == [(FIRST, "^", 3, 50)] and "70" in outside.all_texts(), outside.all_texts()
END
usage_error "dots: --columns NAME[,NAME...] is required" mc-plot dots t.tsv
usage_error "dots: at most 1 table expected, got 2" mc-plot dots --columns many t.tsv t.tsv
usage_error "--columns: 'many' occurs twice" mc-plot dots --columns many,few,many t.tsv
fails 3 "t.tsv: unknown column 'man', did you mean 'many'?" mc-plot dots --columns man t.tsv
fails 3 "t.tsv: unknown column ''" mc-plot dots --columns many, t.tsv
fails 3 "t.tsv: unknown column 'c'" mc-plot dots --label a,c --columns many t.tsv
fails 3 "t.tsv: line 2, column 'a': 'one' is not a number" mc-plot dots --columns a t.tsv
printf 'a\tb\nx\t\n' >none.tsv
fails 3 "none.tsv: no numbers in the columns b" mc-plot dots --columns b none.tsv
usage_error "--columns has no effect on path" mc-plot path --columns many t.tsv
for option in "--fit t.tsv" "--log-loss" "--data test"; do
    usage_error "${option%% *} has no effect on dots" mc-plot dots --columns many $option t.tsv
done
usage_error "--y-range: one range expected for dots, got two" mc-plot dots --columns many --y-range 1:2,3:4 t.tsv
no_temporaries

# SPDX-License-Identifier: Apache-2.0
# mc-plot draws paths, signatures, logs and planes, from one or several tables, in every format, with their texts. The legend's
# title says what bands and dashes mean.
fixture tables

cp curve.tsv equal.tsv
sed 's/\t0\./\t0.1/g' sig.tsv >other.tsv
mc-plot path curve.tsv line.tsv equal.tsv -o path.svg
mc-plot path curve.tsv line.tsv equal.tsv -o PATH.SVG
same path.svg PATH.SVG
expect_equal "$(svg_texts path.svg | tail -n 3 | paste -sd ' ')" 'curve line equal'
mc-plot path --data train line.tsv curve.tsv -o path.png
mc-plot signature sig.tsv 'again=sig.tsv' -o signature.pdf
mc-plot log log.json --size 400x300 --title small -o log.png
mc-plot plane plane.tsv path.tsv --size 500x300 --title small --format png >plane.png
mc-plot plane plane.tsv path.tsv -o plane.pdf
for f in svg png pdf; do mc-plot path line.tsv --size 12.7x5.08cm -o cm.$f; done
no_temporaries
py <<'P'
import re, struct
from picture import *

for name in "plane.pdf", "signature.pdf", "cm.pdf":
    d = open(name, "rb").read()
    assert d[:5] == b"%PDF-" and d.rstrip().endswith(b"%%EOF") and len(d) > 4000, name
assert re.search(rb"/MediaBox \[ ?0 0 360 144 ?\]", open("cm.pdf", "rb").read())
for name, size in ("plane.png", (500, 300)), ("path.png", (960, 480)), ("log.png", (400, 300)), ("cm.png", (1500, 600)):
    d = open(name, "rb").read()
    assert d[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", d[16:24]) == size, name
    assert d[-8:-4] == b"IEND" and len(d) > 4000, name
for name, size in ("path.svg", (720, 360)), ("cm.svg", (360, 144)):  # points
    assert re.search('width="%dpt" height="%dpt"' % size, open(name).read()[:500]), name

def draw(*arguments):
    p = Picture(*arguments)
    p.check_texts()
    return p

# one table: no deviations; a line that would cover another is dashed, in both panels and the legend
p = draw("path", "line.tsv", "a b=curve.tsv", "--title", "the title")
assert (p.title, p.labels, p.note) == ("the title", ["line", "a b"], "")
assert [q.title for q in p.panels] == ["test loss", "test accuracy (%)"]
p = draw("path", "curve.tsv", "line.tsv", "equal.tsv")
for lines in p.samples, *(q.lines for q in p.panels):
    assert [(l.colour, l.style) for l in lines] == [(FIRST, "-"), (SECOND, "-"), (THIRD, "--")], lines
p = draw("log", "log.json", "log.json")
assert p.labels == ["log", "log"] and [l.style for l in p.panels[1].lines] == ["-", "--"], p.labels
assert [q.title for q in draw("path", "--data", "train", "line.tsv").panels] == ["train loss", "train accuracy (%)"]
p = draw("log", "log.json")
assert (p.labels, [q.title for q in p.panels]) == (["log"], ["training loss", "training accuracy (%)"])
assert p.panels[0].lines[0].points.tolist() == [[1, 2.1], [2, 1.5]] and p.panels[1].lines[0].points.tolist() == [[1, 30], [2, 44]]
p = draw("signature", "sig.tsv")
assert (p.labels, p.note, p.panels[0].title) == (["after alignment", "before alignment"], "", "mean correlation"), p.labels
assert [(l.colour, l.style) for l in p.panels[0].lines] == [(FIRST, "-"), (FIRST, "--")]
assert [t.get_text() for _, t in shown(p.panels[0].x)] == ["layers.0.conv", "layers.3.conv"]
p = draw("signature", "sig.tsv", "b=other.tsv")
assert (p.labels, p.note) == (["sig", "b"], "dashed: before the alignment")
assert [(l.colour, l.style) for l in p.panels[0].lines] == [(FIRST, "-"), (FIRST, "--"), (SECOND, "-"), (SECOND, "--")]

# several tables: the mean, a band of the deviations, and n
three = "a, b=curve.tsv,curve2.tsv,curve3.tsv"
p = draw("path", three, "c=line.tsv,line.tsv,line.tsv")
assert (p.labels, p.note) == (["a, b", "c"], "mean ± sd, n = 3"), (p.labels, p.note)
mean = [.5 + (.1 + .2 + .6) / 3, 83 - 40 * .3]  # at 1/2
for panel, middle, sd in zip(p.panels, mean, (.07 ** .5, 40 * .07 ** .5)):
    points = panel.lines[0].points
    assert points[10, 0] == .5 and abs(points[10, 1] - middle) < 1e-9, points[10]
    band = panel.bands[FIRST]
    ends = sorted(y for x, y in band if x == .5)
    assert np.allclose((ends[0], ends[-1]), (middle - sd, middle + sd)), (ends, middle, sd)
p = draw("path", three, "line.tsv")
assert (p.labels, p.note, list(p.panels[0].bands)) == (["a, b (n = 3)", "line (n = 1)"], "mean ± sd", [FIRST]), (p.labels, p.note)
p = draw("log", "twice=log.json,log.json")
assert (p.labels, p.note) == (["twice"], "mean ± sd, n = 2")
assert draw("signature", "sig.tsv,sig.tsv").note == "mean ± sd, n = 2"
assert draw("signature", "sig.tsv,sig.tsv", "b=other.tsv,other.tsv").note == "mean ± sd, n = 2; dashed: before the alignment"

# planes: the names of the networks, and of the axes
towards = "distance from %s towards %s"
for names, arguments in ((["a", "b", "c <&>"], ["marks.tsv"]), (["θ₁", "it's", "r(½)"], ["path.tsv", "--names", "θ₁,it's,r(½)"])):
    p = draw("plane", "plane.tsv", *arguments)
    assert [q.title for q in p.panels] == ["test loss", "test accuracy (%)"]
    for text in *names, towards % tuple(names[:2]), "distance from their line":
        assert p.all_texts().count(text) == 2, (text, p.all_texts())
    # a path, or dashed lines from the first network; and the marks of the networks
    styles = [l.style for l in p.panels[0].lines if l.colour == "#000000"]
    assert styles == {"marks.tsv": ["--", "--", "None"], "path.tsv": ["-", "None"]}[arguments[0]], styles
assert towards % ("the first network", "the second") in draw("plane", "plane.tsv").all_texts()
P
! mc-plot plane --data test path.tsv plane.tsv -o x.png 2>errors || die 'marks drawn as a plane'

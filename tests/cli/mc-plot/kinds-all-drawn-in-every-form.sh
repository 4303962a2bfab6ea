# SPDX-License-Identifier: Apache-2.0
# mc-plot draws paths, signatures, logs and planes, from one or several tables, in every format, with their texts.
fixture tables

mc-plot path line.tsv "a \$(touch oops) \`touch oops\` 'label' _^{x}%=curve.tsv" --title "it's \"a\" title" -o path.svg
cp curve.tsv equal.tsv
mc-plot path curve.tsv line.tsv equal.tsv -o equal.svg
mc-plot path curve.tsv line.tsv equal.tsv -o EQUAL.SVG
same equal.svg EQUAL.SVG
mc-plot path --data train line.tsv curve.tsv -o path.png
mc-plot signature sig.tsv 'again=sig.tsv' -o sig.svg
mc-plot path 'a, b=curve.tsv,curve2.tsv,curve3.tsv' line.tsv -o band.svg
mc-plot path 'a, b=curve.tsv,curve2.tsv,curve3.tsv' 'c=line.tsv,line.tsv,line.tsv' -o bands.svg
mc-plot signature sig.tsv,sig.tsv -o sigs.svg
mc-plot log 'twice=log.json,log.json' -o logs.svg
mc-plot plane plane.tsv -o bare.svg
mc-plot plane plane.tsv marks.tsv --title three -o three.svg
mc-plot plane plane.tsv path.tsv --names "θ₁,it's,r(½)" --loss-range 0:5 -o plane.svg
mc-plot plane plane.tsv path.tsv --size 500x300 --title small -o plane.png
mc-plot plane plane.tsv path.tsv -o plane.pdf
mc-plot path line.tsv -o path.pdf
mc-plot log log.json --size 400x300 --title smaller -o log.png
[ ! -e oops ]
! mc-plot plane --data test path.tsv plane.tsv --size 500x300 -o x.png 2>err || die 'marks drawn as a plane'
expect_equal "$(find . -name '.*tmp*')" ""
py <<'P'
import struct, xml.etree.ElementTree as x
text = "".join(x.parse("path.svg").getroot().itertext())
for part in "line", "a $(touch oops) `touch oops` 'label' _^{x}%", "it's \"a\" title", "loss", "accuracy (%)":
    assert part in text, part
text = "".join(x.parse("sig.svg").getroot().itertext())
for part in "layers.0.conv", "layers.3.conv", "sig", "again", "mean correlation; dashed: before the alignment":
    assert part in text, part
# a line that would cover another is dashed, in both panels and the legend
assert "stroke-dasharray" not in open("path.svg").read()
assert open("equal.svg").read().count("stroke-dasharray") == 3
def text(name):
    return "".join(x.parse(name).getroot().itertext())
for part in "a, b (n = 3)", "line (n = 1)", "mean ± sd":
    assert part in text("band.svg"), part
assert "a, b (n" not in text("bands.svg") and "test loss, mean ± sd, n = 3" in text("bands.svg")
assert "mean correlation ± sd, n = 2" in text("sigs.svg") and "± sd, n = 2" in text("logs.svg")
assert "±" not in text("path.svg") and "±" not in text("sig.svg")
for part in "a", "b", "c <&>", "three", "test loss", "test accuracy (%)", "distance from a towards b", "distance from their line":
    assert part in text("three.svg"), part
assert "a.mcz" not in text("three.svg")
for part in "θ₁", "it's", "r(½)", "4.5", "distance from θ₁ towards it's":
    assert part in text("plane.svg"), part
assert "4.5" not in text("three.svg") and "towards" in text("bare.svg")
for name in "plane.pdf", "path.pdf":
    d = open(name, "rb").read()
    assert d[:5] == b"%PDF-" and d.rstrip().endswith(b"%%EOF") and len(d) > 4000, name
for name, size in ("plane.png", (500, 300)), ("path.png", (960, 480)), ("log.png", (400, 300)):
    d = open(name, "rb").read()
    assert d[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", d[16:24]) == size, name
    assert d[-8:-4] == b"IEND" and len(d) > 4000, name
P
for f in path.svg sig.svg; do grep -q 'rgb(213, *94, *0)' $f || die "$f lacks the colour of the second line"; done

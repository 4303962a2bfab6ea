# SPDX-License-Identifier: Apache-2.0
# mc-plot fits dense pictures: stages of many layers, bands of up to four lines, names of networks close together, a
# logarithmic axis, long labels. A size without room is a usage error.
fixture tables
py <<'P'
from picture import *

googlenet = ["conv1.conv"] + ["inception%s.branch%d.conv" % (i, b) for i in ("3a", "3b", "4a", "4b", "5a") for b in range(5)]
densenet = ["features.conv0"]
for block, n in (1, 6), (2, 12), (3, 24):
    densenet += ["features.denseblock%d.denselayer%d.conv%d" % (block, i, c) for i in range(n) for c in (1, 2)]

def draw(*arguments):
    p = Picture(*arguments)
    p.check_texts()
    return p

def layers(names):
    with open("layers.tsv", "w") as f:
        f.write("layer\tidentity\tpermuted\n" + "".join("%s\t0.0%d\t0.6%d\n" % (l, i % 10, i % 9) for i, l in enumerate(names)))
    panel, = draw("signature", "layers.tsv").panels
    assert len(panel.lines[0].marked) == len(names)
    return [t.get_text() for _, t in shown(panel.x)]

assert layers(googlenet) == ["conv1"] + ["inception" + i for i in ("3a", "3b", "4a", "4b", "5a")]
assert layers(densenet) == ["conv0", "denseblock1", "denseblock2", "denseblock3"]
names = layers(["layer-%d" % i for i in range(40)])
assert names[0] == "layer-0" and 10 <= len(names) <= 40, names

# each of at most four lines from several tables has a band; of more, none has
for n in 2, 4, 5:
    p = draw("path", *("line %d=%s,%s,%s" % (i, *("curve%d.tsv" % c for c in (2, 3, 2))) for i in range(n)))
    for panel in p.panels:
        assert len(panel.lines) == n and len(panel.bands) == (n if n < 5 else 0), (n, panel.bands)
    assert p.note == ("mean ± sd, n = 3" if n < 5 else "mean, n = 3"), p.note
p = draw("path", *("line %d=curve2.tsv,curve3.tsv" % i for i in range(4)), "line.tsv")  # a line of one table has no band
assert len(p.panels[0].bands) == 4 and p.note == "mean ± sd", p.note

# the name of b is below its point, that of Pb above
with open("near.tsv", "w") as f:
    f.write("mark\tname\tx\ty\toff\nnetwork\ta\t0\t1\t0\nnetwork\tb\t7.05\t1.1\t0\nnetwork\tPb\t7\t1.2\t0\n")
p = draw("plane", "plane.tsv", "near.tsv")
at = {t.text: t.corners[0] for t in p.texts if t.text in ("a", "b", "Pb")}
assert at["b"][1] < at["a"][1] < at["Pb"][1], at

# plain numbers on a logarithmic axis, one per decade or several
with open("decades.json", "w") as f:
    f.writelines('{"event":"epoch","epoch":%d,"loss":%g,"accuracy":%d}\n' % row for row in ((1, 2.1, 30), (2, .3, 44), (3, .004, 60)))
texts = [t.get_text() for _, t in shown(draw("log", "--log-loss", "decades.json").panels[0].y)]
assert {"2", "1", "0.5", "0.1", "0.01", "0.005"} <= set(texts), texts
texts = [t.get_text() for _, t in shown(draw("log", "--log-loss", "log.json").panels[0].y)]
assert len(texts) >= 3 and {"1.5", "2"} <= set(texts) and "0" not in texts, texts

# a label longer than the picture is shortened, and one entry of a row is enough
long = draw("path", "%s=line.tsv" % ("long " * 50), "b=curve.tsv", "--size", "400x300", "--title", "title " * 50)
assert long.labels[0].startswith("long long") and long.labels[0].endswith("…") and long.title.endswith("…"), long.labels
draw("path", *("line number %d=curve.tsv" % i for i in range(16)), "--size", "500x500")

# a small picture is complete or refused
faults = []
for size in "200x150", "260x150", "200x300", "5x4cm":
    for arguments in (["path", "line.tsv", "a b=curve.tsv,curve2.tsv"], ["signature", "layers.tsv"], ["plane", "plane.tsv", "marks.tsv"],
                      ["log", *("line number %d=log.json" % i for i in range(8))], ["dots", "--columns=permuted", "sig.tsv"]):
        try:
            draw(*arguments, "--size", size)
        except AssertionError as e:
            faults.append("mc-plot %s --size %s: %s" % (" ".join(arguments), size, e))
        except mcz.plot.Usage as e:
            assert "--size: %s is too small for this picture" % size in str(e), e
assert not faults, "\n".join(faults)
P
for size in 12in 1x7cm 960 x 960x 0x0 9x9 960x480x1 -960x480 99999x99999; do
    usage_error "--size: " mc-plot path line.tsv --size=$size -o x.svg
done
usage_error "--size: WIDTHxHEIGHT or WIDTHxHEIGHTcm expected, got '12in'" mc-plot path line.tsv --size 12in -o x.svg
usage_error "--size: '1' is not a number from 5 to 60" mc-plot path line.tsv --size 1x7cm -o x.svg
usage_error "--size: 5x4cm is too small for this picture" mc-plot plane plane.tsv --size 5x4cm -o x.svg
usage_error "--size: 200x150 is too small for this picture" mc-plot log {1..8}' long label of a line'=log.json --size 200x150 -o x.svg

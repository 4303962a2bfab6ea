# SPDX-License-Identifier: Apache-2.0
# In every kind of picture, at the default size, in a paper's column and on a small screen, each text is complete,
# within the picture and covers no other one. Each axis has evenly spaced numbers.
py <<'P'
import math, shlex
from picture import *

def table(name, head, rows):
    with open(name, "w") as f:
        f.write("\t".join(head) + "\n")
        f.writelines("\t".join("%.6g" % v if isinstance(v, float) else str(v) for v in r) + "\n" for r in rows)
for name, peak in ("low", 0.02), ("some", 0.2), ("high", 0.9), ("far", 2.6):
    for part in 1, 2, 3:
        rows = []
        for i in range(33):
            t, bump = i / 32, peak * math.sin(math.pi * i / 32) ** 2 * (1 + 0.02 * part)
            rows.append([t, 0.34 + bump, 88 - 28 * bump, 0.5 + 2 * bump, 60 - 15 * bump])
        table("%s%d.tsv" % (name, part), ["t", "test.loss", "test.accuracy", "test.robust.loss", "test.robust.accuracy"], rows)
table("zero.tsv", ["t", "test.loss", "test.accuracy"], [[i / 8, [0.0, 3e-6, 0.004, 0.2, 1.3][min(i, 8 - i)], 100.0 - i] for i in range(9)])
blocks = ["conv1.relu"] + ["layer%d.%d.relu%d" % (l, b, r) for l in (1, 2, 3) for b in range(5) for r in (1, 2)]
inception = ["conv%d" % i for i in (1, 2, 3)] + ["inception%s.branch%d.conv" % (i, b) for i in ("3a", "3b", "4a") for b in (1, 2, 3, 4)]
for name, layers in ("blocks", blocks), ("inception", inception), ("mlp", ["fc1", "fc2", "fc3"]):
    for part in 1, 2:
        table("%s%d.tsv" % (name, part), ["layer", "identity", "permuted"],
              [[l, 0.01 * (i % 7) - 0.02, 0.3 + 0.02 * (i % 5) + 0.01 * part] for i, l in enumerate(layers)])
for name, gap in ("whole", ()), ("gap", range(4, 140)):
    with open(name + ".json", "w") as f:
        for e in range(1, 151):
            if e not in gap:
                f.write('{"event":"epoch","epoch":%d,"loss":%g,"accuracy":%g}\n' % (e, 0.2 + 2 / e, 92 - 50 / e))
for name, wide, high in ("square", 27.0, 21.0), ("flat", 27.0, 6.5):
    table(name + ".tsv", ["x", "y", "test.loss", "test.accuracy"],
          [[wide * (j / 8 * 1.1 - 0.05), high * (i / 8 * 1.1 - 0.05), 0.4 + i * j / 20, 88 - i * j] for i in range(9) for j in range(9)])
    table(name + ".marks", ["mark", "name", "x", "y", "off"],
          [["network", "net-1.mcz", 0.0, 0.0, 0], ["network", "net-2.mcz", wide, 0.0, 0], ["network", "aligned.mcz", wide / 3, high, 0]])
table("flat.path", ["t", "test.loss", "test.accuracy"], [[i / 8, "100000.1%d" % i, "%de-6" % i] for i in range(9)])
table("methods.dots", ["order", "averaged", "averaged_sd", "repaired"],
      [[order, 10.5 + i, .5, 100.0 - i / 8] for i, order in enumerate(("identity", "weights running mean", "weights pairwise", "activations joint"))])

kinds = """
path 'curve, unaligned=some1.tsv,some2.tsv,some3.tsv' 'curve, aligned=low1.tsv,low2.tsv,low3.tsv' \
    'straight, unaligned=far1.tsv,far2.tsv,far3.tsv' 'straight, aligned=high1.tsv,high2.tsv,high3.tsv'
path low1.tsv some1.tsv
path --data test.robust unaligned=high1.tsv aligned=some1.tsv 'unaligned, attacked statistics=high2.tsv' \
    'aligned, attacked statistics=some2.tsv,some3.tsv'
path --log-loss low1.tsv far1.tsv
path --log-loss zero.tsv
path --log-loss some1.tsv low1.tsv
path --y-range 0.1:0.7,71:93 some1.tsv far1.tsv
path --y-range 100000:100001,0:1e-5 flat.path
signature blocks1.tsv,blocks2.tsv
signature 'curve to the first end=inception1.tsv' 'curve to the second end=inception2.tsv'
signature mlp1.tsv
log whole.json 'network 2=gap.json'
log --log-loss whole.json gap.json
dots --columns averaged,repaired --label order --y-name 'test accuracy (%)' methods.dots
plane square.tsv
plane square.tsv square.marks
plane flat.tsv flat.marks --names θ₁,θ₂,Pθ₂
plane flat.tsv flat.marks --loss-range 0:12
"""
TITLE = "tinyten on CIFAR-10, seeds 1–2, 3–4, 5–6"

def check(axis):
    """Checks that an axis has evenly spaced numbers, at their places unless it shows an offset or a factor."""
    values, places = zip(*numbers(axis))
    steps = np.diff(values), np.diff(places)
    assert len(values) >= 2 and all(np.allclose(step, step[0], rtol=1e-3) for step in steps), numbers(axis)
    assert axis.get_offset_text().get_text() or np.allclose(values, places), numbers(axis)

faults = []
for kind in kinds.replace("\\\n", "").strip().splitlines():
    for i, size in enumerate(("960x480", "320x200", "8.5x5cm", "1200x300", "300x600")):
        title = ["", TITLE][i % 2]
        p = Picture(*shlex.split(kind), "--size", size, "--title", title)
        try:
            p.check_texts()
            assert p.title == title or len(title) > len(p.title) > 10 and p.title.endswith("…"), p.title
            if kind.startswith("path 'curve, un"):  # a line leaves the frame
                assert {"3.04", "12.3"} <= set(p.all_texts()), p.all_texts()
            assert not any("…" in label for label in p.labels), p.labels
            if not kind.startswith("plane"):
                assert {line.colour for line in p.panels[0].lines} == {sample.colour for sample in p.samples}, p.labels
            for n, panel in enumerate(p.panels):
                if "--log-loss" not in kind or n:
                    check(panel.y)
                if kind[:3] in ("pat", "log", "pla"):
                    check(panel.x)
                if panel.colours:
                    check(panel.colours)
        except AssertionError as e:
            faults.append("mc-plot %s --size %s --title '%s': %s" % (kind, size, title, e))
assert not faults, "\n".join(faults)
P

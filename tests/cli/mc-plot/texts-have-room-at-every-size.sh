# SPDX-License-Identifier: Apache-2.0
# In every kind of picture, at the default size, in a paper's column and on a small screen, each text is complete,
# within the picture and covers no other one. Each axis has evenly spaced numbers.
fixture tables
py <<'P'
import math
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
P
kinds=(
    'path "curve, unaligned=some1.tsv,some2.tsv,some3.tsv" "curve, aligned=low1.tsv,low2.tsv,low3.tsv" "straight, unaligned=far1.tsv,far2.tsv,far3.tsv" "straight, aligned=high1.tsv,high2.tsv,high3.tsv"'
    'path low1.tsv some1.tsv'
    'path --data test.robust unaligned=high1.tsv aligned=some1.tsv "unaligned, attacked statistics=high2.tsv" "aligned, attacked statistics=some2.tsv,some3.tsv"'
    'path --log-loss low1.tsv far1.tsv'
    'path --log-loss zero.tsv'
    'path --log-loss some1.tsv low1.tsv'
    'path --y-range 0.1:0.7,71:93 some1.tsv far1.tsv'
    'signature blocks1.tsv,blocks2.tsv'
    'signature "curve to the first end=inception1.tsv" "curve to the second end=inception2.tsv"'
    'signature mlp1.tsv'
    'log whole.json "network 2=gap.json"'
    'log --log-loss whole.json gap.json'
    'plane square.tsv'
    'plane square.tsv square.marks'
    'plane flat.tsv flat.marks --names θ₁,θ₂,Pθ₂'
    'plane flat.tsv flat.marks --loss-range 0:12'
)
n=0
for kind in "${kinds[@]}"; do
    for size in '' '--size 320x200' '--size 8.5x5cm' '--size 1200x300' '--size 300x600'; do
        for title in '' '--title "tinyten on CIFAR-10, seeds 1–2, 3–4, 5–6"'; do
            eval "mc-plot $kind $size $title" -o $((n++)).svg 2>errors || die "$kind $size: $(<errors)"
        done
    done
    echo "$kind"
done >drawn
py <<'P'
from picture import *
kinds = open("drawn").read().splitlines()
def check(numbers, what):
    assert len(numbers) >= 2, (what, numbers)
    values, places = [v for v, _ in numbers], [p for _, p in numbers]
    steps = {round((b - a) / (values[1] - values[0]), 3) for a, b in zip(values, values[1:])}
    assert steps == {1}, (what, numbers)
    pitch = [abs(b - a) for a, b in zip(places, places[1:])]
    assert max(pitch) - min(pitch) < 0.1, (what, numbers)
for i in range(10 * len(kinds)):
    kind, p = kinds[i // 10], Picture("%d.svg" % i)
    try:
        p.check_texts()
        axes = p.columns()
        assert len(axes) >= (1 if kind.startswith("signature") else 2), axes
        for axis in axes[1 if "--log-loss" in kind else 0:]:
            check(axis, "y")
        if kind.startswith("plane"):
            for axis in p.columns("start"):
                check(axis, "colours")
        assert ("seeds 1–2, 3–4, 5–6" in " ".join(p.all_texts())) == (i % 2 == 1), p.all_texts()
    except AssertionError as e:
        sys.exit("%s, picture %d, %gx%g: %s" % (kind, i, p.width, p.height, e))
assert "straight, unaligned ▲ 3.04 ▼ 12.3%" in Picture("0.svg").all_texts(), Picture("0.svg").all_texts()
P
for kind in path log; do
    fails 2 '--size must be at least ' mc-plot $kind --size 200x150 $([ $kind = path ] && echo {low,some,high,far}{1,2,3}.tsv || echo whole.json gap.json{,,,,,,,}) -o x.svg
done
fails 2 '--size must be at least ' mc-plot plane --size 5x4cm square.tsv -o x.svg
least=$(mc-plot plane --size 5x4cm square.tsv -o x.svg 2>&1 | sed 's/.*at least \(.*\) for .*/\1/') || true
mc-plot plane --size "$least" square.tsv -o x.svg

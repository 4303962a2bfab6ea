# SPDX-License-Identifier: Apache-2.0
# mc-plot's lines join only consecutive rows: they break at missing epochs and between a block's parallel branches. With
# several tables, a point without neighbours has a bar at its marker, every other point a band.
for shift in a:0 b:.1; do
    awk -v d=${shift#*:} 'BEGIN { n = split("1 4 5 6 9", row, " ")
        for (i = 1; i <= n; i++) printf "{\"event\":\"epoch\",\"epoch\":%d,\"loss\":%g,\"accuracy\":%g}\n", row[i], 2 / row[i] + d, 40 + row[i] + d }' >${shift%:*}.json
done
printf 'layer\tidentity\tpermuted\n' | tee one.tsv >two.tsv
layers=(conv1 conv2 i3a.branch1.conv i3a.branch2.0.conv i3a.branch2.1.conv i3b.branch5x5_1.conv i3b.branch5x5_2.conv l1.conv1 l1.downsample.0 l1.conv2 l2.conv)
for l in "${layers[@]}"; do
    printf '%s\t0.1\t0.5\n' "$l" >>one.tsv
    printf '%s\t0.2\t0.7\n' "$l" >>two.tsv
done
mc-plot log a.json -o log.svg
mc-plot log a.json,b.json -o logs.svg
mc-plot signature one.tsv -o signature.svg
mc-plot signature one.tsv,two.tsv -o signatures.svg
py <<'P'
from picture import *
def stretches(p, panel=0):
    """The number of points in each segment of the first line, without bars."""
    return [len(s) for s in p.lines(FIRST, panel) if len(s) < 2 or s[0][0] != s[-1][0]]
def bars(p, panel=0):
    return [s for s in p.lines(FIRST, panel) if len(s) == 2 and s[0][0] == s[1][0]]
for name in "log.svg", "logs.svg":
    p = Picture(name)
    for panel in 0, 1:
        assert [n for n in stretches(p, panel) if n > 1] == [3], (name, stretches(p, panel))
        assert len(p.markers(FIRST, panel)) == 5
assert not bars(Picture("log.svg")) and not bars(Picture("signature.svg"))
p = Picture("logs.svg")
marked = {round(x, 1): y for x, y in p.markers(FIRST, 0)}
alone = [sorted(marked)[0], sorted(marked)[-1]]
assert [round(b[0][0], 1) for b in bars(p)] == alone, (bars(p), alone)
for (x, y0), (_, y1) in bars(p):
    assert abs((y0 + y1) / 2 - marked[round(x, 1)]) < .5, (bars(p), marked)
# conv1 conv2 branch1 | branch2.0 branch2.1 branch5x5_1 branch5x5_2 conv1 | downsample | conv2 conv: before and after
p = Picture("signature.svg")
joined = sorted(n for n in stretches(p) if n > 1)
assert joined == [2, 2, 3, 3, 5, 5], joined
p = Picture("signatures.svg")
assert len(bars(p)) == 2, bars(p)
P

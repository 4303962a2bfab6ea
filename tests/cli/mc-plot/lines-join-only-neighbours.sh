# SPDX-License-Identifier: Apache-2.0
# mc-plot's lines join only consecutive rows: they break at missing epochs and between a block's parallel branches. With
# several tables, a point without neighbours has a bar at its mark, every other point a band.
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
py <<'P'
from picture import *

one, two = Picture("log", "a.json"), Picture("log", "a.json,b.json")
for p in one, two:
    for panel in p.panels:
        line, = panel.lines
        assert line.stretches() == [1, 3, 1] and len(line.marked) == 5, (line.points, line.marked)
loss, accuracy = two.panels
for panel, values in (loss, {1: 2.05, 9: 2 / 9 + .05}), (accuracy, {1: 41.05, 9: 49.05}):
    assert [(colour, x) for colour, x, _, _ in panel.bars] == [(FIRST, 1), (FIRST, 9)], panel.bars
    for _, x, low, high in panel.bars:
        assert np.allclose(((low + high) / 2, high - low), (values[x], 2 * .1 / 2 ** .5), atol=1e-5), panel.bars
    assert {x for x, _ in panel.bands[FIRST]} == {4, 5, 6}, panel.bands
# conv1 conv2 branch1 | branch2.0 branch2.1 branch5x5_1 branch5x5_2 conv1 | downsample | conv2 conv: after and before
one, two = Picture("signature", "one.tsv"), Picture("signature", "one.tsv,two.tsv")
for p in one, two:
    assert [line.stretches() for line in p.panels[0].lines] == [[3, 5, 1, 2]] * 2, [line.stretches() for line in p.panels[0].lines]
assert [x for _, x, _, _ in two.panels[0].bars] == [9, 9], two.panels[0].bars
assert not one.panels[0].bars and not one.panels[0].bands
P

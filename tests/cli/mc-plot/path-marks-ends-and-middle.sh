# SPDX-License-Identifier: Apache-2.0
# mc-plot path draws markers at t = 0, 1/2 and 1 in both panels, with any number of points.
for points in 3 5 9 15 16 21 31 33 61 65 99 101; do
    awk -v n=$points 'BEGIN { OFS = "\t"; print "t", "test.loss", "test.accuracy"
        for (i = 0; i < n; i++) { t = i / (n - 1); print t, .3 + t * (1 - t), 90 - 10 * t * (1 - t) } }' >$points.tsv
    mc-plot path $points.tsv -o $points.svg
done
# t may be uneven
printf 't\ttest.loss\ttest.accuracy\n' >uneven.tsv
for t in 0 .01 .02 .03 .04 .05 .06 .07 .08 .09 .1 .11 .12 .13 .5 .51 .9 1; do printf '%s\t1%s\t50\n' $t $t >>uneven.tsv; done
mc-plot path uneven.tsv -o uneven.svg
py <<'P'
from picture import *
import glob
names = glob.glob("*.svg")
assert len(names) == 13
for name in names:
    p = Picture(name)
    for panel in 0, 1:
        left, _, right, _ = p.panels()[panel]
        at = sorted((x - left) / (right - left) for x, _ in p.markers(FIRST, panel))
        middle = [] if name == "16.svg" else [.5] # which has no point there
        for t in [0, 1] + middle:
            assert min(abs(x - t) for x in at) < .002, (name, panel, t, at)
        assert len(at) <= 14, (name, at)
P

# SPDX-License-Identifier: Apache-2.0
# mc-plot path marks the points at t = 0, 1/2 and 1 in both panels, with any number of points.
py <<'P'
from picture import *

def marks(ts):
    with open("x.tsv", "w") as f:
        f.write("t\ttest.loss\ttest.accuracy\n")
        f.writelines("%.6g\t%.6g\t%.6g\n" % (t, .3 + t * (1 - t), 90 - 10 * t * (1 - t)) for t in ts)
    first, second = ([t for t, _ in panel.lines[0].marked] for panel in Picture("path", "x.tsv").panels)
    assert first == second and len(first) <= 14 and {0, 1} <= set(first), (len(ts), first, second)
    return first

for points in 3, 5, 9, 15, 16, 21, 31, 33, 61, 65, 99, 101:
    found = marks([i / (points - 1) for i in range(points)])
    assert (.5 in found) == (points % 2 == 1), (points, found)  # 16 points have no middle
    assert points > 13 and len(found) >= 8 or len(found) == points, (points, found)
assert .5 in marks([0, .01, .02, .03, .04, .05, .06, .07, .08, .09, .1, .11, .12, .13, .5, .51, .9, 1])  # t may be uneven
P

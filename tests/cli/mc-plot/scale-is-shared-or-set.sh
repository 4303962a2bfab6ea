# SPDX-License-Identifier: Apache-2.0
# --fit and --fit-data give compared pictures the same scale; --y-range and a plane's ranges set it. A path's own scale
# separates its lines, and marks lines that leave the frame.
fixture tables
for s in .3:low 1.4:high; do
    awk -v m=${s%:*} 'BEGIN { OFS = "\t"; print "t", "test.loss", "test.accuracy", "test.robust.loss", "test.robust.accuracy"
        for (i = 0; i <= 16; i++) { b = m * 4 * (i / 16) * (1 - i / 16); print i / 16, .3 + b, 90 - 30 * b, 1.2 + b, 50 - 20 * b } }' >${s#*:}.tsv
done
awk 'NR > 1 { $3 *= 4; $4 -= 20 } 1' FS='\t' OFS='\t' plane.tsv >steep.tsv

mc-plot path low.tsv -o low.svg
mc-plot path low.tsv --fit high.tsv -o low-fit.svg
mc-plot path high.tsv --fit 'x=low.tsv' -o high-fit.svg
mc-plot path low.tsv --data test --fit-data test.robust -o clean.svg
mc-plot path low.tsv --data test.robust --fit-data test -o robust.svg
mc-plot path low.tsv high.tsv --y-range 0.25:0.7,76:92 -o given.svg
mc-plot path low.tsv high.tsv --y-range ,40:100 -o accuracy.svg
mc-plot log log.json --y-range 0:8 -o log.svg
mc-plot signature sig.tsv --y-range -.5:.75 -o sig.svg
sed 's/0\.0\([0-9]\)/-0.3\1/' sig.tsv >negative.tsv
mc-plot signature sig.tsv --fit negative.tsv -o sig-fit.svg
mc-plot signature negative.tsv --fit sig.tsv -o negative-fit.svg
mc-plot plane plane.tsv -o plane.svg
mc-plot plane plane.tsv --fit steep.tsv -o plane-fit.svg
mc-plot plane steep.tsv --fit plane.tsv -o steep-fit.svg
mc-plot plane plane.tsv --loss-range 0:20 --accuracy-range 0:100 -o plane-given.svg
awk 'NR > 1 { $2 = .3 + ($2 - .3) * 8 } 1' FS='\t' OFS='\t' high.tsv >far.tsv
cp high.tsv high2.tsv
mc-plot path low.tsv high.tsv far.tsv -o apart.svg
mc-plot path low.tsv high.tsv -o two.svg
mc-plot path high.tsv high2.tsv far.tsv -o same.svg
sed '2s/0\.0[0-9]/0/' sig.tsv >edge.tsv
tail -n 1 sig.tsv | sed 's/layers.3/layers.4/' >>edge.tsv
mc-plot signature edge.tsv again=edge.tsv -o edge.svg
usage_error "FROM:TO expected, got '5'" mc-plot path low.tsv --y-range 5 -o x.svg
usage_error "FROM must be less than TO (got '3:2')" mc-plot path low.tsv --y-range ,3:2 -o x.svg
usage_error "FROM:TO or FROM:TO,FROM:TO expected" mc-plot path low.tsv --y-range 0:1,0:1,0:1 -o x.svg
usage_error "--y-range: one range expected for signature, got two" mc-plot signature sig.tsv --y-range 0:1,0:1 -o x.svg
usage_error "--y-range: with --log-loss it must start above 0 (got 0)" mc-plot path low.tsv --log-loss --y-range 0:1 -o x.svg
usage_error "--y-range has no effect on plane" mc-plot plane plane.tsv --y-range 0:1 -o x.svg
fails 3 "unknown column 'x.loss'" mc-plot path low.tsv --fit-data x
fails 1 "cannot open 'none.tsv'" mc-plot path low.tsv --fit none.tsv
py <<'P'
from picture import *
def axes(name, anchor="end"):
    return [[v for v, _ in axis] for axis in Picture(name).columns(anchor)]
assert axes("low-fit.svg") == axes("high-fit.svg") != axes("low.svg")
assert axes("low-fit.svg")[0][-1] >= 1.7 > axes("low.svg")[0][-1], axes("low-fit.svg")
assert axes("clean.svg") == axes("robust.svg") != axes("low.svg")
assert axes("clean.svg")[0][-1] >= 1.5 and axes("clean.svg")[1][0] <= 44 and axes("clean.svg")[1][-1] >= 90, axes("clean.svg")
assert axes("sig-fit.svg") == axes("negative-fit.svg") != axes("sig.svg")
def colours(name):
    return axes(name, "start")
assert colours("plane-fit.svg") == colours("steep-fit.svg") != colours("plane.svg")
assert colours("plane-given.svg") == [list(range(0, 21, 2)), list(range(0, 101, 10))], colours("plane-given.svg")
assert axes("log.svg")[0][0] == 0 and axes("log.svg")[0][-1] == 8, axes("log.svg")
assert min(axes("sig.svg")[0]) >= -.5 and max(axes("sig.svg")[0]) <= .75, axes("sig.svg")
loss, accuracy = axes("given.svg")
assert .25 <= min(loss) < .35 and .6 < max(loss) <= .7 and 76 <= min(accuracy) < 80 and 88 < max(accuracy) <= 92, (loss, accuracy)
assert axes("accuracy.svg")[0] == axes("two.svg")[0] and axes("accuracy.svg")[1][0] == 40, axes("accuracy.svg")
# the legend has the extremes of lines that leave the frame, and arrows show where they do
assert "high ▲ 1.7 ▼ 48%" in Picture("given.svg").all_texts(), Picture("given.svg").all_texts()
arrows = [s for s in Picture("given.svg").lines(SECOND, 0) if len(s) == 2 and s[0][0] == s[1][0]]
assert len(arrows) == 2 and all(s[1][1] < s[0][1] for s in arrows), arrows
# a value on the edge is inside
assert Picture("edge.svg").all_texts().count("edge") == 1
assert not [s for s in Picture("edge.svg").lines(FIRST, 0) if len(s) == 2]
# one line of large range leaves the frame; no line leaves if all or none do
texts = Picture("apart.svg").all_texts()
assert "far ▲ 11.5" in texts and "high" in texts and "low" in texts and max(axes("apart.svg")[0]) < 3, texts
assert not [t for name in ("two.svg", "same.svg") for t in Picture(name).all_texts() if "▲" in t or "▼" in t]
P

# numbers that an axis cannot show are refused
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n1\t1\t50\n' >flat.tsv
for range in 1e16:10000000000000004 1e15:1000000000000004 5:5.000001; do
    fails 2 '--y-range: ' timeout 20 mc-plot path flat.tsv --y-range $range -o no.svg
done
for value in 1e308 -1e308 1e101; do
    printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n1\t%s\t50\n' $value >wild.tsv
    fails 3 "column 'test.loss': " timeout 20 mc-plot path wild.tsv -o no.svg
done
printf 't\ttest.loss\ttest.accuracy\n0\t1e-310\t50\n1\t1e99\t50\n' >wild.tsv
timeout 20 mc-plot path wild.tsv --log-loss -o wide.svg

# each entry of a signature's legend shows how far its own line leaves
printf 'layer\tunits\tidentity\tpermuted\tdead_a\tdead_b\nx\t4\t.1\t.5\t0\t0\ny\t4\t.2\t.55\t0\t0\n' >layers.tsv
mc-plot signature layers.tsv --y-range .3:.6 -o layers.svg
grep -q 'before alignment ▼ 0.1<' layers.svg || die "$(grep -o 'before alignment[^<]*' layers.svg)"
grep -q 'after alignment<' layers.svg || die "$(grep -o 'after alignment[^<]*' layers.svg)"

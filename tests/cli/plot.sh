# SPDX-License-Identifier: Apache-2.0
# mc-plot draws complete tables, the same bytes twice, and refuses everything else without a trace.
. "$MC_ROOT/tests/cli/lib.bash"
is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; exit 1; }; }
curve() { # depth
    printf 't\ttrain.loss\ttrain.accuracy\ttest.loss\ttest.accuracy\n'
    awk -v d="$1" 'BEGIN { for (i = 0; i <= 20; i++) { t = i / 20; b = 4 * t * (1 - t)
        printf "%g\t%g\t%g\t%g\t%g\n", t, .1 + d * b, 98 - 50 * d * b, .5 + d * b, 83 - 40 * d * b } }'
}
curve 1 >line.tsv
curve .1 >curve.tsv
printf 'layer\tunits\tdead_a\tdead_b\tidentity\tpermuted\n' >sig.tsv
printf 'layers.%d.conv\t16\t0\t0\t0.0%d\t0.6%d\n' 0 1 2 3 3 4 >>sig.tsv
printf '{"event":"start"}\n{"event":"epoch","epoch":%d,"loss":%g,"accuracy":%d}\n' 1 2.1 30 2 1.5 44 >log.json

# refusals first: nothing may be left behind by them
fails 2 "needs one of path, signature, log, plane" mc-plot
fails 2 "there is no 'map' (there are: path, signature, log, plane)" mc-plot map line.tsv
fails 2 "ends in none of .svg, .png and .pdf" mc-plot path line.tsv -o line.jpg
fails 2 "there is no 'gif'" mc-plot path line.tsv --format gif
for size in 960 x 960x 0x0 9x9 960x480x1 -960x480 99999x99999; do
    fails 2 "--size: " mc-plot path line.tsv --size=$size -o x.svg
done
fails 2 "--data has no effect in a picture of kind log" mc-plot log log.json --data test -o x.svg
fails 1 "cannot open 'nothing.tsv': No such file" mc-plot path nothing.tsv -o x.svg
fails 1 "no/folder" mc-plot path line.tsv -o no/folder/x.svg
: >empty.tsv
fails 3 "empty.tsv: is empty" mc-plot path empty.tsv -o x.svg
fails 3 "stdin: is empty" mc-plot path -o x.svg
sed '$d' line.tsv >cut.tsv
fails 3 "cut.tsv: is not whole: t runs from 0 to 0.95" mc-plot path cut.tsv -o x.svg
head -c 300 line.tsv >cut.tsv
fails 3 "cut.tsv: is cut short" mc-plot path line.tsv cut.tsv -o x.svg
sed '2,$d' line.tsv >none.tsv
fails 3 "none.tsv: holds no rows" mc-plot path none.tsv -o x.svg
sed 's/^0\.5\t.*/0.5\tnan\t1\t1\t1/' line.tsv >nan.tsv
mc-plot path nan.tsv --data test >ok.out # the damage is in another column
fails 3 "nan.tsv: line 12, column 'train.loss': 'nan' is not a number" mc-plot path nan.tsv --data train -o x.svg
sed 's/^0.5\t/0.3\t/' line.tsv >back.tsv
fails 3 "back.tsv: line 12: t does not grow" mc-plot path back.tsv -o x.svg
fails 3 "there is no column 'robust.loss'" mc-plot path line.tsv --data robust -o x.svg
fails 3 "there is no column 't'" mc-plot path sig.tsv -o x.svg
fails 3 "there is no column 'identity'" mc-plot signature line.tsv -o x.svg
grep -v layers.3 sig.tsv >fewer.tsv
fails 3 "fewer.tsv: has other layers than sig.tsv" mc-plot signature sig.tsv fewer.tsv -o x.svg
fails 3 "line.tsv: line 1: is not a line of a log" mc-plot log line.tsv -o x.svg
echo '{"event":"start"}' >start.json
fails 3 "start.json: has no event 'epoch'" mc-plot log start.json -o x.svg
fails 1 "there is no gnuplot on PATH" env PATH=/nowhere "$(command -v mc-plot)" path line.tsv -o x.svg
mkdir broken
printf '#!/bin/sh\nhead -c 100\necho half a picture\necho "gnuplot> x" >&2; echo "line 3: no such thing" >&2; exit 1\n' >broken/gnuplot
chmod +x broken/gnuplot
fails 1 "gnuplot failed: line 3: no such thing" env PATH="$PWD/broken:$PATH" mc-plot path line.tsv -o x.svg
rc=0
mc-plot path line.tsv >/dev/full 2>err || rc=$?
is "$rc $(wc -l <err)" "1 1"

is "$(find . -name '*.svg' -o -name '*.png' -o -name '.*tmp*')" ""

# several tables of one line: the same rows in each
curve .2 >curve2.tsv
curve .6 >curve3.tsv
sed 's/^0.5\t/0.51\t/' curve2.tsv >moved.tsv
fails 3 "moved.tsv: has other t than curve.tsv" mc-plot path curve.tsv,moved.tsv -o x.svg
fails 3 "cut.tsv: is cut short" mc-plot path curve.tsv,cut.tsv -o x.svg
fails 2 "an empty name in a list" mc-plot path curve.tsv,,line.tsv -o x.svg
fails 2 "an empty name in a list" mc-plot path a=curve.tsv, -o x.svg
fails 2 "names no table" mc-plot path a= -o x.svg
sed 's/layers.3/layers.4/' sig.tsv >sig2.tsv
fails 3 "sig2.tsv: has other layers than sig.tsv" mc-plot signature sig.tsv,sig2.tsv -o x.svg
fails 3 "sig2.tsv: has other layers than sig.tsv" mc-plot signature sig.tsv sig2.tsv -o x.svg
[ ! -e x.svg ]

# planes: whole grids, and marks that are the networks and then the path
awk 'BEGIN { OFS = "\t"; print "x", "y", "test.loss", "test.accuracy"; for (i = 0; i < 5; i++) for (j = 0; j < 4; j++)
    print j * 2.5, i * 1.5, .5 + i * j / 5, 80 - 3 * i * j }' >plane.tsv
printf 'mark\tname\tx\ty\toff\n' >marks.tsv
printf 'network\t%s\t%s\t%s\t0\n' out/a.mcz 1 1 b.mcz 6 1 'c <&>' 3 5.5 >>marks.tsv
{ cat marks.tsv; printf 'path\t%s\t%s\t%s\t0\n' 0 1 1 .5 3 3.5 1 6 1; } >path.tsv
fails 3 "holds no rows" mc-plot plane none.tsv -o x.svg
fails 3 "there is no column 'x'" mc-plot plane line.tsv -o x.svg
sed '$d' plane.tsv >part.tsv
fails 3 "part.tsv: is no whole grid: 19 rows, y grows after 4" mc-plot plane part.tsv -o x.svg
head -n 5 plane.tsv >row.tsv
fails 3 "row.tsv: is no whole grid" mc-plot plane row.tsv -o x.svg
{ sed -n '1,5p' plane.tsv; sed -n 7p plane.tsv; sed -n 6p plane.tsv; sed 1,7d plane.tsv; } >swapped.tsv
fails 3 "swapped.tsv: line 6: is out of the grid's order" mc-plot plane swapped.tsv -o x.svg
sed '5d' plane.tsv >hole.tsv
fails 3 "hole.tsv: " mc-plot plane hole.tsv -o x.svg
sed '7s/[0-9.]*$/inf/' plane.tsv >inf.tsv
fails 3 "inf.tsv: line 7, column 'test.accuracy': 'inf' is not a number" mc-plot plane inf.tsv -o x.svg
sed '4d' marks.tsv >two.tsv
fails 3 "two.tsv: has 2 marks, not the three networks" mc-plot plane plane.tsv two.tsv -o x.svg
sed '4d' path.tsv >early.tsv
fails 3 "early.tsv: line 4: 'path' where a network was due" mc-plot plane plane.tsv early.tsv -o x.svg
fails 3 "there is no column 'mark'" mc-plot plane plane.tsv plane.tsv -o x.svg
fails 2 "at most 2 tables" mc-plot plane plane.tsv marks.tsv marks.tsv -o x.svg
fails 2 "three names" mc-plot plane plane.tsv --names a,b -o x.svg
fails 2 "three names" mc-plot plane plane.tsv --names a,b,c,d -o x.svg
fails 2 "is not FROM:TO" mc-plot plane plane.tsv --loss-range 3 -o x.svg
fails 2 "does not grow" mc-plot plane plane.tsv --accuracy-range 90:10 -o x.svg
fails 2 "--names has no effect in a picture of kind path" mc-plot path line.tsv --names a,b,c -o x.svg
[ ! -e x.svg ]

# an old picture stays as it was when the new one fails
echo old >old.svg
rc=0
mc-plot path cut.tsv -o old.svg 2>err || rc=$?
is "$rc $(cat old.svg)" "3 old"

mc-plot path line.tsv "a \$(touch oops) \`touch oops\` 'label' _^{x}%=curve.tsv" --title "it's \"a\" title" -o path.svg
cp curve.tsv equal.tsv
mc-plot path curve.tsv line.tsv equal.tsv -o equal.svg
mc-plot path --data train line.tsv curve.tsv -o path.png
mc-plot signature sig.tsv 'again=sig.tsv' -o sig.svg
mc-plot path 'a, b=curve.tsv,curve2.tsv,curve3.tsv' line.tsv -o band.svg
mc-plot path 'a, b=curve.tsv,curve2.tsv,curve3.tsv' 'c=line.tsv,line.tsv,line.tsv' -o bands.svg
mc-plot signature sig.tsv,sig.tsv -o sigs.svg
mc-plot log 'twice=log.json,log.json' -o logs.svg
mc-plot plane plane.tsv -o bare.svg
mc-plot plane plane.tsv marks.tsv --title three -o three.svg
mc-plot plane plane.tsv path.tsv --names "θ₁,it's,r(½)" --loss-range 0:5 -o plane.svg
# flat planes: numbers that differ and have room, no lines
for flat in 2.302585 0.3 0.1 1 0 1e-9 12345.67 100:2.302585 99.99:2.302587; do
    awk -v a="${flat%:*}" -v l="${flat#*:}" 'BEGIN { OFS = "\t"; print "x", "y", "test.loss", "test.accuracy"
        for (i = 0; i < 20; i++) print i % 4, int(i / 4), l, a <= 100 ? a : 50 }' >flat.tsv
    mc-plot plane flat.tsv -o "flat-$flat.svg"
done
mc-plot plane --data test path.tsv plane.tsv --size 500x300 -o x.png 2>/dev/null && exit 1
mc-plot plane plane.tsv path.tsv --size 500x300 --title small -o plane.png
mc-plot plane plane.tsv path.tsv -o plane.pdf
mc-plot path line.tsv -o path.pdf
mc-plot log log.json --size 400x300 --title smaller -o log.png
[ ! -e oops ]
is "$(find . -name '.*tmp*')" ""
/usr/bin/python3 - <<'P'
import struct, xml.etree.ElementTree as x
text = "".join(x.parse("path.svg").getroot().itertext())
for part in "line", "a $(touch oops) `touch oops` 'label' _^{x}%", "it's \"a\" title", "loss", "accuracy (%)":
    assert part in text, part
text = "".join(x.parse("sig.svg").getroot().itertext())
for part in "layers.0.conv", "layers.3.conv", "sig, before", "again, after", "mean correlation":
    assert part in text, part
# a line that would hide another is dashed, in both panels and the legend
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
import glob
flat = glob.glob("flat-*.svg")
assert len(flat) == 9
def lines(name):
    return open(name).read().count("opacity='0.44'")
def numbers(name):
    # those of the two colour boxes begin at their ticks, the axes' end there or stand below
    found = []
    for g in x.parse(name).getroot().iter("{http://www.w3.org/2000/svg}g"):
        text = "".join(g.itertext()).strip()
        if g.get("text-anchor") == "start" and text[-1:].isdigit():
            found.append((float(g.get("transform")[10:].split(",")[0]), text))
    return found
for name in flat:
    assert lines(name) == 0, (name, lines(name))
    n = numbers(name)
    assert len(n) > 10 and len(set(n)) == len(n) and max(len(t) for _, t in n) <= 7, (name, n)
assert lines("bare.svg") >= 2
for name in "plane.pdf", "path.pdf":
    d = open(name, "rb").read()
    assert d[:5] == b"%PDF-" and d.rstrip().endswith(b"%%EOF") and len(d) > 4000, name
for name, size in ("plane.png", (500, 300)), ("path.png", (960, 480)), ("log.png", (400, 300)):
    d = open(name, "rb").read()
    assert d[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", d[16:24]) == size, name
    assert d[-8:-4] == b"IEND" and len(d) > 4000, name
P
for f in path.svg sig.svg; do grep -q 'rgb(213, *94, *0)' $f || { echo "$f lacks the second line's colour"; exit 1; }; done
mc-plot path line.tsv curve.tsv --format png >one.out
mc-plot path line.tsv curve.tsv --format png -o - >two.out
cmp one.out two.out
mc-plot path line.tsv curve.tsv --format pdf >one.pdf
sleep 1.1 # the time of day is not in it
mc-plot path line.tsv curve.tsv --format pdf >two.pdf
cmp one.pdf two.pdf
mc-plot path <line.tsv >three.out
mc-plot path stdin=line.tsv -o - >four.out
grep -q '<svg' three.out
# the user's own settings do not change the picture
mkdir home
echo 'set terminal dumb; set output "elsewhere"' >home/.gnuplot
HOME=$PWD/home mc-plot path line.tsv curve.tsv --format png >two.out
cmp one.out two.out

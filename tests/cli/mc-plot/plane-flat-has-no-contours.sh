# SPDX-License-Identifier: Apache-2.0
# mc-plot draws flat planes without contours, and with distinct numbers that fit.
fixture tables

mc-plot plane plane.tsv -o bare.svg
for flat in 2.302585 0.3 0.1 1 0 1e-9 12345.67 100:2.302585 99.99:2.302587; do
    awk -v a="${flat%:*}" -v l="${flat#*:}" 'BEGIN { OFS = "\t"; print "x", "y", "test.loss", "test.accuracy"
        for (i = 0; i < 20; i++) print i % 4, int(i / 4), l, a <= 100 ? a : 50 }' >flat.tsv
    mc-plot plane flat.tsv -o "flat-$flat.svg"
done
py <<'P'
import glob, xml.etree.ElementTree as x
flat = glob.glob("flat-*.svg")
assert len(flat) == 9
def lines(name):
    return open(name).read().count("opacity='0.44'")
def numbers(name):
    # numbers of the colour scales start at their ticks; those of the axes end there or are below
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
P

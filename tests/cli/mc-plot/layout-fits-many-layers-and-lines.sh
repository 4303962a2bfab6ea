# SPDX-License-Identifier: Apache-2.0
# mc-plot fits dense pictures: stages of many layers, bands of several lines, names of networks close together, a
# logarithmic axis, sizes in centimetres.
fixture tables
py <<'P'
googlenet = ["conv1.conv"] + ["inception%s.branch%d.conv" % (i, b) for i in ("3a", "3b", "4a", "4b", "5a") for b in range(5)]
densenet = ["features.conv0"]
for block, n in (1, 6), (2, 12), (3, 24):
    densenet += ["features.denseblock%d.denselayer%d.conv%d" % (block, i, c) for i in range(n) for c in (1, 2)]
flat = ["layer-%d" % i for i in range(40)]
for name in "googlenet", "densenet", "flat":
    with open(name + ".tsv", "w") as f:
        f.write("layer\tidentity\tpermuted\n" + "".join("%s\t0.0%d\t0.6%d\n" % (l, i % 10, i % 9) for i, l in enumerate(globals()[name])))
with open("near.tsv", "w") as f:
    f.write("mark\tname\tx\ty\toff\nnetwork\ta\t0\t1\t0\nnetwork\tb\t7.2\t1\t0\nnetwork\tPb\t7\t1.2\t0\n")
P
for n in googlenet densenet flat; do mc-plot signature $n.tsv -o $n.svg; done
for t in 1 2 3; do sed "s/test/test.robust/g" curve$([ $t = 1 ] || echo $t).tsv >r$t.tsv; done
for n in 2 3; do
    lines=()
    for ((i = 1; i <= n; i++)); do lines+=("line $i=r1.tsv,r2.tsv,r3.tsv"); done
    mc-plot path --data test.robust "${lines[@]}" -o lines$n.svg
done
mc-plot plane plane.tsv near.tsv -o near.svg
mc-plot log log.json --log-loss -o log.svg
printf '{"event":"epoch","epoch":%d,"loss":%g,"accuracy":%d}\n' 1 2.1 30 2 .3 44 3 .004 60 >decades.json
mc-plot log decades.json --log-loss -o decades.svg
for f in svg png pdf; do mc-plot path line.tsv --size 12.7x5.08cm -o cm.$f; done
usage_error "WIDTHxHEIGHT or WIDTHxHEIGHTcm expected, got '12in'" mc-plot path line.tsv --size 12in -o x.svg
usage_error "'1' is not a number from 5 to 60" mc-plot path line.tsv --size 1x7cm -o x.svg
usage_error "--log-loss has no effect on signature" mc-plot signature flat.tsv --log-loss -o x.svg
py <<'P' || die 'wrong layout'
import re, struct, xml.etree.ElementTree as x
def texts_and_transforms(name):
    return [("".join(g.itertext()).strip(), g.get("transform") or "") for g in x.parse(name).getroot().iter("{http://www.w3.org/2000/svg}g") if g.get("text-anchor")]
def texts(name):
    return [t for t, _ in texts_and_transforms(name)]
g, d = texts("googlenet.svg"), texts("densenet.svg")
for stage in "3a", "3b", "4a", "4b", "5a":
    assert "inception" + stage in g, (stage, g)
assert "conv1" in g and not any("branch" in t for t in g), g
assert [t for t in d if "dense" in t] == ["denseblock1", "denseblock2", "denseblock3"], d
assert "layer-0" in texts("flat.svg"), texts("flat.svg")
# every line from several tables has a band
def bands(name):
    return len({tuple(re.findall("[0-9]+", c)) for c in re.findall("<polygon fill = 'rgb[(](.*?)[)]'", open(name).read())})
assert bands("lines2.svg") == 2 and bands("lines3.svg") == 3, (bands("lines2.svg"), bands("lines3.svg"))
assert "test robust loss, mean ± sd, n = 3" in texts("lines2.svg"), texts("lines2.svg")
assert "test robust accuracy (%), mean ± sd, n = 3" in texts("lines2.svg"), texts("lines2.svg")
# the label of b is below its point, that of Pb above
at = {t: float(re.search(r",([0-9.]+)\)", m).group(1)) for t, m in texts_and_transforms("near.svg") if t in ("a", "b", "Pb")}
assert at["b"] > at["a"] > at["Pb"] and at["b"] - at["Pb"] > 20, at
assert {"2", "1", "0.5", "0.1", "0.01", "0.005"} <= set(texts("decades.svg")), texts("decades.svg")
assert not {"0", "0.005"} & set(texts("log.svg")[:8]) and {"1.6", "1.8", "2.0"} <= set(texts("log.svg")), texts("log.svg")
assert re.search(r'width="480" height="192"', open("cm.svg").read()[:300])
d = open("cm.png", "rb").read()
assert struct.unpack(">II", d[16:24]) == (1500, 600)
assert re.search(rb"/MediaBox \[ ?0 0 360 144 ?\]", open("cm.pdf", "rb").read())
P

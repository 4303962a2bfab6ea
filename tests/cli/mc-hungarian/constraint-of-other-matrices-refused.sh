# SPDX-License-Identifier: Apache-2.0
# mc-hungarian --constraint refuses matrices that do not belong together.
fixture constrained

fails 3 "post.mcz: matrices before*ReLU expected*got after*(mc-acts --at pre)" mc-hungarian --constraint post.mcz pre.mcz
fails 3 "pre.mcz: matrices after*ReLU expected*got before*(mc-acts --at post)" mc-hungarian --constraint loose.mcz pre.mcz
py <<'END'
s = mcz.read("pre.mcz")
groups, (first, second) = s.meta["groups"], s.tensors.values()
mcz.write("fewer.mcz", s.kind, dict(s.meta, groups=groups[:1]), {"first": first})
groups[1]["name"] = "other"
mcz.write("other.mcz", s.kind, s.meta, {"first": first, "other": second})
groups[1].update(name="second", size=8)
mcz.write("narrow.mcz", s.kind, s.meta, {"first": first, "second": second[:8, :8].copy()})
END
fails 3 "fewer.mcz*1 group*post.mcz*2" mc-hungarian --constraint fewer.mcz post.mcz
fails 3 "other.mcz: group second*9 units expected*stdin*got other*9" \
    mc-hungarian --constraint other.mcz <post.mcz
fails 3 "narrow.mcz: group second*9 units expected*post.mcz*got second*8" mc-hungarian --constraint narrow.mcz post.mcz -o x.mcz
fails 3 "expected, got permutation" mc-hungarian --constraint "$MC_ROOT/formats/samples/good-permutation.mcz" post.mcz
head -c -1 pre.mcz >cut.mcz
fails 3 "cut.mcz: " mc-hungarian --constraint cut.mcz post.mcz
fails 1 "cannot open 'nothing.mcz'" mc-hungarian --constraint nothing.mcz post.mcz
fails 2 "one input*standard input" mc-hungarian --constraint - </dev/null

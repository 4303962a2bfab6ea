# SPDX-License-Identifier: Apache-2.0
# mc-corr refuses, before allocation, a group with more units than its taps see, and sums that no data can have.
fixture moments

py <<'END'
for name in "m.mcz", "a.acts":
    s = mcz.read(name)
    s.meta["groups"][0]["size"] = 1 << 24
    mcz.write("wide-" + name, s.kind, s.meta, s.tensors)
s = mcz.read("m.mcz")
t = {k: v.copy() for k, v in s.tensors.items()}
t[next(k for k in t if k.endswith("/sum_a"))][0] = 1e300
mcz.write("absurd.mcz", s.kind, s.meta, t)
END
fails 3 "wide-m.mcz: " mc-corr wide-m.mcz
fails 3 "no tap observes unit" mc-corr wide-m.mcz
fails 3 "wide-a.acts: " mc-corr wide-a.acts wide-a.acts
fails 3 "absurd.mcz: tap " mc-corr absurd.mcz
fails 3 "sums are inconsistent" mc-corr --signature absurd.mcz
fails 3 "absurd.mcz: tap " mc-corr --measure l2 absurd.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-permute refuses a permutation of another network, a duplicate entry, and streams of the wrong kind.
fixture stranger

py <<'EOF'
q = mcz.read("q.mcz")
t = dict(q.tensors)
mcz.write("short.mcz", q.kind, {"groups": q.meta["groups"][:3]}, {k: t[k] for k in list(t)[:3]})
t["side"] = t["side"].copy()
t["side"][2] = t["side"][5]
mcz.write("twice.mcz", q.kind, q.meta, t)
EOF
fails 3 "short.mcz:*another network" mc-permute short.mcz a.mcz
fails 3 "short.mcz" mc-permute --compose q.mcz short.mcz
fails 3 "twice.mcz" mc-permute twice.mcz a.mcz
fails 3 "a.mcz" mc-permute a.mcz a.mcz
fails 3 "q.mcz" mc-permute q.mcz q.mcz

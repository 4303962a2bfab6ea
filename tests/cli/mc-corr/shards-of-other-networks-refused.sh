# SPDX-License-Identifier: Apache-2.0
# mc-corr refuses to add moments of other networks, other layers or another precision.
fixture moments

fails 3 "m.mcz: " mc-corr m.mcz m.mcz
acts --shard 2/2 a.mcz a.mcz -o other.mcz
fails 3 "other.mcz: moments*different" mc-corr s1.mcz other.mcz
acts --at pre --shard 2/2 a.mcz b.mcz -o other.mcz
fails 3 "other.mcz: " mc-corr s1.mcz other.mcz
# float32 is not named: it was the only precision of early streams
py <<'END'
m = mcz.read("s2.mcz")
assert "precision" not in m.meta
for name in "bf16", "f32", "f64":
    mcz.write(name + ".mcz", m.kind, {**m.meta, "precision": name}, m.tensors)
END
fails 3 "bf16.mcz: moments*different precisions (f32 and bf16)" mc-corr s1.mcz bf16.mcz
fails 3 "s1.mcz: moments*different precisions (bf16 and f32)" mc-corr bf16.mcz s1.mcz
for p in f32 f64; do
    fails 3 "$p.mcz: \"precision\" must be tf32, bf16 or f16 (got \"$p\")" mc-corr s1.mcz $p.mcz
done

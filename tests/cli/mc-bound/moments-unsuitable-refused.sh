# SPDX-License-Identifier: Apache-2.0
# mc-bound refuses moments of other networks, post-activations, attacked images, another precision or only some shards,
# each in one line.
fixture bounded

acts() { mc-acts -q -t 1 --data d.mcz --samples 80 "$@"; }
refuses() { fails 3 "$2: $1" mc-bound n1.mcz n2.mcz "$2"; }
acts --at pre n2.mcz n2.mcz -o first.mcz
acts --at pre n1.mcz n1.mcz -o second.mcz
acts n1.mcz n2.mcz -o post.mcz
acts --at pre --batch 40 --shard 1/2 n1.mcz n2.mcz -o shard.mcz
acts --at pre --attack pgd:eps=4/255,steps=1 n1.mcz n2.mcz -o attacked.mcz
mc-train -q -t 1 --net mlp:12,7 --data d.mcz --epochs 1 -o n3.mcz
acts --at pre n3.mcz n3.mcz -o other.mcz
refuses 'moments*computed*different first network' first.mcz
refuses 'moments*computed*different second network' second.mcz
refuses 'moments*pre-activations expected*post-activations*mc-acts with --at pre' post.mcz
refuses 'shard 2 of 2*missing' shard.mcz
refuses 'moments*plain images expected*attacked images' attacked.mcz
refuses 'moments*different architecture*networks' other.mcz
refuses 'moments expected*dataset' d.mcz
py <<'END'
m = mcz.read("m.mcz")
mcz.write("bf16.mcz", m.kind, {**m.meta, "precision": "bf16"}, m.tensors)
taps = [{**t, "samples": 4 * t["samples"]} for t in m.meta["taps"]]
mcz.write("pixels.mcz", m.kind, {**m.meta, "taps": taps}, m.tensors)
wrong = {k: v * (9 if k.endswith("cross") else 1) for k, v in m.tensors.items()}
mcz.write("wrong.mcz", m.kind, m.meta, wrong)
mcz.write("nameless.mcz", m.kind, m.meta, m.tensors)  # moments that name no networks
END
refuses 'moments*f32 expected*got bf16' bf16.mcz
refuses 'tap layers.0.linear: 1 sample per image (80) expected*got 320' pixels.mcz
refuses 'tap layers.0.linear: units' wrong.mcz
mc-bound n1.mcz n2.mcz nameless.mcz >nameless
mc-bound n1.mcz n2.mcz m.mcz >named
same nameless named

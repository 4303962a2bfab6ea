# SPDX-License-Identifier: Apache-2.0
# mc-repair writes the same bytes twice, from pipes, and with any number of threads. The history names network, data and
# ends; -v prints the passes.
fixture pair
mc-merge a.mcz b.mcz -o m.mcz
repair() { mc-repair --no-progress --data data.mcz "$@"; }
repair -v -t 1 m.mcz --ends a.mcz b.mcz -o r.mcz 2>errors
grep -qx 'mc-repair: [0-9]* channels of [0-9]* layers, [0-9]* passes over 400 images' errors || die "$(<errors)"
mc-info --check -q r.mcz
repair -t 1 --ends a.mcz b.mcz <m.mcz | same r.mcz -
repair -t 2 m.mcz --ends a.mcz b.mcz | same_content - r.mcz
repair -t 1 --images plain m.mcz --ends a.mcz b.mcz | same r.mcz -
repair -t 1 --images augmented m.mcz --ends a.mcz b.mcz -o augmented.mcz
different_content r.mcz augmented.mcz
mc-repair -t 1 --data - --ends a.mcz b.mcz -o x.mcz m.mcz <data.mcz 2>/dev/null && die 'm.mcz is an end after --ends'
mc-repair -t 1 --data - m.mcz --ends a.mcz b.mcz <data.mcz | same r.mcz -
repair -t 1 --weights 1,2 m.mcz --ends a.mcz b.mcz -o w.mcz
different_content r.mcz w.mcz
py <<'END'
m, a, b, d, r, w = (mcz.read(f + ".mcz") for f in ("m", "a", "b", "data", "r", "w"))
assert r.inputs == [m.id, d.id, a.id, b.id], r.inputs
args = dict(w.history[-1]["args"])
assert [args[k] for k in ("ends", "weights", "images", "samples", "batch", "seed")] == [2, "1,2", "plain", 10000, 128, 1], args
END
# 16-bit parameters become float32
mc-convert a.mcz -o a.safetensors
py <<'END'
from mcz import safetensors
t = safetensors.read("a.safetensors")
safetensors.write("half.safetensors", {k: v.astype("<f2") for k, v in t.items()})
END
mc-convert half.safetensors --like a.mcz -o half.mcz
mc-convert -q --f32 half.mcz -o wide.mcz
repair -q -t 1 half.mcz --ends a.mcz b.mcz -o x.mcz
repair -q -t 1 wide.mcz --ends a.mcz b.mcz | same_content - x.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-repair refuses networks and data that do not belong together, missing ends, and networks without channels to repair.
# It pins the wording of its messages.
samples=$MC_ROOT/formats/samples
mc-data synth --samples 40 --size 8 -o d.mcz
mc-data synth --samples 40 --size 12 -o large.mcz
for n in 6 7 bn,6; do mc-train -q -t 1 --net mlp:$n --data d.mcz --batch 16 --epochs 1 --lr .02 -o $n.mcz; done
repair() { fails_unchanged "$1" "$2" mc-repair -t 1 --data d.mcz -o x.mcz "${@:3}"; }

fails_with 2 'missing: --data FILE.mcz (see --help)' mc-repair bn,6.mcz
fails_with 2 'missing: operand A.mcz after --ends (see --help)' mc-repair --data d.mcz 6.mcz --ends
fails_with 2 'one network before --ends expected, got 2' mc-repair --data d.mcz 6.mcz 6.mcz --ends 6.mcz
fails_with 2 '--ends is given twice (all ends follow one --ends)' mc-repair --data d.mcz 6.mcz --ends 6.mcz --ends 6.mcz
fails_with 2 "unexpected argument '6.mcz' (expected: NET.mcz; --ends A.mcz B.mcz names the networks of a mean)" mc-repair --data d.mcz 6.mcz 6.mcz
fails_with 2 '--weights has no effect without --ends' mc-repair --weights 1,1 --data d.mcz 6.mcz
fails_with 2 '--weights must have one number per network (got 1 for 2 networks)' \
    mc-repair --data d.mcz --weights 1 6.mcz --ends 6.mcz 6.mcz
fails_with 2 'only one input can be standard input' mc-repair --data d.mcz --ends 6.mcz - <6.mcz
fails_with 2 '6.mcz: the network has no batch norm: name the merged networks (--ends A.mcz B.mcz)' \
    mc-repair --data d.mcz 6.mcz -o x.mcz
repair 3 "mc-repair: 6.mcz and 7.mcz: different networks (mlp:6, mlp:7)" 6.mcz --ends 6.mcz 7.mcz
repair 3 "mc-repair: bn,6.mcz and 6.mcz: different networks" bn,6.mcz --ends 6.mcz
repair 3 "d.mcz: weights expected, got dataset" 6.mcz --ends 6.mcz d.mcz
repair 1 "cannot open 'nothing.mcz'" 6.mcz --ends nothing.mcz
repair 3 "d.mcz: has 40 images, but 41 were requested" --samples 41 6.mcz --ends 6.mcz
repair 3 "d.mcz: has 40 images, but 41 were requested" --samples 41 bn,6.mcz
for ends in '' '--ends bn,6.mcz'; do
    # shellcheck disable=SC2086 # words
    fails_with 3 'large.mcz: images are 3x12x12, but the network expects 3x8x8' \
        mc-repair -t 1 --data large.mcz -o x.mcz bn,6.mcz $ends
    head -c -1 d.mcz >cut.mcz
    # shellcheck disable=SC2086 # words
    fails_unchanged 3 'cut.mcz: *truncated' mc-repair -t 1 --data cut.mcz -o x.mcz bn,6.mcz $ends
done
# networks without a graph; data and activations that are not finite; nothing to repair
py <<'END'
from mcz import safetensors
safetensors.write("n.safetensors", {"w": np.ones((4, 2), "<f4")})
open("g.tsv", "w").write("tensor\taxis\toffset\tcount\tblock\tgroup\nw\t0\t0\t4\t1\tg\n")
d = mcz.read("d.mcz")
x = {k: v.copy() for k, v in d.tensors.items()}
x["images"] = x["images"].astype("<f4") / 255
x["images"][1] = np.nan
mcz.write("nan.mcz", d.kind, {**d.meta, "pixels": "float32"}, x)
s = mcz.read("6.mcz")
t = {k: v.copy() for k, v in s.tensors.items()}
t["layers.0.linear.weight"][:] = 3e38
mcz.write("huge.mcz", s.kind, s.meta, t)
graph = {"input": [3, 8, 8], "classes": 10, "nodes": [
    {"op": "normalise", "name": "n", "in": [], "mean": [0] * 3, "std": [1] * 3}, {"op": "flatten", "name": "f", "in": ["n"]},
    {"op": "linear", "name": "a", "in": ["f"], "out": 5, "bias": False, "weight_init": "uniform_fan_in", "bias_init": "zero"},
    {"op": "relu", "name": "r", "in": ["a"], "delta": 0},
    {"op": "linear", "name": "b", "in": ["r"], "out": 10, "bias": True, "weight_init": "uniform_fan_in", "bias_init": "zero"},
    {"op": "loss", "name": "l", "in": ["b"], "weight": 1, "train_only": False}]}
json.dump(graph, open("bare.json", "w"))
graph["nodes"][2]["bias"] = True
graph["nodes"][4:5] = [{**graph["nodes"][2], "name": "c", "in": ["r"], "bias": False}, {"op": "relu", "name": "s", "in": ["c"], "delta": 0},
                       {**graph["nodes"][4], "in": ["s"]}]
json.dump(graph, open("half.json", "w"))
END
mc-convert n.safetensors --groups g.tsv -o rows.mcz
repair 3 "rows.mcz: a network with a graph is required" rows.mcz --ends rows.mcz
fails_with 3 'nan.mcz: image 1 has a pixel outside [0, 1]' mc-repair -t 1 --data nan.mcz -o x.mcz 6.mcz --ends 6.mcz
repair 3 "mc-repair: huge.mcz: activations of layers.0.linear are not finite" 6.mcz --ends 6.mcz huge.mcz
repair 3 "mc-repair: huge.mcz: activations of layers.0.linear are not finite" huge.mcz --ends 6.mcz
for n in bare half; do mc-train -q -t 1 --net ./$n.json --data d.mcz --epochs 0 -o $n.mcz; done
repair 3 "mc-repair: bare.mcz: has no batch norm, and no layer with a bias before an activation" bare.mcz --ends bare.mcz
expect_message "mc-repair: warning: half.mcz: 1 layer before an activation without bias and batch norm: unchanged" \
    mc-repair -t 1 --data d.mcz half.mcz --ends half.mcz
same_content x.mcz half.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-corr computes the same matrices from two raw streams as from their moments.
fixture moments

# a network without units that can move
py <<'END'
nodes = [{"op": "normalise", "name": "n", "in": [], "mean": [.25] * 3, "std": [.18] * 3},
         {"op": "flatten", "name": "f", "in": ["n"]},
         {"op": "linear", "name": "dense", "in": ["f"], "out": 10, "bias": True},
         {"op": "loss", "name": "loss", "in": ["dense"], "weight": 1, "train_only": False}]
json.dump({"input": [3, 16, 16], "classes": 10, "nodes": nodes}, open("bare.json", "w"))
END
mc-train -q -t 1 --net ./bare.json --data data.mcz --epochs 0 -o bare.mcz
mc-acts -q -t 1 --raw --data data.mcz bare.mcz -o bare.acts
mc-info -q --check bare.acts
mc-corr bare.acts bare.acts -o bare-raw.mcz
mc-acts -q -t 1 --data data.mcz bare.mcz bare.mcz | mc-corr -o bare-c.mcz
same_content bare-raw.mcz bare-c.mcz

# through FIFOs, whose kind of stream decides; and as files
mkfifo fa fb
cat a.acts >fa &
cat b.acts >fb &
mc-corr fa fb -o raw.mcz
wait
agree 1e-6 c.mcz raw.mcz
for t in 1 2; do
    mc-corr -t $t a.acts b.acts -o x.mcz
    expect_equal "$(id x.mcz)" "$(id raw.mcz)"
done
mc-corr --measure l2 m.mcz -o l2.mcz
mc-corr --measure l2 a.acts b.acts -o x.mcz
agree 1e-10 l2.mcz x.mcz

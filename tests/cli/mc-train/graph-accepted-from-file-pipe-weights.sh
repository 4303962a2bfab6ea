# SPDX-License-Identifier: Apache-2.0
# mc-train trains the same network from a graph file, a pipe and the graph in a weights stream.
net=$MC_ROOT/formats/samples/example_net.json
fixture example

# the graph in weights is a graph file of the same network
mc-info --graph a.mcz >again.json
same_content a.mcz <(train --net again.json --epochs 1)
mc-info --graph <(train --net again.json --epochs 0) | cmp - again.json
same_content a.mcz <(train --net <(cat "$net") --epochs 1)
py "$net" <<'END'
inside, mine, printed = mcz.read("a.mcz").meta["graph"], json.load(open(sys.argv[1])), json.load(open("again.json"))
assert inside == printed
for a, b in zip(mine["nodes"], printed["nodes"], strict=True):
    assert all(b[k] == v for k, v in a.items()), (a, b)
END
fails 3 'data.mcz: weights*curve*graph expected*dataset' mc-info --graph data.mcz
fails 2 '--json*--graph*combined' mc-info --graph --json a.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-bound refuses unsupported networks in one line that names the unsupported part.
fixture pair

net() { mc-train -q -t 1 --net "$1" --data data.mcz --samples 24 --batch 8 --epochs 1 -o "$2"; }
net mlp:bn,6 bn.mcz
net mlp:1,4 one.mcz
net mlp:6 plain.mcz
net mlp:7 other.mcz
refuses() { fails 3 "$1" mc-bound "${@:2}" nosuch.mcz; } # before it reads the moments
refuses "a.mcz: conv 'layers.0.conv': not a linear layer*ReLU (spectral norms*bounded*linear layers" a.mcz b.mcz
refuses "bn.mcz: batchnorm 'layers.0.bn': not a linear layer*ReLU (spectral" bn.mcz bn.mcz
refuses "one.mcz: linear 'layers.0.linear'*1 unit" one.mcz one.mcz
refuses 'plain.mcz' plain.mcz other.mcz
for node in '"tanh"' '"leakyrelu", "slope": 0.1' '"pad", "before": [0, 0, 0], "after": [2, 0, 0]'; do
    cat >net.json <<EOF
{"input": [3, 16, 16], "classes": 10, "nodes": [{"op": "normalise", "name": "p", "in": [], "mean": [0, 0, 0], "std": [1, 1, 1]},
{"op": "flatten", "name": "f", "in": ["p"]}, {"op": "linear", "name": "a", "in": ["f"], "out": 4, "bias": true},
{"name": "n", "in": ["a"], "op": $node}, {"op": "linear", "name": "b", "in": ["n"], "out": 10, "bias": true},
{"op": "loss", "name": "loss", "in": ["b"], "weight": 1, "train_only": false}]}
EOF
    op=${node#\"}
    net ./net.json node.mcz
    refuses "node.mcz: ${op%%\"*} 'n': not a linear layer*ReLU (spectral" node.mcz node.mcz
done
py <<'END'
w = mcz.read("plain.mcz")
w.meta["graph"]["nodes"][-1]["weight"] = .5
mcz.write("half.mcz", w.kind, w.meta, w.tensors)
END
refuses "half.mcz: loss 'loss'*weight 1*bound (got 0.5)" half.mcz half.mcz

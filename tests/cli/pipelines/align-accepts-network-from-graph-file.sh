# SPDX-License-Identifier: Apache-2.0
# A user's network from a graph file, with a skip and a concat, aligns in every group and connects without C code.
fixture example

mc-permute --random 5 --perm-out planted.mcz a.mcz -o q.mcz
mc-permute --random 5 --verify data.mcz --samples $images a.mcz >table
mc-acts -q --data data.mcz --samples $images a.mcz q.mcz | mc-corr -q -o m.mcz
mc-hungarian -q m.mcz -o p.mcz
check_recovery planted.mcz p.mcz m.mcz
# two such networks are connected
train --net "$MC_ROOT/formats/samples/example_net.json" --epochs 1 --seed 2 -o b.mcz
mc-bezier -q -t 1 --data data.mcz --samples $images --batch $batch --epochs 1 a.mcz b.mcz -o curve.mcz
mc-bezier --point .5 --bn-data data.mcz --bn-samples $images curve.mcz -o middle.mcz
mc-info --graph a.mcz >graph.json
mc-info --graph curve.mcz | same - graph.json

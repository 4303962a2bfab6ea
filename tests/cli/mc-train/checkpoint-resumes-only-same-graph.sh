# SPDX-License-Identifier: Apache-2.0
# mc-train names a network without a name after its graph file, and resumes only with the same graph.
fixture example

sed 's/"net": "example", //; s/"mean": [^s]*"std": [^}]*/"mean": [0.252, 0.252, 0.248], "std": [0.183, 0.182, 0.179]/' "$MC_ROOT/formats/samples/example_net.json" >mine.json
train --net ./mine.json --epochs 2 --stop-after 1 --checkpoint ck -o half.mcz
mc-info half.mcz | grep -qx '  net  *mine' || die "not named after its file"
cp mine.json kept.json
sed 's/"momentum": 0.1/"momentum": 0.2/' kept.json >mine.json
fails 3 'graph' train --net ./mine.json --epochs 2 --checkpoint ck --resume
cp kept.json mine.json
train --net ./mine.json --epochs 2 --checkpoint ck --resume -o whole.mcz
train --net ./mine.json --epochs 2 | same whole.mcz -

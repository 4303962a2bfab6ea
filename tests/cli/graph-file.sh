# SPDX-License-Identifier: Apache-2.0
# A stranger's network, with a skip and a concat, from a graph file: it trains, resumes, aligns and joins
# without a line of C; what the file should not hold is refused in one line.
. "$MC_ROOT/tests/cli/lib.bash"
net=$MC_ROOT/formats/samples/example_net.json
images=400 batch=32
[ "${MC_UNDER:-}" != valgrind ] || images=24 batch=8
mc-data synth --samples 400 -o data.mcz
train=(mc-train -q -t 1 --data data.mcz --samples $images --batch $batch)

"${train[@]}" --net "$net" --epochs 1 -o a.mcz
"${train[@]}" --net "$net" --epochs 1 --seed 2 -o b.mcz

# the graph that the weights carry is a graph file, and the same network
mc-info --graph a.mcz >again.json
"${train[@]}" --net again.json --epochs 1 -o again.mcz
[ "$(id a.mcz)" = "$(id again.mcz)" ] || die "the printed graph is another network"
mc-info --graph again.mcz | cmp - again.json
"${train[@]}" --net <(cat "$net") --epochs 1 -o piped.mcz
[ "$(id a.mcz)" = "$(id piped.mcz)" ] || die "a graph from a pipe is another network"
/usr/bin/python3 - "$MC_ROOT" "$net" <<'END'
import json, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
inside, mine, printed = mcz.read("a.mcz").meta["graph"], json.load(open(sys.argv[2])), json.load(open("again.json"))
assert inside == printed
for a, b in zip(mine["nodes"], printed["nodes"], strict=True):
    assert all(b[k] == v for k, v in a.items()), (a, b)
END

# a file without a net's name is called as the file; a resumed run wants the same graph
sed 's/"net": "example", //' "$net" >mine.json
"${train[@]}" --net ./mine.json --epochs 2 --stop-after 1 --checkpoint c.mcz -o half.mcz
mc-info half.mcz | grep -qx '  net  *mine' || die "not called after its file"
cp mine.json kept.json
sed 's/"momentum": 0.1/"momentum": 0.2/' kept.json >mine.json
fails 3 'graph' "${train[@]}" --net ./mine.json --epochs 2 --checkpoint c.mcz --resume -o no.mcz
cp kept.json mine.json
"${train[@]}" --net ./mine.json --epochs 2 --checkpoint c.mcz --resume -o whole.mcz
"${train[@]}" --net ./mine.json --epochs 2 -o once.mcz
same whole.mcz once.mcz

# a planted permutation is found in every group, skip and concat included
mc-permute --random 5 --perm-out planted.mcz a.mcz -o q.mcz
mc-permute --random 5 --verify data.mcz --samples $images a.mcz >/dev/null
mc-acts -q --data data.mcz --samples $images a.mcz q.mcz | mc-corr -q -o m.mcz
mc-hungarian m.mcz -o p.mcz
/usr/bin/python3 "$MC_ROOT/tests/cli/recovered.py" planted.mcz p.mcz m.mcz

# and two of them are joined
mc-bezier -q -t 1 --data data.mcz --samples $images --batch $batch --epochs 1 a.mcz b.mcz -o curve.mcz
mc-bezier --point .5 --bn-data data.mcz --bn-samples $images curve.mcz -o middle.mcz
mc-info --graph curve.mcz | cmp - again.json

# refused in one line
t="mc-train --data data.mcz --epochs 1 -o no.mcz --net"
bad() { # what it says, sed's change
    sed "$2" "$net" >bad.json
    cmp -s "$net" bad.json && die "sed changed nothing: $2"
    fails 3 "bad.json: $1" $t bad.json
}
bad 'graph: node "last.conv": "out" is 1000000000, not an integer from 1 to 16777216' '/last.conv/s/"out": 32/"out": 1000000000/'
bad 'graph: node "last.conv": its output would be too large' '/last.conv/s/"out": 32/"out": 16777216/'
bad 'graph: node "wide": input "wide.c.bn" is no earlier node' 's/"wide.b.bn"\]/"wide.c.bn"]/'
bad 'graph: node "stem.pool": op "softmax" is not known' 's/maxpool/softmax/'
bad 'graph: node "stem.conv": key "dilation" is not known' '/stem.conv"/s/"out"/"dilation": 2, "out"/'
bad 'graph: node "fc": "out" is not an integer from 1 to 16777216' '/"fc"/s/"out": 10/"out": 10.5/'
bad 'graph: node "block.sum": ' '/block.conv2/s/"out": 32/"out": 16/'
bad 'line 1, column ' 's/"net": "example"/"net": "a", "net": "b"/'
bad 'line ' 's/"stem.relu"/"stem\\u0000relu"/'
bad 'line ' 's/1e-5/1e-500000000000000000000/;s/0.25,/1e999,/'
bad 'line ' 's/"classes": 10/"classes": 99999999999999999999/'
bad 'line ' '$d'
bad 'line ' '$s/$/ {}/'
bad 'takes images of 3x32x32 in 11 classes, the data' 's/"classes": 10/"classes": 11/;s/"out": 10,/"out": 11,/'
bad 'takes images of 3x48x32 in 10 classes, the data' 's/\[3, 32, 32\]/[3, 48, 32]/'
/usr/bin/python3 -c 'print("[" * 200000)' >deep.json
fails 3 'deep.json: its JSON is nested over 8 deep' $t deep.json
/usr/bin/python3 -c 'print("[" + "0," * 500000 + "0]")' >many.json
fails 3 'many.json: its JSON has over 131072 values' $t many.json
head -c 3000000 /dev/zero | tr '\0' ' ' >large.json
fails 3 'large.json: is over 2097152 bytes' $t large.json
printf '{"net": "\377"}' >latin.json
fails 3 'latin.json: line 1' $t latin.json
: >empty.json
fails 3 'empty.json: line 1' $t empty.json
echo '{"net": "x", "input": [3, 32, 32], "classes": 10, "nodes": []}' >none.json
fails 3 'none.json: graph: no nodes' $t none.json
fails 1 "cannot open './none'" $t ./none
mkfifo pipe.json
fails 3 './pipe.json: line 1' timeout 60 $t ./pipe.json # which nobody writes to
fails 3 '/dev/null: is no regular file' $t /dev/null
fails 3 'data.mcz: is a dataset stream, without a network' mc-info --graph data.mcz
fails 2 'only one of' mc-info --graph --json a.mcz
[ ! -e no.mcz ] || die "an output of a failed run"
no_temporaries

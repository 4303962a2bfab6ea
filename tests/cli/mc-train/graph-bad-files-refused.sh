# SPDX-License-Identifier: Apache-2.0
# mc-train refuses a wrong graph file in one line.
net=$MC_ROOT/formats/samples/example_net.json
mc-data synth --samples 20 -o data.mcz
t="mc-train --data data.mcz --epochs 1 --net"
refuses() { # TEXT SED-SCRIPT
    sed "$2" "$net" >bad.json
    ! cmp -s "$net" bad.json || die "sed changed nothing: $2"
    fails 3 "bad.json: $1" $t bad.json
}
refuses 'graph: node "last.conv": "out"*integer*1 to 16777216 (got 1000000000)' '/last.conv/s/"out": 32/"out": 1000000000/'
refuses 'graph: node "last.conv": output*empty*too large' '/last.conv/s/"out": 32/"out": 16777216/'
refuses 'graph: node "wide": input "wide.c.bn"*not an earlier node' 's/"wide.b.bn"\]/"wide.c.bn"]/'
refuses 'graph: node "stem.pool": unknown op "softmax"' 's/maxpool/softmax/'
refuses 'graph: node "stem.conv": unknown key "dilation"' '/stem.conv"/s/"out"/"dilation": 2, "out"/'
refuses 'graph: node "fc": "out"*integer*1 to 16777216' '/"fc"/s/"out": 10/"out": 10.5/'
refuses 'graph: node "block.sum": ' '/block.conv2/s/"out": 32/"out": 16/'
refuses 'line 1, column ' 's/"net": "example"/"net": "a", "net": "b"/'
refuses 'line ' 's/"stem.relu"/"stem\\u0000relu"/'
refuses 'line ' 's/1e-5/1e-500000000000000000000/;s/0.25,/1e999,/'
refuses 'line ' 's/"classes": 10/"classes": 99999999999999999999/'
refuses 'line ' '$d'
refuses 'line ' '$s/$/ {}/'
refuses 'images*3x32x32*11 classes expected*data' 's/"classes": 10/"classes": 11/;s/"out": 10,/"out": 11,/'
refuses 'images*3x48x32*10 classes expected*data' 's/\[3, 32, 32\]/[3, 48, 32]/'
/usr/bin/python3 -c 'print("[" * 200000)' >deep.json
fails 3 'deep.json: JSON*nested at most 8 deep' $t deep.json
/usr/bin/python3 -c 'print("[" + "0," * 500000 + "0]")' >many.json
fails 3 'many.json: JSON*at most 131072 values' $t many.json
head -c 3000000 /dev/zero | tr '\0' ' ' >large.json
fails 3 'large.json:*graph*at most 2097152 bytes' $t large.json
printf '{"net": "\377"}' >latin.json
fails 3 'latin.json: line 1' $t latin.json
: >empty.json
fails 3 'empty.json: line 1' $t empty.json
echo '{"net": "x", "input": [3, 32, 32], "classes": 10, "nodes": []}' >none.json
fails 3 'none.json: graph: no nodes' $t none.json
fails 1 "cannot open './none'" $t ./none
mkfifo pipe.json
fails 3 './pipe.json: line 1' timeout 60 $t ./pipe.json # without a writer
fails 3 '/dev/null: not a regular file' $t /dev/null

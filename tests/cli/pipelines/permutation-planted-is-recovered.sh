# SPDX-License-Identifier: Apache-2.0
# Planted permutations of trained networks are recovered in every group: residual streams, inception branches with both
# auxiliary heads, plain stacks with and without batch norm, modern_net.py's blocks (gates, grouped convolutions, layer
# norm), and blocks of grouped convolutions that move as a whole. mc-permute --verify proves the permuted network equal,
# heads included.
# PLANTED_NETS="net:side:at ..." and PLANTED_IMAGES select others. A googlenet after a few steps has half its units dead
# after the ReLU, so its activations before the ReLU are compared.
images=${PLANTED_IMAGES:-96} batch=16
nets=${PLANTED_NETS:-"resnet:8,4:16:post resnet:14,8:16:post vgg:bn,11,4:32:post vgg:11,4:32:post later.json:16:post blocks.json:16:post googlenet:12:pre"}
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/modern_net.py" >later.json
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
[ "${MC_UNDER:-}" != valgrind ] || images=16 nets="resnet:8,4:8:post later.json:16:post blocks.json:16:post"
[ "${MC_UNDER:-}" != sanitize ] || images=64

for n in $nets; do
    at=${n##*:} n=${n%:*}
    net=${n%:*} side=${n##*:} data=data-${n##*:}.mcz
    [ -f "$data" ] || mc-data synth --samples "$images" --size "$side" -o "$data"
    mc-train -q -t 1 --net "$net" --data "$data" --batch $batch --lr .02 --epochs 1 -o a.mcz
    mc-permute --random 5 --perm-out planted.mcz a.mcz -o q.mcz
    mc-permute --verify "$data" planted.mcz a.mcz >table
    awk -F '\t' 'NR == 2 && $2 == 0 && $4 > .01 && $3 < 1e-5 * $4 && $5 < 1e-5 * $4 { ok = 1 }
        END { exit !ok }' table || die "$net: the permuted network differs: $(tail -n 1 table)"
    mc-acts -q --at "$at" --data "$data" --samples "$images" a.mcz q.mcz | mc-corr -q -o c.mcz
    mc-hungarian c.mcz -o p.mcz
    check_recovery planted.mcz p.mcz c.mcz || die "$net: not recovered"
    # dead units may be permuted among themselves; without any, every bit comes back
    mc-permute p.mcz q.mcz -o back.mcz
    dead=$(/usr/bin/python3 -c 'import sys; sys.path.insert(0, sys.argv[1] + "/formats/python"); import mcz
print(sum(len(g["dead_a"]) for g in mcz.read("c.mcz").meta["groups"]))' "$MC_ROOT")
    [ "$dead" -gt 0 ] || [ "$(id back.mcz)" = "$(id a.mcz)" ] || die "$net: the restored network differs"
    echo "$net: $(tail -n 1 table | cut -f 3-), $dead dead units"
done

# SPDX-License-Identifier: Apache-2.0
# Two random permutations of a trained network are recovered by a joint alignment of the three, in every group: stacks,
# residual streams, inception branches, gates, and blocks of grouped convolutions with the channels in them. The result
# reaches the bound of the pairs' own optima, and the mean of the three is the network itself, bit for bit. PLANTED_NETS="net:side:at ..." and PLANTED_IMAGES select others.
images=${PLANTED_IMAGES:-64} batch=16
nets=${PLANTED_NETS:-"tinyten:16:pre resnet:8,4:16:post vgg:bn,11,4:32:post mlp:bn,24,16:8:pre later.json:16:post blocks.json:16:post googlenet:12:pre"}
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/modern_net.py" >later.json
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
[ "${MC_UNDER:-}" != valgrind ] || images=16 nets="resnet:8,4:8:post blocks.json:16:post"
[ "${MC_UNDER:-}" != sanitize ] || nets="resnet:8,4:16:post blocks.json:16:post mlp:bn,24,16:8:post"

for n in $nets; do
    at=${n##*:} n=${n%:*}
    net=${n%:*} side=${n##*:} data=data-${n##*:}.mcz
    [ -f "$data" ] || mc-data synth --samples "$images" --size "$side" -o "$data"
    mc-train -q -t 1 --net "$net" --data "$data" --batch $batch --lr .02 --epochs 1 -o 1.mcz
    for s in 2 3; do mc-permute --random $s --perm-out planted-$s.mcz 1.mcz -o $s.mcz; done
    for p in 1:2 1:3 2:3; do
        mc-acts -q --at "$at" --data "$data" --samples "$images" ${p%:*}.mcz ${p#*:}.mcz | mc-corr -q -o m${p/:/}.mcz
    done
    mc-hungarian -q --joint --starts 2 m23.mcz m12.mcz m13.mcz -o joint.mcz --table table.tsv
    for s in 2 3; do
        mc-permute --member $s joint.mcz -o p$s.mcz
        check_recovery planted-$s.mcz p$s.mcz m1$s.mcz || die "$net: member $s is not recovered"
    done
    awk -F '\t' '$1 == "total" { ok = $3 > 0 && $NF - $3 < 1e-6 * $NF } END { exit !ok }' table.tsv ||
        die "$net: below the bound: $(tail -n 1 table.tsv)"
    dead=$(/usr/bin/python3 -c 'import mcz
print(sum(len(g["dead_a"]) for g in mcz.read("m12.mcz").meta["groups"]))')
    for s in 1 2 3; do mc-permute joint.mcz $s.mcz -o back-$s.mcz; done
    same_content back-3.mcz <(mc-permute p3.mcz 3.mcz)
    if [ "$dead" -eq 0 ]; then
        mc-merge back-1.mcz back-2.mcz back-3.mcz | same_content - 1.mcz
        same_content 1.mcz back-3.mcz
        same_content 2.mcz <(mc-permute --to 2 joint.mcz 3.mcz)
        alive="${alive:-} $net"
    fi
    echo "$net: $(tail -n 1 table.tsv), $dead dead units"
done
[ -n "${alive:-}" ] || die "every network has dead units"

# SPDX-License-Identifier: Apache-2.0
# mc-match recovers planted permutations of every network from its weights alone, with both heads of googlenet, and
# restores every bit.
nets="tinyten resnet20 resnet32 googlenet mlp:20,30 mlp:bn,9,24,10 vgg:bn,11,8 vgg:11,8 $MC_ROOT/formats/samples/example_net.json ./blocks.json"
[ -z "$MC_UNDER" ] || nets="tinyten resnet:8,4 mlp:20,30 ./blocks.json"
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
mc-data synth --samples 64 -o data.mcz
mc-data synth --samples 64 --size 16 -o small.mcz

for net in $nets; do
    data=data.mcz
    [ "$net" != ./blocks.json ] || data=small.mcz
    if [[ $net == */example_net.json ]]; then
        fixture example
        cp a.mcz example.mcz
    else
        mc-train -q -t 1 --net "$net" --data $data --epochs 0 -o example.mcz
    fi
    mc-permute --random 5 --perm-out planted.mcz example.mcz -o q.mcz
    mc-match -q example.mcz q.mcz --log-json log.json -o p.mcz
    mc-permute p.mcz q.mcz -o back.mcz
    same_content example.mcz back.mcz
    expect_equal "$(field log.json sweep distance | tail -n 1)" 0
    mc-permute --compose planted.mcz p.mcz | same_content - <(mc-permute --identity example.mcz)
    echo "$net: $(field log.json sweep objective | wc -l) sweeps"
done

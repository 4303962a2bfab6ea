# SPDX-License-Identifier: Apache-2.0
# mc-repair --ends of a network with itself changes no bit, on training images, augmented images and noise, with and without
# batch norm. So does an end of weight 1 among others of weight 0. A merged network of them does change.
for net in tinyten mlp:20,16 vgg:11,8 resnet:8,4; do
    [ -z "$MC_UNDER" ] || [[ $net == mlp* ]] || continue
    size=16
    [[ $net != vgg* ]] || size=32
    mc-data synth --samples 60 --size $size -o d.mcz
    mc-data synth --split test --samples 40 --size $size --seed 9 -o other.mcz
    for s in 1:a 2:b; do
        mc-train -q -t 1 --net $net --data d.mcz --batch 16 --lr .02 --epochs 1 --seed ${s%:*} -o ${s#*:}.mcz
    done
    repair() { mc-repair -q -t 1 --batch 16 "$@"; }
    for images in d.mcz 'd.mcz --images augmented' 'other.mcz --samples 17'; do
        # shellcheck disable=SC2086 # options
        {
            repair --data $images a.mcz --ends a.mcz 2>/dev/null | same_content - a.mcz
            repair --data $images --weights .3,1/7,2 a.mcz --ends a.mcz a.mcz a.mcz 2>/dev/null | same_content - a.mcz
            repair --data $images --weights 1,0 a.mcz --ends a.mcz b.mcz 2>/dev/null | same_content - a.mcz
            repair --data $images --weights 0,7 b.mcz --ends a.mcz b.mcz 2>/dev/null | same_content - b.mcz
        }
    done
    mc-merge a.mcz b.mcz -o m.mcz
    repair --data d.mcz m.mcz --ends a.mcz b.mcz -o r.mcz
    different_content m.mcz r.mcz
done

# SPDX-License-Identifier: Apache-2.0
# Each training option of mc-train changes the network; --init starts from another network's weights.
fixture curves
train() { mc-train -q --net mlp:bn,16 --data d.mcz --samples 300 --epochs 3 --schedule onecycle --seed 1 -t 1 "$@"; }

train -o a.mcz
for option in '--huber 1' '--weight-decay 0' '--no-nesterov' '--momentum 0.5' '--schedule step:1' '--no-augment' \
    '--batch 64' '--samples 299' '--lr 0.03'; do
    train $option -o other.mcz
    different_content a.mcz other.mcz
done
fails 2 '--net*--init*combined' train --init a.mcz
mc-train -q --init n1.mcz --data d.mcz --epochs 1 --batch 100 --no-augment --lr 1e-12 -o c.mcz
mc-train -q --net mlp:32,16 --data d.mcz --epochs 1 --lr 0.01 -o m.mcz
mc-train -q --net mlp:bn,32 --data d.mcz --epochs 0 -o fresh.mcz
mc-info --check c.mcz m.mcz fresh.mcz

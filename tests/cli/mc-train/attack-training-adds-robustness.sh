# SPDX-License-Identifier: Apache-2.0
# mc-train --attack writes the same bytes twice, is recorded in the history, and is much more robust than without.
n=1024
[ "$MC_UNDER" != valgrind ] || n=128
mc-data synth --samples $n --seed 3 -o d.mcz
attack=pgd:eps=8/255,step=4/255,steps=2
train() { mc-train -q --net mlp:bn,32 --no-normalise --data d.mcz --epochs 6 --lr 0.05 --batch 64 --schedule onecycle -t 1 --seed 5 "$@"; }

train -o plain.mcz
train --attack $attack -o a.mcz
train --attack $attack | same a.mcz -
different_content a.mcz plain.mcz
mc-info -v a.mcz | grep -q 'attack=pgd:eps=0.0313725[0-9]*,step=0.0156862[0-9]*,steps=2,restarts=1,norm=linf,start=random' ||
    die 'the history lacks the attack'
same_content a.mcz <(train --attack pgd:steps=2,step=4/255) # eps in the units of the data set
# the network receives pixels in [0,1]
mc-info --graph a.mcz | tr -d ' \n' | grep -q '"std":\[1' || die 'it normalises'

# robust accuracy on the training images
robust() { mc-eval -q -t 1 --data d.mcz --samples $n --attack pgd:steps=5 "$1" | column /dev/stdin train.robust.accuracy; }
[ "$MC_UNDER" != valgrind ] || exit 0
a=$(robust a.mcz)
p=$(robust plain.mcz)
[[ $a =~ ^[0-9.]+$ && $p =~ ^[0-9.]+$ ]] || die "not accuracies: $a $p"
awk -v a="$a" -v p="$p" 'BEGIN { exit !(a > p + 5) }' ||
    die "robust accuracy $a with the attack, $p without"

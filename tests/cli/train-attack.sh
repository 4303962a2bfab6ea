# SPDX-License-Identifier: Apache-2.0
# Adversarial training: networks and curves are robuster for it, a run in two pieces gives the same bytes as one,
# a checkpoint of another attack is refused, and so is what is no attack.
. "$MC_ROOT/tests/cli/lib.bash"
n=1024
[ "${MC_UNDER:-}" != valgrind ] || n=128
mc-data synth --samples $n --seed 3 -o d.mcz
attack=pgd:eps=8/255,step=4/255,steps=2
train() { mc-train -q --net mlp:bn,32 --no-normalise --data d.mcz --epochs 6 --lr 0.05 --batch 64 --schedule onecycle -t 1 "$@"; }

train --seed 5 -o plain.mcz
train --seed 5 --attack $attack -o a.mcz
train --seed 5 --attack $attack -o again.mcz
same a.mcz again.mcz
[ "$(id a.mcz)" != "$(id plain.mcz)" ] || die 'the attack changed nothing'
mc-info -v a.mcz | grep -q 'attack=pgd:eps=0.0313725[0-9]*,step=0.0156862[0-9]*,steps=2,restarts=1,norm=linf,start=random' ||
    die 'the history does not tell the attack'
train --seed 5 --attack pgd:steps=2,step=4/255 -o same.mcz # eps as the data set has it
[ "$(id a.mcz)" = "$(id same.mcz)" ] || die 'the default radius is not 8/255'

# images are pixels in [0,1] to it
mc-info --graph a.mcz | grep -q '"std": *\[ *1' || mc-info --graph a.mcz | tr -d ' \n' | grep -q '"std":\[1' ||
    die 'it normalises'

# robuster than without, by far (robust accuracy on the images themselves)
robust() { mc-eval -q -t 1 --data d.mcz --samples $n --attack pgd:steps=5 "$1" | column /dev/stdin train.robust.accuracy; }
if [ "${MC_UNDER:-}" != valgrind ]; then
    awk -v a="$(robust a.mcz)" -v p="$(robust plain.mcz)" 'BEGIN { exit !(a > p + 5) }' ||
        die "robust accuracy $(robust a.mcz) with the attack, $(robust plain.mcz) without"
fi

# in two pieces
train --seed 5 --attack $attack --stop-after 2 --checkpoint ck -o half.mcz
fails 3 'attack' train --seed 5 --attack $attack,restarts=2 --checkpoint ck --resume -o no.mcz
fails 3 'attack' train --seed 5 --checkpoint ck --resume -o no.mcz
train --seed 5 --attack $attack --checkpoint ck --resume -o out.mcz
same a.mcz out.mcz

# curves
train --seed 6 --attack $attack -o b.mcz
curve() { mc-bezier -q --data d.mcz --epochs 2 --batch 64 -t 1 --attack $attack,norm=l2,eps=0.5 a.mcz b.mcz "$@"; }
curve -o curve.mcz
curve --stop-after 1 --checkpoint ck2 -o half.mcz
curve --checkpoint ck2 --resume -o out.mcz
same curve.mcz out.mcz

# what is no attack
bad() { fails 2 "$1" train --attack "$2" -o no.mcz; }
bad "there is no 'fgsm' (there are: pgd)" fgsm
bad "'-1' is not a number" pgd:eps=-1
bad "eps 8 is in pixels of [0,1] and can be at most 1 (8 of 255 levels are 8/255)" pgd:eps=8
bad "step 2 is in pixels of [0,1]" pgd:eps=8/255,step=2
bad "'0' is not" pgd:steps=0
bad "'x' is not KEY=VALUE" pgd:x
bad "there is no 'radius' (there are: eps, step, steps, restarts, norm, start, target)" pgd:radius=1
bad "there is no 'l1' (there are: linf, l2)" pgd:norm=l1
bad "target 10 is no class" pgd:target=10
bad "'257'" pgd:restarts=257
bad "'' is not" pgd:eps=
fails 2 '--no-normalise is for new networks' mc-train --no-normalise --init a.mcz --data d.mcz -o no.mcz
[ ! -e no.mcz ]
no_temporaries

# SPDX-License-Identifier: Apache-2.0
# --attack refuses a wrong attack and lists the valid ones.
d=$MC_ROOT/formats/samples/good-dataset.mcz
refuses() { fails 2 "$1" mc-train -q --net mlp:8 --data "$d" --attack "$2"; }
refuses "unknown attack 'fgsm'" fgsm
refuses "'-1'*not a number" pgd:eps=-1
refuses "eps*at most 1*pixels*[0,1] (got 8; 8 of 255 levels*8/255)" pgd:eps=8
refuses "step*at most 1" pgd:eps=8/255,step=2
refuses "'0' is not" pgd:steps=0
refuses "KEY=VALUE expected*got 'x'" pgd:x
refuses "unknown value 'radius'*eps, step, steps, restarts, norm, start, target" pgd:radius=1
refuses "unknown value 'l1'*linf, l2" pgd:norm=l1
refuses "target 10*not a class" pgd:target=10
refuses "'257'" pgd:restarts=257
refuses "'' is not" pgd:eps=

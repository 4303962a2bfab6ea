# SPDX-License-Identifier: Apache-2.0
# --attack refuses a wrong attack and lists the valid ones.
d=$MC_ROOT/formats/samples/good-dataset.mcz
bad() { fails 2 "$1" mc-train -q --net mlp:8 --data "$d" --attack "$2"; }
bad "unknown attack 'fgsm' (pgd is the only one)" fgsm
bad "'-1' is not a number" pgd:eps=-1
bad "eps must be at most 1, in pixels of [0,1] (got 8; 8 of 255 levels are 8/255)" pgd:eps=8
bad "step must be at most 1" pgd:eps=8/255,step=2
bad "'0' is not" pgd:steps=0
bad "KEY=VALUE expected, got 'x'" pgd:x
bad "unknown value 'radius' (one of: eps, step, steps, restarts, norm, start, target)" pgd:radius=1
bad "unknown value 'l1' (one of: linf, l2)" pgd:norm=l1
bad "target 10 is not a class" pgd:target=10
bad "'257'" pgd:restarts=257
bad "'' is not" pgd:eps=

# SPDX-License-Identifier: Apache-2.0
# Adversarial training of a network or a curve resumes to the same bytes; a checkpoint of another attack is refused.
fixture attacked
train() { mc-train -q --net mlp:bn,8 --no-normalise --data d.mcz --epochs 3 --lr 0.05 --batch 64 -t 1 "$@"; }
curve() { mc-bezier -q --data d.mcz --epochs 2 --batch 64 -t 1 --attack $attack,norm=l2,eps=0.5 n1.mcz n2.mcz "$@"; }

train --attack $attack -o whole.mcz
train --attack $attack --stop-after 2 --checkpoint ck -o half.mcz
fails 3 'attack' train --attack $attack,restarts=2 --checkpoint ck --resume
fails 3 'attack' train --checkpoint ck --resume
train --attack $attack --checkpoint ck --resume | same whole.mcz -
curve -o curve.mcz
curve --stop-after 1 --checkpoint ck2 -o half.mcz
curve --checkpoint ck2 --resume | same curve.mcz -

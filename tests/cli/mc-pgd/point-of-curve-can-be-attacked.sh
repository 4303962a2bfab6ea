# SPDX-License-Identifier: Apache-2.0
# mc-pgd attacks a point of a curve, but not the curve; examples made from examples keep their name.
fixture examples

mc-bezier --epochs 0 1.mcz 2.mcz -o curve.mcz
mc-bezier --point .5 --bn-data train.mcz curve.mcz | $p -q - -o point.mcz
fails 3 'curve.mcz: weights expected*curve*mc-bezier --point T' $p curve.mcz
mc-pgd -q -t 1 --data adv.mcz 2.mcz | mc-info | grep -q 'name  *synth-pgd$'

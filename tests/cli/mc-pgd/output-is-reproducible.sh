# SPDX-License-Identifier: Apache-2.0
# mc-pgd writes the same bytes twice, from and to a pipe; another seed writes other examples.
fixture examples

p+=" -q --eps 8/255 --steps 10"
$p - <1.mcz | cat | same adv.mcz -
mc-pgd -q -t 1 ${small:+--batch 60} --data - --eps 8/255 --steps 10 1.mcz <test.mcz | same adv.mcz -
different_content adv.mcz <($p --seed 2 1.mcz)
$p --no-history 1.mcz >x.mcz
same_content adv.mcz x.mcz
! cmp -s x.mcz adv.mcz || die '--no-history writes a history'

# SPDX-License-Identifier: Apache-2.0
# mc-permute --random: the same bytes twice, another seed, another permutation; the identity moves nothing.
fixture stranger

alike a.mcz <(mc-permute one.mcz a.mcz)
mc-permute --random 7 a.mcz --perm-out q2.mcz | same qa.mcz -
same q.mcz q2.mcz
differ a.mcz qa.mcz
differ qa.mcz ra.mcz

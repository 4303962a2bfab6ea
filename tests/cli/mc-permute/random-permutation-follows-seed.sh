# SPDX-License-Identifier: Apache-2.0
# mc-permute --random writes the same bytes twice and depends on the seed; --identity moves nothing.
fixture stranger

same_content a.mcz <(mc-permute one.mcz a.mcz)
mc-permute --random 7 a.mcz --perm-out q2.mcz | same qa.mcz -
same q.mcz q2.mcz
different_content a.mcz qa.mcz
different_content qa.mcz ra.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-permute applies a permutation from a file or a pipe, inverts it, and composes two, the first operand first.
fixture stranger

same_content qa.mcz <(mc-permute q.mcz a.mcz)
same_content qa.mcz <(cat q.mcz | mc-permute - a.mcz)
same_content qa.mcz <(cat a.mcz | mc-permute q.mcz -)
mc-permute --inverse q.mcz -o qi.mcz
for undo in 'qi.mcz' '--inverse q.mcz' '--inverse --random 7'; do same_content a.mcz <(mc-permute $undo qa.mcz); done

mc-permute --compose q.mcz r.mcz -o qr.mcz
mc-permute r.mcz qa.mcz -o rqa.mcz
same_content rqa.mcz <(mc-permute qr.mcz a.mcz)
same_content a.mcz <(mc-permute --inverse --compose q.mcz r.mcz | mc-permute - rqa.mcz)
same_content one.mcz <(mc-permute --compose q.mcz qi.mcz)

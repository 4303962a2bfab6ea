# SPDX-License-Identifier: Apache-2.0
# A permutation that was found for another network is applied with a warning.
fixture pair recoverable

mc-acts --data data.mcz $small --samples $((total / 4)) a.mcz q.mcz -o aq.mcz
mc-acts --data data.mcz $small --samples $((total / 4)) q.mcz a.mcz -o qa.mcz
mc-corr -q aq.mcz | mc-hungarian -q -o p.mcz
mc-permute p.mcz q.mcz -o back.mcz
expect_message '' mc-permute p.mcz q.mcz
expect_message 'mc-permute: warning: p.mcz*another network*a.mcz' mc-permute p.mcz a.mcz
expect_message 'mc-permute: warning: p.mcz*another network*stdin' mc-permute p.mcz - <a.mcz
expect_message '' mc-permute --inverse p.mcz back.mcz
mc-permute --compose p.mcz p.mcz -o pp.mcz
expect_message '' mc-permute pp.mcz a.mcz
expect_message '' mc-corr --signature --perm p.mcz aq.mcz
expect_message 'mc-corr: warning: p.mcz*other networks*moments' mc-corr --signature --perm p.mcz qa.mcz
expect_message 'mc-corr: warning: stdin*other networks*moments' mc-corr --signature --perm - qa.mcz <p.mcz
mc-corr -q aq.mcz | mc-hungarian -q --no-history -o bare.mcz
expect_message '' mc-permute bare.mcz a.mcz

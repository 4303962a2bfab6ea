# SPDX-License-Identifier: Apache-2.0
# mc-bound refuses a permutation of another architecture, and warns about one that was found between other networks.
fixture bounded

mc-train -q -t 1 --net mlp:12,7 --data d.mcz --epochs 1 -o n3.mcz
mc-permute --identity n3.mcz -o other.mcz
fails 3 'other.mcz: ' mc-bound n1.mcz n2.mcz m.mcz other.mcz
fails 3 'm.mcz: ' mc-bound n1.mcz n2.mcz m.mcz m.mcz
mc-acts -q -t 1 --data d.mcz --at pre n2.mcz n1.mcz | mc-corr -q --measure l2 | mc-hungarian -q -o back.mcz
expect_message 'mc-bound: warning: back.mcz*other networks*n1.mcz*n2.mcz' mc-bound n1.mcz n2.mcz m.mcz back.mcz
expect_equal "$(wc -l <x.mcz)" 3
expect_message '' mc-bound n1.mcz n2.mcz m.mcz p.mcz

# SPDX-License-Identifier: Apache-2.0
# mc-match writes the same bytes on any threads and instruction set; another seed visits groups in another order.
fixture pair

mc-match -q -t 1 --log-json log.json a.mcz b.mcz -o p.mcz
mc-info --check -q p.mcz
mc-match -q -t 3 --log-json log3.json a.mcz - <b.mcz | same p.mcz -
same log.json log3.json
for isa in portable avx2; do MC_ISA=$isa mc-match -q -t 2 a.mcz b.mcz | same p.mcz -; done
mc-match -q --no-history a.mcz b.mcz -o plain.mcz
same_content p.mcz plain.mcz
mc-match -q --seed 2 --log-json log2.json a.mcz b.mcz -o p2.mcz
! cmp -s log.json log2.json || die 'the seed changes nothing'
mc-info p.mcz | grep -q ' mc-match .* seed=1 '
# the permutation names its networks
expect_message '' mc-permute p.mcz b.mcz
expect_message "mc-permute: warning: p.mcz*another network*a.mcz" mc-permute p.mcz a.mcz

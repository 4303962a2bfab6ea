# SPDX-License-Identifier: Apache-2.0
# mc-match writes the same bytes with any number of threads and with AVX2 or AVX-512. Another seed visits groups in another order.
fixture pair

mc-match -q -t 1 --log-json log.json a.mcz b.mcz -o p.mcz
mc-info --check -q p.mcz
mc-match -q -t 3 --log-json log3.json a.mcz - <b.mcz | same p.mcz -
same log.json log3.json
MC_ISA=avx2 mc-match -q -t 2 a.mcz b.mcz | same p.mcz -
# without fused multiply-adds the last bits of the reported values differ
MC_ISA=portable mc-match -q -t 2 a.mcz b.mcz -o portable.mcz
py <<'END'
p, q = mcz.read("p.mcz"), mcz.read("portable.mcz")
assert all((p.tensors[k] == q.tensors[k]).all() for k in p.tensors)
for g, h in zip(p.meta["groups"], q.meta["groups"]):
    assert abs(g["value"] - h["value"]) <= 1e-6 * abs(g["value"]), (g, h)
END
mc-match -q --no-history a.mcz b.mcz -o plain.mcz
same_content p.mcz plain.mcz
mc-match -q --seed 2 --log-json log2.json a.mcz b.mcz -o p2.mcz
! cmp -s log.json log2.json || die 'the seed changes nothing'
mc-info p.mcz | grep -q ' mc-match .* seed=1 '
# the permutation names its networks
expect_message '' mc-permute p.mcz b.mcz
expect_message "mc-permute: warning: p.mcz*another network*a.mcz" mc-permute p.mcz a.mcz

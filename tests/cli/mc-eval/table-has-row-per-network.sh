# SPDX-License-Identifier: Apache-2.0
# mc-eval prints one row per network, from files and pipes; the batch size changes only rounding.
fixture three

mc-eval -q --data test.mcz n1.mcz n2.mcz >nets.tsv
expect_equal "$(head -n 1 nets.tsv)" "$(printf 'network\ttest.loss\ttest.accuracy')"
expect_equal "$(column nets.tsv network | paste -sd ' ')" 'n1.mcz n2.mcz'
mc-eval -q --data test.mcz <n1.mcz >piped.tsv
expect_equal "$(column piped.tsv network)" stdin
same <(column piped.tsv test.loss) <(column nets.tsv test.loss | sed -n 1p)
mc-eval -q --data - n1.mcz <test.mcz | tail -n 1 | same - <(sed -n 2p nets.tsv)
mc-eval -q --data test.mcz n1.mcz <(cat n2.mcz) | tail -n 1 | cut -f 2- | same - <(tail -n 1 nets.tsv | cut -f 2-)
mc-eval -q --batch 50 --data test.mcz n1.mcz n2.mcz >b50.tsv
paste <(column nets.tsv test.loss) <(column b50.tsv test.loss) |
    awk '{ d = ($1 - $2) / $1; if (d * d > 1e-10) exit 1 } END { exit NR != 2 }' || die 'the batch size changes figures'
same <(column nets.tsv test.accuracy) <(column b50.tsv test.accuracy)

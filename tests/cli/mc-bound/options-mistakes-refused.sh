# SPDX-License-Identifier: Apache-2.0
# mc-bound refuses wrong operands and options before it reads anything; a failed run writes no table.
fixture bounded

fails 2 'missing: operand MOMENTS.mcz (see --help)' mc-bound n1.mcz n2.mcz
fails 2 "unexpected argument 'p.mcz'" mc-bound n1.mcz n2.mcz m.mcz p.mcz p.mcz
fails 2 "--points: '2'" mc-bound --points 2 n1.mcz n2.mcz m.mcz
fails 1 "cannot write 'none/b.tsv'" mc-bound nosuch.mcz n2.mcz m.mcz -o none/b.tsv
fails 2 'standard input' mc-bound - n2.mcz - </dev/null
usage_error 'same file' mc-bound n1.mcz n2.mcz m.mcz --path m.mcz
usage_error 'same file' mc-bound n1.mcz n2.mcz m.mcz --path x.tsv -o x.tsv
echo old >b.tsv
fails_unchanged 3 'm.mcz' mc-bound n1.mcz n2.mcz m.mcz m.mcz --path b.tsv
mc-bound --points 3 n1.mcz n2.mcz m.mcz --path b.tsv >three
expect_equal "$(cut -f 1,3 three | paste -sd ' ') $(sed -n '2p;4p' b.tsv | paste -sd ' ')" 'permutation	max_t unaligned	0.5 0	0 1	0'

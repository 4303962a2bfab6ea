# SPDX-License-Identifier: Apache-2.0
# mc-bound refuses wrong operands and options before it reads anything; a failed run writes no table.
# It pins the wording of its messages.
fixture bounded

fails_with 2 'missing: operand MOMENTS.mcz (see --help)' mc-bound n1.mcz n2.mcz
fails_with 2 "unexpected argument 'p.mcz' (expected: A.mcz B.mcz MOMENTS.mcz [PERMUTATION.mcz])" mc-bound n1.mcz n2.mcz m.mcz p.mcz p.mcz
fails_with 2 "--points: '2' is not a whole number from 3 to 100001" mc-bound --points 2 n1.mcz n2.mcz m.mcz
fails_with 1 "cannot write 'none/b.tsv': No such file or directory" mc-bound nosuch.mcz n2.mcz m.mcz -o none/b.tsv
fails_with 2 'only one input can be standard input' mc-bound - n2.mcz - </dev/null
fails_with 2 "--path and an input are the same file 'm.mcz'" mc-bound n1.mcz n2.mcz m.mcz --path m.mcz
fails_with 2 "--output and --path are the same file 'x.tsv'" mc-bound n1.mcz n2.mcz m.mcz --path x.tsv -o x.tsv
echo old >b.tsv
fails_with 3 'm.mcz: permutation expected, got moments: run mc-corr and mc-hungarian first' mc-bound n1.mcz n2.mcz m.mcz m.mcz --path b.tsv
mc-bound --points 3 n1.mcz n2.mcz m.mcz --path b.tsv >three
expect_equal "$(cut -f 1,3 three | paste -sd ' ') $(sed -n '2p;4p' b.tsv | paste -sd ' ')" 'permutation	max_t unaligned	0.5 0	0 1	0'

# SPDX-License-Identifier: Apache-2.0
# pointwise.tsv has the percentage of inner points at which the aligned curve is more accurate, and each loss's variation.
mkdir 1-2 3-4
table() { printf 't\ttest.loss\ttest.accuracy\n'; printf '%s\t%s\t%s\n' "$@"; }
table 0 1 90 .25 2 80 .5 1.5 70 .75 2 80 1 1 90 >1-2/u
table 0 1 90 .25 1.1 85 .5 1.2 70 .75 1.1 79 1 1 91 >1-2/a
cp 1-2/u 3-4/u
cp 1-2/u 3-4/a
pointwise() { tables pointwise "$@" 1-2/{u,a} 3-4/{u,a}; }
pointwise | same - <(printf '%s\n' 'pair	above	variation_unaligned	variation_aligned' '1-2	50.0	3.0000	0.4000' '3-4	50.0	3.0000	3.0000')
NET=n DATA=d pointwise --all | sed 1d | same - <(echo 'n	d	2	50.0	0.0	3.0000	0.0000	1.7000	1.8385')
fixture connected
expect_equal "$(cut -f 1-3 out/pointwise.tsv | sed 1d)" 'mlp:bn,16	synth	1'
expect_equal "$(head -n 1 out/signature.tsv | cut -f 1-2) $(sed 1d out/signature.tsv | cut -f 1 | sort -u)" 'pair	layer 1-2'
# curves with different points cannot be compared
table 0 1 90 .3 1 80 1 1 90 >1-2/v
! tables pointwise 1-2/u 1-2/v >made 2>errors || die 'other points pass'
expect_equal "$(tail -n 1 errors)" "tables: 1-2/v: the points differ from those of 1-2/u"

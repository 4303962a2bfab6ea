# SPDX-License-Identifier: Apache-2.0
# mc-hungarian lists dead units, except with -q; -v prints value, gap and ties of each group.
fixture matrices

mc-hungarian m.mcz 2>errors | same - <(mc-hungarian -q m.mcz)
[ -s errors ]
[ "$(grep -vcE '^mc-hungarian: layer[0-9]: of [0-9]+ units, [0-9]+ of a and [0-9]+ of b have almost no variance' errors)" = 0 ] || die "$(cat errors)"
mc-hungarian -v m.mcz 2>verbose >x.mcz
expect_equal "$(grep -cE '^mc-hungarian: layer[0-9]: [0-9]+ units, value [-0-9.e]+ \(mean [-0-9.]+\), gap [-0-9.e]+, [0-9]+ in ties$' verbose)" 7
expect_equal "$(grep -c ' almost no variance: ' verbose)" "$(wc -l <errors)"
expect_message '' mc-hungarian -q m.mcz

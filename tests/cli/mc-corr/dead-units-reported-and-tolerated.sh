# SPDX-License-Identifier: Apache-2.0
# mc-corr lists dead units, except with -q, and a planted permutation is recovered despite them.
fixture planted

mc-corr dq.mcz -o c.mcz 2>err
grep -q '^mc-corr: layers.3.conv: of 32 units, .*3.*17.* of a and .* of b have almost no variance: correlation 0$' err
expect_message '' mc-corr -q dq.mcz
same c.mcz x.mcz
mc-hungarian -q c.mcz -o p.mcz
check_recovery planted.mcz p.mcz c.mcz layers.3.conv 3 17

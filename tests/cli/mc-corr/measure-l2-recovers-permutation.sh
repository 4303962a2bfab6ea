# SPDX-License-Identifier: Apache-2.0
# mc-corr --measure l2 has no dead units and recovers the planted permutation.
fixture planted

mc-corr --measure l2 dq.mcz -o l2.mcz 2>err
[ ! -s err ] || die "$(cat err)"
mc-info --json l2.mcz | grep -q '"measure": *"l2"'
mc-hungarian -q l2.mcz -o p.mcz
mc-corr -q dq.mcz -o x.mcz
check_recovery planted.mcz p.mcz x.mcz layers.3.conv 3 17

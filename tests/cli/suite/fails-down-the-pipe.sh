# SPDX-License-Identifier: Apache-2.0
# A failing first stage fails the last one, without pipefail.
samples=$MC_ROOT/formats/samples
head -c 300 "$samples/good-moments.mcz" | mc-corr 2>err1 | mc-hungarian 2>err2 |
    mc-permute - "$samples/good-weights.mcz" -o pb.mcz 2>err3 && die "a truncated stream passed"
grep -qx 'mc-corr: stdin: header: truncated' err1 || die "$(cat err1)"
[ ! -s err2 ] && [ ! -s err3 ] || die "$(cat err2 err3)"
: | mc-plot path -o x.svg 2>err1 && die "an empty table passed"
[ ! -s err1 ] || die "$(cat err1)"
[ ! -e pb.mcz ] || die "wrote pb.mcz"

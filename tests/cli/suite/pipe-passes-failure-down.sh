# SPDX-License-Identifier: Apache-2.0
# A failing first stage fails the last one without pipefail; stages between do not report the empty input again.
samples=$MC_ROOT/formats/samples
head -c 300 "$samples/good-moments.mcz" | mc-corr 2>err1 | mc-hungarian 2>err2 |
    mc-permute - "$samples/good-weights.mcz" -o pb.mcz 2>err3 && die "a truncated stream passed"
grep -qx 'mc-corr: stdin: header: truncated' err1 || die "$(cat err1)"
[ ! -s err2 ] || die "$(cat err2)"
grep -qx 'mc-permute: stdin: is empty, not an mcz stream' err3 || die "$(cat err3)"
# a single program reports an empty input, whatever failed before it
sh -c 'kill -9 $$' | fails 3 'stdin: is empty' mc-plot path -o x.svg
sh -c 'kill -9 $$' | fails 3 'stdin: is empty' mc-corr -o x.mcz
sh -c 'kill -9 $$' | mc-info --check 2>err4 | cat
grep -q 'stdin: is empty' err4 || die "mc-info: $(cat err4)"
[ ! -e pb.mcz ] || die "wrote pb.mcz"

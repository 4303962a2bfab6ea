# SPDX-License-Identifier: Apache-2.0
# If standard output is closed, a program that writes to it reports so in one line with status 1, and no file that it opens
# replaces it. A program that does not write to it succeeds.
. "$MC_ROOT/tests/cli/lib/programs.bash"
samples=$MC_ROOT/formats/samples

inputs() { cat w.npz table.tsv plain.mcz pre.mcz "$samples"/*.mcz | cksum; }
closed() {
    local rc=0 before
    : >err
    before=$(inputs)
    "$@" >&- 2>err || rc=$?
    [ "$rc $(wc -l <err)" = '1 1' ] || die "$*: status $rc, $(cat err)"
    grep -q 'Bad file descriptor' err || die "$*: $(cat err)"
    expect_equal "$(inputs)" "$before"
}
programs closed
closed mc-info --help
closed mc-info --version
# another output would be the first file to be opened
closed mc-train -q -t 1 --net mlp:3 --no-augment --epochs 1 --data "$samples/good-dataset.mcz" --log-json log
if grep -qv '^{"event":.*}$' log; then die 'the log contains the network'; fi
closed mc-permute --random 1 --perm-out p.mcz "$samples/good-weights.mcz"
mc-info --check p.mcz >/dev/null
mc-permute --identity "$samples/good-weights.mcz" -o x.mcz >&-
mc-info --check x.mcz >/dev/null <&-
fails 1 'stdin:*read: Bad file descriptor' mc-info - <&-
# its messages are lost, and do not get into its output
rc=0
mc-permute --identity none.mcz -o x.mcz 2>&- || rc=$?
expect_equal $rc 1
mc-train -v -t 1 --net mlp:3 --no-augment --epochs 1 --data "$samples/good-dataset.mcz" -o y.mcz 2>&-
mc-info --check x.mcz y.mcz >/dev/null

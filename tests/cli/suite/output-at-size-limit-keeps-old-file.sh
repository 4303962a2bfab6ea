# SPDX-License-Identifier: Apache-2.0
# An output that reaches the file size limit leaves the old file unchanged; a pipe and a file receive the same bytes.
samples=$MC_ROOT/formats/samples
data=$samples/good-dataset.mcz

large -o a.mcz
cp a.mcz old.mcz
large | same a.mcz -
# the limit sends SIGXFSZ, which ends programs by default
rc=0
(ulimit -f 200 && large -o a.mcz) 2>err || rc=$?
expect_equal $rc 1
grep -qx "mc-train: cannot write 'a.mcz': File too large" err || die "$(cat err)"
same a.mcz old.mcz
no_temporaries
fails 1 "Is a directory" large -o .

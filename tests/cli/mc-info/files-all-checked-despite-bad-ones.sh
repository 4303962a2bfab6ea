# SPDX-License-Identifier: Apache-2.0
# mc-info reads all files: it prints the sound ones, and the others decide the exit status. It pins the wording of its messages.
good=$MC_ROOT/formats/samples/good-stream.mcz
head -c 300 "$good" >cut.mcz
fails_with 3 'cut.mcz: header: truncated' mc-info cut.mcz
fails_with 3 'cut.mcz: header: truncated' mc-info --json cut.mcz
fails_with 3 '.: a stream expected, got a folder (mc-data makes data sets)' mc-info .
rc=0
mc-info --check cut.mcz "$good" cut.mcz >out 2>err || rc=$?
expect_equal "$rc $(wc -l <out) $(wc -l <err)" '3 1 2'

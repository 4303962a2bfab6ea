# SPDX-License-Identifier: Apache-2.0
# mc-hungarian refuses wrong options; a failing upstream ends it and all later stages. It pins the wording of its messages.
matrices=$MC_ROOT/formats/samples/good-matrices.mcz
fails_with 3 "$MC_ROOT/formats/samples/good-stream.mcz: matrices expected, got test" mc-hungarian "$MC_ROOT/formats/samples/good-stream.mcz"
fails_with 2 "--threads: 'none' is not a whole number from 1 to 1024" mc-hungarian -t none "$matrices"
fails_with 2 "unexpected argument '$matrices' (expected: [MATRICES.mcz]; mc-match aligns two networks)" mc-hungarian "$matrices" "$matrices"
{ head -c 200 "$matrices"; exit 1; } | mc-hungarian 2>err | fails 3 'stdin: is empty' mc-info --check -
expect_equal "$(wc -l <err)" 1

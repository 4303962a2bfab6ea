# SPDX-License-Identifier: Apache-2.0
# mc-hungarian refuses wrong options; a failing upstream ends it and all later stages.
matrices=$MC_ROOT/formats/samples/good-matrices.mcz
fails 3 "good-stream.mcz: matrices expected, got test" mc-hungarian "$MC_ROOT/formats/samples/good-stream.mcz"
fails 2 "mc-hungarian: --threads: " mc-hungarian -t none "$matrices"
fails 2 "mc-hungarian: unexpected argument" mc-hungarian "$matrices" "$matrices"
{ head -c 200 "$matrices"; exit 1; } | mc-hungarian 2>err | fails 3 'stdin: is empty' mc-info --check -
expect_equal "$(wc -l <err)" 1

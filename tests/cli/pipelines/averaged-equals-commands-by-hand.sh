# SPDX-License-Identifier: Apache-2.0
# averaged.mk computes the same straight lines with averaged batch-norm statistics as mc-eval; its table also has the
# re-estimated ones of connect.mk.
set -- PAIRS='1:2 3:4' TRAIN_IMAGES=256 EVAL_FLAGS='--bn-samples 64 --bn-plain --samples 128'
graph connect "$@"
graph averaged "$@"
expect_equal "$(count_programs)" 'mc-bezier2 mc-eval8 mc-match2 mc-permute2 '
by_hand() { mc-eval -q -t 1 --line --bn average --data out/train.mcz --data out/test.mcz --samples 128 --points 3 "$@"; }
by_hand out/net-3.mcz out/net-4.mcz | same - out/3-4/line-unaligned-averaged.tsv
by_hand out/net-3.mcz out/3-4/b-aligned.mcz | same - out/3-4/line-aligned-averaged.tsv
mc-match -q out/net-3.mcz out/net-4.mcz | mc-permute - out/net-4.mcz | by_hand out/net-3.mcz - | same - out/3-4/line-weights-averaged.tsv
expect_equal "$(cut -f 3 out/averaged.tsv | paste -sd ' ')" 'path line-unaligned-averaged line-aligned-averaged line-weights-averaged line-unaligned line-aligned line-weights'
for v in unaligned aligned; do same <(grep "line-$v	" out/table.tsv) <(grep "line-$v	" out/averaged.tsv); done
! cmp -s <(grep line-aligned-averaged out/averaged.tsv | cut -f 5-) <(grep 'line-aligned	' out/averaged.tsv | cut -f 5-) || die 'the statistics make no difference'
graph averaged "$@"
expect_equal "$(count_programs)" ''
expect_programs 'mc-eval12 ' averaged "$@" POINTS=5

# SPDX-License-Identifier: Apache-2.0
# grid.mk trains a curve per rate and batch size between the same ends, keeps connect.mk's curves, and writes one table.
set -- PAIRS='1:2 3:4' CURVE_LR=0.1 TRAIN_IMAGES=256
graph connect "$@"
graph grid "$@" GRID_LR='0.1 0.5' GRID_BATCH='64 128'
expect_equal "$(count_programs)" 'mc-bezier12 mc-eval16 '
expect_equal "$(cut -f 3-5 out/grid.tsv | tr '\t' ' ' | paste -sd ';')" 'path lr batch;curve-unaligned 0.1 64;curve-unaligned 0.1 128;curve-unaligned 0.5 64;'\
'curve-unaligned 0.5 128;curve-aligned 0.1 64;curve-aligned 0.1 128;curve-aligned 0.5 64;curve-aligned 0.5 128'
same out/3-4/curve-aligned.mcz out/3-4/curve-aligned-lr0.1-batch128.mcz
mc-bezier -q --data out/train.mcz --seed 3 --epochs 1 --lr .5 --batch 64 -t 1 out/net-3.mcz out/3-4/b-aligned.mcz -o by-hand.mcz
same_content by-hand.mcz out/3-4/curve-aligned-lr0.5-batch64.mcz
# the columns are those of table.tsv
expect_equal "$(awk -F '\t' '$3 == "curve-aligned" && $4 == .1 && $5 == 128' out/grid.tsv | cut -f 6-)" "$(grep curve-aligned out/table.tsv | cut -f 4-)"
graph grid "$@" GRID_LR='0.1 0.5' GRID_BATCH='64 128'
expect_equal "$(count_programs)" ''
# in its own folder
graph grid "$@" GRID_LR='0.1 0.5' GRID_BATCH='64 128' OUT=grid FROM=out
! grep -q '^mc-train\|^mc-data' log || die "$(grep ^mc log)"
same out/grid.tsv grid/grid.tsv
# with any folder name and any spelling of the rate
graph grid -n "$@" GRID_LR='0.1 0.5' GRID_BATCH='64 128' CURVE_LR=1e-1 OUT=o-lr2-unaligned-aligned
expect_equal "$(grep -o '^cp -p [^ ]* [^ ]*' log | sed 's|o-lr2-unaligned-aligned/||g' | grep -c '^cp -p \(.*\)\.mcz \1-lr0.1-batch128.mcz.part$')" 4
expect_equal "$(grep -c -- '-o [^ ]*/curve-[^ ]*-lr0.1-batch128.mcz$\|/net-[24].mcz -o [^ ]*/curve-aligned-lr\|b-aligned.mcz -o [^ ]*/curve-unaligned-lr' log)" 0
! (graph grid GRID_LR='.1 x') >out.refused && has_words errors "GRID_LR*numbers*got '.1 x'" || die "$(cat errors)"

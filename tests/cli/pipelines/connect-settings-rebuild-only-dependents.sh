# SPDX-License-Identifier: Apache-2.0
# connect.mk rebuilds only what a changed setting decides, and names the changed setting.
fixture connected
expect_programs 'mc-eval4 mc-plot4 ' connect POINTS=5
grep -q '^eval was made with POINTS=3' errors && grep -q '^  now POINTS=5' errors || die "$(cat errors)"
set -- POINTS=5 CURVE_EPOCHS=2 CHANGE=yes
expect_programs 'mc-bezier2 mc-eval2 mc-plot8 ' connect "$@"
# a setting of the curves trains no network
for setting in CURVE_LR=.05 CURVE_BATCH=64; do
    graph connect -n "$@" $setting
    expect_equal "$(count_programs)" 'mc-bezier2 mc-eval2 mc-plot8 '
done
expect_programs '' connect "$@" MESSAGES=-v
expect_programs 'mc-data1 mc-eval4 mc-plot4 ' connect "$@" TEST_IMAGES=90
# a setting of the alignment rebuilds from its stage on
set -- "$@" TEST_IMAGES=90 HUNGARIAN_FLAGS=-v
expect_programs 'mc-bezier2 mc-corr1 mc-eval2 mc-hungarian1 mc-permute1 mc-plot12 ' connect "$@"
graph connect -n "$@" CORR_FLAGS='--measure correlation'
expect_equal "$(grep -c '^mc-\(acts\|corr --m\)' log)" 1
graph connect -n "$@" ACTS_FLAGS='--batch 7'
expect_equal "$(grep -c '^mc-acts.*--batch 7' log)" 1

# any stage can be a user's command
cat >mine.sh <<'END'
#!/bin/bash
echo "$@" >>"$0.args"
exec mc-hungarian "$@"
END
chmod +x mine.sh
graph connect "$@" ALIGN="$PWD/mine.sh"
expect_equal "$(<mine.sh.args)" '-v out/1-2/matrices.mcz'
graph connect -n "$@" OUT=new TRAIN='nice mc-train' MEASURE='nice mc-corr' CURVE='nice mc-bezier'
expect_equal "$(grep -oE '^nice mc-[a-z]+' log | sort | uniq -c | tr -s ' ' | paste -sd ,)" \
    ' 2 nice mc-bezier, 1 nice mc-corr, 2 nice mc-train'

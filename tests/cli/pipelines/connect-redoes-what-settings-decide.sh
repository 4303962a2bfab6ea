# SPDX-License-Identifier: Apache-2.0
# connect.mk: changed settings redo what they decide and nothing else.
fixture connected
# makes PROGRAMS SETTING...: these programs are run for the settings
makes 'mc-eval4 mc-plot4 ' connect POINTS=5
makes 'mc-bezier2 mc-eval2 mc-plot8 ' connect POINTS=5 CURVE_EPOCHS=2
set -- POINTS=5 CURVE_EPOCHS=2
# what is of the curves alone trains no end
for setting in CURVE_LR=.05 CURVE_BATCH=64; do
    graph connect -n "$@" $setting
    grep -q "^mc-bezier .*--seed" log && ! grep '^mc-\(data\|train\|acts\)' log || die "$setting: $(cat log)"
done
is "$(grep -c -- '--batch 64 ' log)" 2
makes '' connect "$@" MESSAGES=-v
makes 'mc-data1 mc-eval4 mc-plot4 ' connect "$@" TEST_IMAGES=150
# of the alignment: from the stage on that the flags are for
set -- "$@" TEST_IMAGES=150 HUNGARIAN_FLAGS=-v
makes 'mc-bezier2 mc-corr1 mc-eval2 mc-hungarian1 mc-permute1 mc-plot12 ' connect "$@"
graph connect -n "$@" CORR_FLAGS='--measure correlation'
is "$(grep -c '^mc-\(acts\|corr --m\)' log)" 1
graph connect -n "$@" ACTS_FLAGS='--batch 7'
is "$(grep -c '^mc-acts.*--batch 7' log)" 1

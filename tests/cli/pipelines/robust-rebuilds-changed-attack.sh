# SPDX-License-Identifier: Apache-2.0
# robust.mk with another attack rebuilds the files that depend on it; a second run does nothing.
fixture robust
set -- TRAIN_IMAGES=256 BATCH=64 OUT=out-robust ATTACK=$attack
expect_programs '' robust "$@"
expect_programs 'mc-eval6 mc-plot8 ' robust "$@" EVAL_ATTACK=$attack,restarts=2
expect_programs 'mc-acts1 mc-bezier4 mc-corr1 mc-eval6 mc-hungarian1 mc-permute1 mc-plot8 mc-train2 ' robust "$@" EVAL_ATTACK=$attack,restarts=2 -n ATTACK=pgd:steps=1
# networks of another experiment do not belong in this OUT
! (graph connect OUT=out-robust) >refused || die 'one OUT for both'
expect_words errors "OUT: 'out-robust/net-1.mcz'*attack*OUT"
# its own settings are listed, once each
make -f "$MC_ROOT/pipelines/robust.mk" help >help
expect_equal "$(grep -cE '^(ATTACK|EVAL_ATTACK|EPOCHS|SCHEDULE|CURVE_LR|OUT) ' help)" 6
grep -qE '^EPOCHS +200 ' help && grep -qE '^SCHEDULE +linear ' help || die "$(cat help)"
! (graph robust ATTACK=) >refused || die 'no attack'
grep -q '^check-settings: ATTACK must be one word' errors

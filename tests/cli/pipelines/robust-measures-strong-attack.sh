# SPDX-License-Identifier: Apache-2.0
# robust.mk STRONG_ATTACK writes strong.tsv with the curves under a longer attack, equal to mc-eval, and rebuilds
# nothing else.
fixture robust
set -- robust TRAIN_IMAGES=256 BATCH=64 OUT=out-robust ATTACK=$attack
strong=pgd:steps=4,restarts=2
expect_programs 'mc-eval2 ' "$@" STRONG_ATTACK=$strong STRONG_POINTS=5 STRONG_FLAGS='--samples 32'
o=out-robust/1-2
mc-eval -q --data out-robust/train.mcz --data out-robust/test.mcz --bn-data out-robust/train.mcz --samples 32 --points 5 -t 1 \
    --attack $strong $o/curve-aligned.mcz | same - $o/curve-aligned-strong.tsv
expect_equal "$(cut -f 1 $o/strong.tsv | paste -sd ' ') $(cut -f 3 out-robust/strong.tsv | paste -sd ' ')" \
    'path curve-unaligned-strong curve-aligned-strong path curve-unaligned-strong curve-aligned-strong'
column $o/curve-aligned-strong.tsv test.robust.accuracy | awk '{ s += $1 } END { printf "%.2f\n", s / NR }' |
    same - <(awk '$1 == "curve-aligned-strong" { print $4 }' $o/strong.tsv)
expect_programs '' "$@" STRONG_ATTACK=$strong STRONG_POINTS=5 STRONG_FLAGS='--samples 32'
expect_programs '' "$@"
expect_programs 'mc-eval2 ' "$@" STRONG_ATTACK=$strong,norm=l2 STRONG_POINTS=5 STRONG_FLAGS='--samples 32'
! (graph "$@" STRONG_ATTACK='a b') >out.refused && has_words errors "STRONG_ATTACK*one word*got 'a b'" || die "$(cat errors)"

# SPDX-License-Identifier: Apache-2.0
# connect.mk trains networks that several pairs share once. A curve's seed is that of its pair's first end, or CURVE_SEED.

fixture pairs
expect_equal "$(grep -c '^mc-train' log) $(grep -c '^mc-acts' log)" '3 3'
expect_equal "$(grep '^mc-bezier --data' log | sed 's/.*--seed \([0-9]*\) .*/\1/' | sort | paste -sd ' ')" '1 1 1 1 2 2'
cmp -s out/1-2/curve-aligned.mcz out/1-3/curve-aligned.mcz && die 'two pairs have the same curve'
# a pair's curve seed does not depend on earlier pairs
seeds() {
    pairs -n OUT=none PAIRS="$1" "${@:2}"
    sed -n 's/^mc-bezier --data.*--seed \([0-9]*\) .*/\1/p' log | sort -u | paste -sd ' '
}
expect_equal "$(seeds '1:2 3:4 5:6')/$(seeds 3:4)/$(seeds '5:6 1:2' CURVE_SEED=8)" '1 3 5/3/8'

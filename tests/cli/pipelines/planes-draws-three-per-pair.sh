# SPDX-License-Identifier: Apache-2.0
# planes.mk draws three planes per pair from connect.mk's networks and curves. A second run does nothing, and a changed
# setting rebuilds only the planes.
set -- GRID=3 PLANE_IMAGES=100 PLANE_BN_IMAGES=128 CURVE_LR=.3 CURVE_EPOCHS=2
graph connect "${@:4}"
bin=$MC_BUILD/bin graph planes "$@"
expect_equal "$(count_programs)" 'mc-eval3 mc-plot6 '
graph planes "$@"
expect_equal "$(count_programs)" ''
for p in networks curve-unaligned curve-aligned; do
    f=out/1-2/plane-$p
    expect_equal "$(wc -l <$f.tsv)" 10
    expect_equal "$(head -n 1 $f.tsv)" "$(printf 'x\ty\ttest.loss\ttest.accuracy')"
    [ -s $f.svg ] && [ -s $f.png ] && [ -s $f.marks.tsv ] || die "no $p"
done
same_scale colours out/1-2/plane-{networks,curve-unaligned,curve-aligned}.svg
expect_equal "$(column out/1-2/plane-networks.marks.tsv name | paste -sd ' ')" 'out/net-1.mcz out/net-2.mcz out/1-2/b-aligned.mcz'
# the aligned network is as far from the origin as before, and nearer to the first
awk -F '\t' 'NR == 3 { u = $3 } NR == 4 { if ($3 * $3 + $4 * $4 >= u * u) exit 1 }' out/1-2/plane-networks.marks.tsv
svg_texts out/1-2/plane-networks.svg | grep -qx 'Pθ₂'
svg_texts out/1-2/plane-curve-aligned.svg | grep -qx 'r(½)'
! svg_texts out/1-2/plane-curve-unaligned.svg | grep -q 'Pθ₂' || die 'a network outside this plane'
cp out/1-2/plane-networks.tsv before.tsv
graph planes "$@" GRID=2
expect_equal "$(count_programs)" 'mc-eval3 mc-plot6 '
expect_equal "$(wc -l <out/1-2/plane-networks.tsv)" 5
graph planes "$@"
same out/1-2/plane-networks.tsv before.tsv
[ -z "$(ls out/1-2/*.checkpoint 2>/dev/null)" ]

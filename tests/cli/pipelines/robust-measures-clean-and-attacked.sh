# SPDX-License-Identifier: Apache-2.0
# robust.mk trains networks and curves under an attack as the programs do, and writes clean and robust tables and
# pictures with both kinds of statistics.
fixture robust
set -- TRAIN_IMAGES=256 BATCH=64 OUT=out-robust ATTACK=$attack
o=out-robust/1-2
for n in 1 2; do
    mc-info --json out-robust/net-$n.mcz | grep -q 'pgd:eps=0.0156862745,step=0.00784313725,steps=2' ||
        die 'a network that was not attacked'
done
# the same as the programs
mc-train -q --net mlp:bn,16 --no-normalise --data out-robust/train.mcz --seed 1 --epochs 2 --lr 0.02 --batch 64 \
    --schedule linear --attack $attack -t 1 -o by-hand.mcz
same_content by-hand.mcz out-robust/net-1.mcz
e="mc-eval -q --data out-robust/test.mcz --bn-data out-robust/train.mcz --points 3 -t 1 $o/curve-aligned.mcz"
$e | cut -f 2-3 | same - <(cut -f 4-5 $o/curve-aligned.tsv)
$e --attack $attack --bn-attack | cut -f 2-5 | same - <(cut -f 4-5,8-9 $o/curve-aligned-bn-attack.tsv)
! cmp -s $o/curve-aligned-bn-attack.tsv $o/curve-aligned.tsv || die 'the statistics are the same'

rows='path line-unaligned curve-unaligned line-aligned curve-aligned curve-unaligned-bn-attack curve-aligned-bn-attack'
expect_equal "$(cut -f 1 $o/clean.tsv | paste -sd ' ')" "$rows"
expect_equal "$(cut -f 3 out-robust/robust.tsv | paste -sd ' ')" "$rows"
# robust means are below clean ones, and are means of the points
paste <(column $o/clean.tsv mean) <(column $o/robust.tsv mean) | awk 'NF != 2 || !($2 <= $1) { exit 1 }' ||
    die "$(cat $o/clean.tsv $o/robust.tsv)"
column $o/curve-aligned.tsv test.robust.accuracy | awk '{ s += $1 } END { printf "%.2f\n", s / NR }' |
    same - <(awk '$1 == "curve-aligned" { print $4 }' $o/robust.tsv)
column $o/curve-aligned.tsv test.accuracy | awk '{ s += $1 } END { printf "%.2f\n", s / NR }' |
    same - <(awk '$1 == "curve-aligned" { print $4 }' $o/clean.tsv)
for f in out-robust $o; do
    for picture in $f/{clean,robust}.{svg,png}; do [ -s $picture ] || die "no $picture"; done
    same_scale axes $f/clean.svg $f/robust.svg
done
svg_texts $o/robust.svg | grep -q 'aligned, attacked statistics'
# the middle against the ends; an even number of points has no middle
for kind in accuracy robust.accuracy; do
    column $o/curve-aligned.tsv test.$kind | awk '{ v[NR] = $1 } END { printf "%.2f\t%.2f\t%.2f\n", v[2], (v[1] + v[3]) / 2, v[2] - (v[1] + v[3]) / 2 }'
done | paste -sd '\t' | same - <(awk '$1 == "curve-aligned"' $o/midpoint.tsv | cut -f 2-7)
# the largest gain over the better end in both figures at once: not at .25 or .75, which are better in only one
printf '%s\t%s\t%s\n' t test.accuracy test.robust.accuracy 0 80 40 0.25 90 39 0.5 83 45 0.75 81 60 1 82 41 >p.tsv
tables midpoint p.tsv | cut -f 4,7,8 |
    same - <(printf 'clean_gain\trobust_gain\tboth_gain\n2.00\t4.50\t1.00\n')
expect_equal "$(cut -f 3 out-robust/midpoint.tsv | paste -sd ' ')" "$rows"
graph robust "$@" -n POINTS=4
! grep -q midpoint log || die "$(grep midpoint log)"

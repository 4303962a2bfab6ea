# SPDX-License-Identifier: Apache-2.0
# middle.mk computes the correlation of each curve's middle, and of its straight line's, with both ends, before and after
# alignment, as the programs do.
set -- NET=mlp:bn,16,16 LR=0.1
graph connect "$@"
bin=$MC_BUILD/bin graph middle "$@"
expect_equal "$(count_programs)" 'mc-acts8 mc-bezier4 mc-corr16 mc-hungarian8 mc-plot8 '
graph middle "$@"
expect_equal "$(count_programs)" ''
for c in unaligned aligned line-unaligned line-aligned; do
    case $c in
    line-*) path=$c ;;
    *)
        path=curve-$c
        for f in out{,/1-2}/middle-$c; do
            [ -s $f.png ] || die "no $f.png"
            svg_texts $f.svg | grep -qx 'line to the first end'
        done
        ;;
    esac
    mc-bezier -q -t 1 --point 0.5 --bn-data out/train.mcz out/1-2/$path.mcz -o m.mcz
    for end in first second; do
        case $end$c in
        first*) x=net-1 ;;
        *unaligned) x=net-2 ;;
        *) x=1-2/b-aligned ;;
        esac
        mc-acts -t 1 --data out/train.mcz out/$x.mcz m.mcz -o moments.mcz
        mc-corr -q moments.mcz | mc-hungarian -q | mc-corr --signature --perm - moments.mcz |
            sed "1d; s/^/1-2	$c	$end	/" >>want
    done
done
sed 1d out/1-2/middle.tsv >rows
same want rows
same out/middle.tsv out/1-2/middle.tsv
expect_equal "$(head -n 1 rows | cut -f 4)" 'layers.0.relu'
column out/middle.tsv permuted >after
column out/middle.tsv identity | paste - after |
    awk '!($1 <= $2 + 1e-9 && $1 > .1) { exit 1 } $1 < $2 { n++ } END { exit !n }' || die "$(cat out/middle.tsv)"

graph middle "$@" PAIRS='1:2 1:3'
expect_equal "$(grep -c '^mc-train' log) $(cut -f 1 out/middle.tsv | sort | uniq -c | tr -s ' ' | paste -sd ';')" \
    '1  16 1-2; 16 1-3; 1 pair'

# SPDX-License-Identifier: Apache-2.0
#
# Tables of the bound beside the measured barrier, from what mc-bound prints and mc-eval --summary writes, each
# behind the pair and the way to align that it is of:
#
#   awk -f spread.awk -f bound.awk pair=1-2 way=unaligned bound.tsv barrier.summary.tsv way=l2-pre ...
#
# A row a way. With -v spread=1 -v network=NET -v data=NAME: of several pairs, each number's mean and its standard
# deviation over the pairs. With -v ranks=1, instead, a row a pair (and one for their means) and number: the ways
# in the order of the bound and of the barrier, the least first, equal ones joined by =; how many couples of ways
# both order alike, of how many; and whether all are. A way with all numbers of another (the constraint moves nothing)
# is that other: its couples count once.
BEGIN {
    FS = OFS = "\t"
    columns = split("bound_max bound_mean barrier_max barrier_mean", title, " ")
}
FNR == 1 {
    split("", column)
    for (i = 1; i <= NF; i++)
        column[$i] = i
    if (!seen[way]++)
        order[++ways] = way
    if (!seen["pair", pair]++)
        name[++pairs] = pair
    next
}
function take(c, value) { cell[way, pairs, c] = value }
# of mc-bound, the last row is the one with a permutation where there is one
"permutation" in column { take(1, $column["max"]); take(2, $column["mean"]); next }
$column["quantity"] == "loss" {
    take(3, $column["barrier"])
    take(4, $column["mean"] - ($column["first"] + $column["last"]) / 2)
}
function value(way, pair, c) { return pair > pairs ? mean(way, pairs, c) : cell[way, pair, c] }
function sign(x) { return (x > 0) - (x < 0) }
function ordered(pair, c,   i, j, x, sorted, line) {
    for (i = 1; i <= ways; i++) {
        for (j = i; j > 1 && value(sorted[j - 1], pair, c) > value(order[i], pair, c); j--)
            sorted[j] = sorted[j - 1]
        sorted[j] = order[i]
    }
    line = sorted[1]
    for (i = 2; i <= ways; i++) {
        x = value(sorted[i], pair, c) - value(sorted[i - 1], pair, c)
        line = line (x ? " < " : " = ") sorted[i]
    }
    return line
}
# is this way another one before it
function again(pair, i,   j, c) {
    for (j = 1; j < i; j++) {
        for (c = 1; c <= columns && value(order[i], pair, c) == value(order[j], pair, c); c++)
            ;
        if (c > columns)
            return 1
    }
    return 0
}
function rank(pair, of, c,   i, j, alike, couples) {
    for (i = 1; i <= ways; i++)
        for (j = 1; j < i; j++) {
            if (again(pair, i) || again(pair, j))
                continue
            couples++
            alike += sign(value(order[i], pair, c) - value(order[j], pair, c)) == \
                     sign(value(order[i], pair, c + 2) - value(order[j], pair, c + 2))
        }
    print of, c == 1 ? "max" : "mean", ordered(pair, c), ordered(pair, c + 2), alike, couples, alike == couples ? "yes" : "no"
}
END {
    if (ranks) {
        print "pair", "of", "bound", "barrier", "alike", "couples", "same"
        for (j = 1; j <= pairs + (pairs > 1); j++)
            for (c = 1; c <= 2; c++)
                rank(j, j > pairs ? "mean" : name[j], c)
        exit
    }
    line = spread ? "network" OFS "data" OFS "way" OFS "pairs" : "way"
    for (c = 1; c <= columns; c++)
        line = line OFS title[c] (spread ? OFS title[c] "_sd" : "")
    print line
    for (i = 1; i <= ways; i++) {
        line = spread ? network OFS data OFS order[i] OFS pairs : order[i]
        for (c = 1; c <= columns; c++)
            line = line OFS sprintf("%.4f", mean(order[i], pairs, c)) (spread ? OFS deviation("%.4f", order[i], pairs, c) : "")
        print line
    }
}

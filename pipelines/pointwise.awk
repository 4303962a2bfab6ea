# SPDX-License-Identifier: Apache-2.0
#
# Two curves of a pair point by point, from the tables of mc-eval, the unaligned curve's and then the aligned one's: at how
# many of the inner points, in percent, the aligned one's test accuracy is the higher (equal ones count half), and how
# smooth the test loss is along each: its variation, the sum of what it changes from point to point.
#
#   awk -f spread.awk -f pointwise.awk pair=1-2 1-2/curve-unaligned.tsv 1-2/curve-aligned.tsv
#
# With -v spread=1 -v network=NET -v data=NAME: mean and standard deviation over all pairs.
BEGIN {
    FS = OFS = "\t"
    columns = split("above variation_unaligned variation_aligned", title, " ")
}
FNR == 1 {
    aligned = pair in seen
    if (!aligned)
        order[seen[pair] = ++pairs] = pair
    for (i = split("", at) + NF; i; i--)
        at[$i] = i
    next
}
{
    loss = $at["test.loss"]
    if (FNR > 2)
        cell["", pairs, 2 + aligned] += loss > last ? loss - last : last - loss
    last = loss
    accuracy = $at["test.accuracy"]
    if (!aligned)
        first[pair, $1] = accuracy
    else if (!((pair, $1) in first)) {
        printf "pointwise.awk: %s: t = %s is no point of the other curve\n", FILENAME, $1 > "/dev/stderr"
        exit failed = 1
    } else if ($1 != 0 && $1 != 1) {
        points[pair]++
        better[pair] += accuracy > first[pair, $1] ? 1 : accuracy == first[pair, $1] ? .5 : 0
    }
}
END {
    if (failed)
        exit 1
    line = spread ? "network" OFS "data" OFS "pairs" : "pair"
    for (c = 1; c <= columns; c++)
        line = line OFS title[c] (spread ? OFS title[c] "_sd" : "")
    print line
    for (p = 1; p <= pairs; p++)
        cell["", p, 1] = points[order[p]] ? 100 * better[order[p]] / points[order[p]] : 0
    for (p = 1; p <= (spread ? 1 : pairs); p++) {
        line = spread ? network OFS data OFS pairs : order[p]
        for (c = 1; c <= columns; c++) {
            form = c == 1 ? "%.1f" : "%.4f"
            line = line OFS sprintf(form, spread ? mean("", pairs, c) : cell["", p, c]) (spread ? OFS deviation(form, "", pairs, c) : "")
        }
        print line
    }
}

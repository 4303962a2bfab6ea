# SPDX-License-Identifier: Apache-2.0
#
# The epochs that alignment saves, from the logs of an unaligned and of an aligned curve, in that order: where the aligned
# one's training loss first is what the unaligned one ends with, or less; the same of the training accuracy. Both are
# means over a 25th of the epochs, to the epoch that is named, as a plateau's noise would pass for a crossing. `objective`
# and `accuracy` are the unaligned curve's last; *_epoch is empty where the aligned one never comes there, which saves 0.
#
# `lead` is how much lower the aligned curve's training loss is than the unaligned one's, mean over the epochs.
#
#   awk -f spread.awk -f saved.awk pair=1-2 1-2/curve-unaligned.log.json 1-2/curve-aligned.log.json
#
# With -v spread=1 -v network=NET -v data=NAME: mean and standard deviation over all pairs; *_pairs of them come there.
BEGIN {
    OFS = "\t"
    split("objective accuracy", what, " ")
}
function field(key) {
    return match($0, "\"" key "\":[-+.eE0-9]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : ""
}
FNR == 1 {
    aligned = pair in seen
    if (!aligned)
        order[++pairs] = pair
    seen[pair] = 1
}
# a line that a killed run left torn is none
/"event":"epoch".*}$/ {
    e = field("epoch") + 0
    if (!aligned) {
        epochs[pair] = e
        width[pair] = e < 25 ? 1 : int(e / 25)
    }
    total[pair, aligned] += field("objective")
    count[pair, aligned]++
    for (w = 1; w <= 2; w++) {
        value[pair, aligned, w, e] = field(what[w])
        for (k = sum = 0; k < width[pair] && k < e; k++)
            sum += value[pair, aligned, w, e - k]
        sum /= k
        if (!aligned)
            last[pair, w] = sum
        else if (!((pair, w) in reached) && k == width[pair] && (w == 1 ? sum <= last[pair, w] : sum >= last[pair, w]))
            reached[pair, w] = e
    }
}
END {
    for (p = 1; p <= pairs; p++)
        for (w = 0; w < 2; w++)
            if (!count[order[p], w]) {
                printf "saved.awk: pair %s: the log of its %s curve has no epochs\n", order[p], w ? "aligned" : "unaligned" > "/dev/stderr"
                exit 1
            }
    head = spread ? "network" OFS "data" : "pair"
    head = head OFS "epochs" (spread ? OFS "pairs" : "")
    for (w = 1; w <= 2; w++)
        head = head OFS (spread ? what[w] "_pairs" OFS what[w] "_saved" OFS what[w] "_saved_sd" : \
            what[w] OFS what[w] "_epoch" OFS what[w] "_saved")
    print head OFS "lead" (spread ? OFS "lead_sd" : "")
    for (p = 1; p <= pairs; p++) {
        pair = order[p]
        cell[3, p, 1] = total[pair, 0] / count[pair, 0] - total[pair, 1] / count[pair, 1]
        line = pair OFS epochs[pair]
        for (w = 1; w <= 2; w++) {
            came = (pair, w) in reached
            cell[w, p, 1] = came ? epochs[pair] - reached[pair, w] : 0
            line = line OFS sprintf(w == 1 ? "%.4f" : "%.2f", last[pair, w]) OFS (came ? reached[pair, w] : "") OFS cell[w, p, 1]
            n[w] += came
        }
        if (!spread)
            print line OFS sprintf("%.4f", cell[3, p, 1])
    }
    if (!spread)
        exit
    line = network OFS data OFS epochs[order[1]] OFS pairs
    for (w = 1; w <= 2; w++)
        line = line OFS n[w] OFS sprintf("%.1f", mean(w, pairs, 1)) OFS deviation("%.1f", w, pairs, 1)
    print line OFS sprintf("%.4f", mean(3, pairs, 1)) OFS deviation("%.4f", 3, pairs, 1)
}

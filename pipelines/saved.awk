# SPDX-License-Identifier: Apache-2.0
#
# The epochs that alignment saves, from the logs of an unaligned and of an aligned curve, in that order: where the aligned
# one's training loss first is what the unaligned one ends with, or less; the same of the training accuracy. `objective`
# and `accuracy` are the unaligned curve's last; *_epoch is empty where the aligned one never comes there.
#
#   awk -f spread.awk -f saved.awk pair=1-2 1-2/curve-unaligned.log.json 1-2/curve-aligned.log.json
#
# With -v spread=1 -v network=NET -v data=NAME: mean and standard deviation over the pairs that come there.
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
    for (w = 1; w <= 2; w++) {
        value = field(what[w])
        if (!aligned) {
            last[pair, w] = value
            epochs[pair] = field("epoch")
        } else if (!((pair, w) in reached) && (w == 1 ? value + 0 <= last[pair, w] + 0 : value + 0 >= last[pair, w] + 0))
            reached[pair, w] = field("epoch")
    }
}
END {
    head = spread ? "network" OFS "data" : "pair"
    head = head OFS "epochs"
    for (w = 1; w <= 2; w++)
        head = head OFS (spread ? what[w] "_pairs" OFS what[w] "_saved" OFS what[w] "_saved_sd" : \
            what[w] OFS what[w] "_epoch" OFS what[w] "_saved")
    print head
    for (p = 1; p <= pairs; p++) {
        pair = order[p]
        line = pair OFS epochs[pair]
        for (w = 1; w <= 2; w++) {
            came = (pair, w) in reached
            line = line OFS sprintf(w == 1 ? "%.4f" : "%.2f", last[pair, w]) OFS (came ? reached[pair, w] : "") OFS \
                (came ? epochs[pair] - reached[pair, w] : "")
            if (came)
                cell[w, ++n[w], 1] = epochs[pair] - reached[pair, w]
        }
        if (!spread)
            print line
    }
    if (!spread)
        exit
    line = network OFS data OFS epochs[order[1]]
    for (w = 1; w <= 2; w++)
        line = line OFS n[w] + 0 OFS (n[w] ? sprintf("%.1f", mean(w, n[w], 1)) OFS deviation("%.1f", w, n[w], 1) : OFS)
    print line
}

# SPDX-License-Identifier: Apache-2.0
#
# One table from the logs of trainings (--log-json): the last epoch's mean objective and its parts, which is
# the paper's training loss; mean and standard deviation (n-1; empty for one) over the logs of a label.
#
#   awk -v network=NET -v data=NAME -f training.awk label=network net-*.log.json label=curve 1-2/c.log.json
BEGIN {
    OFS = "\t"
    columns = split("objective loss decay accuracy", title, " ")
    head = "network" OFS "data" OFS "training" OFS "runs" OFS "epochs"
    for (c = 1; c <= columns; c++)
        head = head OFS title[c] OFS title[c] "_sd"
    print head
}
FNR == 1 {
    if (!n[label]++)
        order[++labels] = label
}
function field(name) {
    return match($0, "\"" name "\":[-+.eE0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : ""
}
# a log's last line stays
/"event":"epoch"/ {
    epochs[label] = field("epoch")
    for (c = 1; c <= columns; c++)
        cell[label, n[label], c] = field(title[c])
}
END {
    for (i = 1; i <= labels; i++) {
        label = order[i]
        k = n[label]
        line = network OFS data OFS label OFS k OFS epochs[label]
        for (c = 1; c <= columns; c++) {
            form = title[c] == "accuracy" ? "%.2f" : "%.4f"
            mean = squares = 0
            for (j = 1; j <= k; j++)
                mean += cell[label, j, c] / k
            for (j = 1; j <= k; j++)
                squares += (cell[label, j, c] - mean) ^ 2
            line = line OFS sprintf(form, mean) OFS (k > 1 ? sprintf(form, sqrt(squares / (k - 1))) : "")
        }
        print line
    }
}

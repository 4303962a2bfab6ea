# SPDX-License-Identifier: Apache-2.0
#
# One table from the logs of trainings (--log-json): the mean objective of the last epoch, which is the
# paper's training loss, with its parts and the accuracy on the same batches; mean and standard deviation
# over the logs that follow a name.
#
#   awk -v network=NET -v data=NAME -f spread.awk -f training.awk name=network net-*.log.json name=curve c.log.json
BEGIN {
    OFS = "\t"
    columns = split("objective loss decay accuracy", title, " ")
    head = "network" OFS "data" OFS "training" OFS "runs" OFS "epochs"
    for (c = 1; c <= columns; c++)
        head = head OFS title[c] OFS title[c] "_sd"
    print head
}
function field(line, key) {
    return match(line, "\"" key "\":[-+.eE0-9]+") ? substr(line, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : ""
}
# a log's last epoch; of mc-pam's the last of a curve step, counted from where that step began
function take(   c) {
    if (last == "")
        return
    if (!n[of]++)
        order[++names] = of
    epochs[of] = field(last, "epoch") - before
    for (c = 1; c <= columns; c++)
        cell[of, n[of], c] = field(last, title[c])
}
FNR == 1 {
    take()
    of = name
    last = curve = ""
    before = 0
}
# a line that a killed run left torn is none
/"event":"epoch".*}$/ { last = $0 }
/"event":"permutation".*}$/ {
    before = field(last, "epoch")
    last = curve
}
/"event":"iteration".*}$/ { curve = last }
END {
    take()
    for (i = 1; i <= names; i++) {
        name = order[i]
        line = network OFS data OFS name OFS n[name] OFS epochs[name]
        for (c = 1; c <= columns; c++) {
            form = title[c] == "accuracy" ? "%.2f" : "%.4f"
            line = line OFS sprintf(form, mean(name, n[name], c)) OFS deviation(form, name, n[name], c)
        }
        print line
    }
}

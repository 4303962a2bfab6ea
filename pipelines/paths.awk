# SPDX-License-Identifier: Apache-2.0
#
# What table.awk and midpoint.awk share: awk -f spread.awk -f paths.awk -f table.awk PATH.summary.tsv... The head of their
# tables; column[] and name from a file's first line, n[name] how many of it have come, order[1..paths] the names.
function begin(titles,   c, head) {
    FS = OFS = "\t"
    columns = split(titles, title, " ")
    head = spread ? "network" OFS "data" OFS "path" OFS "pairs" : "path"
    for (c = 1; c <= columns; c++)
        head = head OFS title[c] (spread ? OFS title[c] "_sd" : "")
    print head
}
function next_path(   i) {
    split("", column)
    for (i = 1; i <= NF; i++)
        column[$i] = i
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/(\.summary)?\.tsv$/, "", name)
    if (!n[name]++)
        order[++paths] = name
}

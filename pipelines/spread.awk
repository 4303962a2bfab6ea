# SPDX-License-Identifier: Apache-2.0
#
# What the tables share: awk -f spread.awk -f table.awk. Of the values cell[name, 1..k, c]:
function mean(name, k, c,   j, sum) {
    for (j = 1; j <= k; j++)
        sum += cell[name, j, c]
    return sum / k
}
# the standard deviation (n - 1), empty for one value
function deviation(form, name, k, c,   j, m, sum) {
    m = mean(name, k, c)
    for (j = 1; j <= k; j++)
        sum += (cell[name, j, c] - m) ^ 2
    return k > 1 ? sprintf(form, sqrt(sum / (k - 1))) : ""
}
# of table.awk and midpoint.awk: the head of their tables; column[] and name from a file's first line, PATH.tsv or
# PATH.summary.tsv, of which n[name] have come and order[1..paths] are the names
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

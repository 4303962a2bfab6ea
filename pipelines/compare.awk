# SPDX-License-Identifier: Apache-2.0
#
# A published table of paths beside the same one measured again (table.awk, midpoint.awk): awk -f compare.awk PUBLISHED
# AGAIN. A row a path: mean by arc length and minimum of both, where the table has them, and the largest difference of any
# accuracy and of any loss. Ends with 1 where an accuracy differs by more than .1 or a loss by more than .005, where a path
# or a figure is not there, or the columns are others. `at_t` is not compared.
BEGIN {
    FS = OFS = "\t"
    print "path", "arc_mean", "again", "minimum", "again", "accuracy_differs", "loss_differs"
}
FNR == 1 {
    file++
    split("", column)
    for (i = 1; i <= NF; i++) {
        column[$i] = i
        name[i] = $i
    }
    if (file == 1)
        head = $0
    else if ($0 != head) {
        print "other columns: " $0
        others = 1
        exit
    }
    next
}
function figure(title) { return title in column ? $column[title] : "" }
{ path = $column["path"] }
file == 1 {
    order[++paths] = path
    for (i = 1; i <= NF; i++)
        published[path, name[i]] = $i
    next
}
{
    there[path] = 1
    accuracy = loss = 0
    for (i = column["path"] + 1; i <= NF; i++) {
        if (name[i] ~ /^at_t/)
            continue
        if ((published[path, name[i]] == "") != ($i == ""))
            wrong = 1
        d = $i - published[path, name[i]]
        d = d < 0 ? -d : d
        if (name[i] ~ /loss/)
            loss = d > loss ? d : loss
        else
            accuracy = d > accuracy ? d : accuracy
    }
    row[path] = published[path, "arc_mean"] OFS figure("arc_mean") OFS published[path, "minimum"] OFS figure("minimum") OFS \
        sprintf("%.2f", accuracy) OFS sprintf("%.4f", loss)
    if (accuracy > .1000001 || loss > .0050001)
        wrong = 1
}
END {
    if (others)
        exit 1
    for (i = 1; i <= paths; i++) {
        print order[i], there[order[i]] ? row[order[i]] : "not measured again"
        if (!there[order[i]])
            wrong = 1
    }
    exit wrong + 0
}

# SPDX-License-Identifier: Apache-2.0
#
# A published table beside the same one measured again: awk -f compare.awk PUBLISHED AGAIN. A row a row of it, with the
# figure of it that differs most for its tolerance: its column, both values, the tolerance. Ends with 1 where one differs by
# more: losses and correlations by .005, the points at which a curve is better by 5%, units by 2, accuracies and
# all else by .1; where a row or a figure is not there; or where the columns are others. A row more is told. Where along a path something is
# (at_t) is not compared.
BEGIN {
    FS = OFS = "\t"
    split("network data path pair curve end layer images reference quantity figure", words, " ")
    for (i in words)
        key[words[i]] = 1
    print "row", "figures", "differs most", "published", "again", "tolerance"
}
FNR == 1 {
    file++
    for (i = 1; i <= NF; i++)
        name[i] = $i
    if (file == 1)
        head = $0
    else if ($0 != head) {
        print "other columns: " $0
        others = 1
        exit
    }
    next
}
function number(x) { return x ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?$/ }
{
    row = loss = ""
    for (i = 1; i <= NF; i++)
        if (name[i] in key && name[i] !~ /^(network|reference)$/ && !(name[i] == "data" && name[1] == "network"))
            row = row (row == "" ? "" : " ") $i
    loss = row ~ / loss /
}
file == 1 {
    order[++rows] = row
    known[row] = 1
    for (i = 1; i <= NF; i++)
        published[row, i] = $i
    next
}
{
    if (!(row in known)) {
        more[++n_more] = row
        next
    }
    there[row] = 1
    most = -1
    figures = 0
    for (i = 1; i <= NF; i++) {
        if (name[i] in key || name[i] ~ /^at_t/)
            continue
        figures++
        tolerance = loss || name[i] ~ /loss|variation|identity|permuted/ ? .005 : name[i] ~ /^above/ ? 5 : name[i] ~ /^(differ|dead_[ab])(_sd)?$/ ? 2 : .1
        d = $i - published[row, i]
        d = (d < 0 ? -d : d) / tolerance
        if ($i != published[row, i] && (!number($i) || !number(published[row, i])))
            d = 1e9
        if (d > most) {
            most = d
            told[row] = name[i] OFS published[row, i] OFS $i OFS tolerance
        }
    }
    told[row] = figures OFS told[row]
    if (most > 1.000001)
        wrong = 1
}
END {
    if (others)
        exit 1
    for (i = 1; i <= rows; i++) {
        print order[i], there[order[i]] ? told[order[i]] : "not measured again"
        if (!there[order[i]])
            wrong = 1
    }
    for (i = 1; i <= n_more; i++)
        print more[i], "not published"
    if (!rows)
        print "no rows"
    exit wrong || !rows
}

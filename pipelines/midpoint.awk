# SPDX-License-Identifier: Apache-2.0
#
# The middle of a path between robust networks against its ends, from the tables of mc-eval --attack (PATH.tsv): test
# accuracy at t = .5, the mean of that at t = 0 and 1, and the difference, clean and robust; a row a path.
#
#   awk -f spread.awk -f paths.awk -f midpoint.awk 1-2/line-aligned.tsv 1-2/curve-aligned.tsv
#
# With -v spread=1 -v network=NET -v data=NAME: the same paths of several pairs, mean and standard deviation over them.
BEGIN { begin("clean clean_ends clean_gain robust robust_ends robust_gain") }
FNR == 1 {
    next_path()
    next
}
{
    for (k = 0; k < 2; k++) {
        value = $column[k ? "test.robust.accuracy" : "test.accuracy"]
        if ($1 == .5)
            cell[name, n[name], 3 * k + 1] = value
        else if ($1 == 0 || $1 == 1)
            cell[name, n[name], 3 * k + 2] += value / 2
    }
}
END {
    for (i = 1; i <= paths; i++) {
        name = order[i]
        line = spread ? network OFS data OFS name OFS n[name] : name
        for (j = 1; j <= n[name]; j++)
            for (c = 3; c <= columns; c += 3)
                cell[name, j, c] = cell[name, j, c - 2] - cell[name, j, c - 1]
        for (c = 1; c <= columns; c++) {
            line = line OFS sprintf("%.2f", mean(name, n[name], c))
            if (spread)
                line = line OFS deviation("%.2f", name, n[name], c)
        }
        print line
    }
}

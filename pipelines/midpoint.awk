# SPDX-License-Identifier: Apache-2.0
#
# The middle of a path between robust networks against its ends, from the tables of mc-eval --attack (PATH.tsv): test
# accuracy at t = .5, the mean of that at t = 0 and 1, and the difference, clean and robust; a row a path. both_gain is the
# most that an inner point has over the better end in both at once: the lesser of its clean and of its robust gain;
# clean_best and robust_best the most that one has in each alone.
#
#   awk -f spread.awk -f paths.awk -f midpoint.awk 1-2/line-aligned.tsv 1-2/curve-aligned.tsv
#
# With -v spread=1 -v network=NET -v data=NAME: the same paths of several pairs, mean and standard deviation over them.
BEGIN { begin("clean clean_ends clean_gain robust robust_ends robust_gain both_gain clean_best robust_best") }
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
        at[name, n[name], k, $1 + 0] = value
        if (!k)
            points[name, n[name]] = points[name, n[name]] " " ($1 + 0)
    }
}
function over(name, j, k, t,   a, b) {
    a = at[name, j, k, 0]
    b = at[name, j, k, 1]
    return at[name, j, k, t] - (a > b ? a : b)
}
# what: 0 clean, 1 robust, 2 the lesser of both
function best(name, j, what,   t, i, k, clean, robust, gain, most) {
    k = split(points[name, j], t, " ")
    for (i = 2; i < k; i++) {
        clean = over(name, j, 0, t[i])
        robust = over(name, j, 1, t[i])
        gain = what == 0 || what == 2 && clean < robust ? clean : robust
        if (i == 2 || gain > most)
            most = gain
    }
    return most
}
END {
    for (i = 1; i <= paths; i++) {
        name = order[i]
        line = spread ? network OFS data OFS name OFS n[name] : name
        for (j = 1; j <= n[name]; j++) {
            cell[name, j, 7] = best(name, j, 2)
            cell[name, j, 8] = best(name, j, 0)
            cell[name, j, 9] = best(name, j, 1)
            for (c = 3; c <= 6; c += 3)
                cell[name, j, c] = cell[name, j, c - 2] - cell[name, j, c - 1]
        }
        for (c = 1; c <= columns; c++) {
            line = line OFS sprintf("%.2f", mean(name, n[name], c))
            if (spread)
                line = line OFS deviation("%.2f", name, n[name], c)
        }
        print line
    }
}

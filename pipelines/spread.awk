# SPDX-License-Identifier: Apache-2.0
#
# What table.awk, training.awk and others share: awk -f spread.awk -f table.awk. Of the values cell[name, 1..k, c]:
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

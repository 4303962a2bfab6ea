# SPDX-License-Identifier: Apache-2.0
# Of 10,000 exact repetitions of the paper's cells, three values each, theirs rounded as printed, 3 to 7% are said to
# differ: the true deviations are any that round to the printed ones. So of those whose deviation is printed as 0.0.
cat >simulate.awk <<'AWK'
function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
# three values about cell i: their mean and deviation, in m and s; of the ends' mean three pairs of values, as table.awk has it
function draw(i, sigma,   j, k, x, one, all, squares) {
    for (k = 1; k <= sets[i]; k++) {
        one = 0
        for (j = 1; j <= 3; j++)
            one += (x[j] = mean[i] + sigma * sqrt(sets[i]) * normal()) / 3
        for (j = 1; j <= 3; j++)
            squares += (x[j] - one) ^ 2 / 2
        all += one
    }
    m = all / sets[i]
    s = sqrt(squares) / sets[i]
}
# is a repetition of cell i, of the deviation sigma, said to differ
function differs(i, sigma,   ours, ours_sd, form) {
    draw(i, sigma)
    ours = m
    ours_sd = s
    form = "%." digits[i] "f"
    draw(i, sigma)
    while (i == 0 && sprintf(form, s) != "0.0")
        draw(i, sigma)
    return verdict(ours, ours_sd, 3, sprintf(form, m), sprintf(form, s), 3, digits[i], 1, sets[i]) == "differs"
}
BEGIN {
    FS = "\t"
    srand(2020)
}
NR > 1 && $7 != "" {
    mean[++cells] = $6
    sd[cells] = $7
    digits[cells] = $8
    sets[cells] = deviations($5)
}
END {
    for (n = 0; n < 10000; n++) {
        i = 1 + int(cells * rand())
        half = 10 ^ -digits[i] / 2
        least = sd[i] > half ? sd[i] - half : 0
        differ += differs(i, least + rand() * (sd[i] + half - least))
    }
    digits[0] = sets[0] = 1
    for (n = 0; n < 4000; n++) {
        mean[0] = 92 + rand()
        zero += differs(0, .04)
    }
    # the ends of tinyten on CIFAR-10
    for (n = 0; n < 4000; n++)
        ends += differs(1, .15)
    print differ, zero, ends
    exit !(sets[1] == 2 && ends >= 100 && ends <= 280 && cells == 117 && differ >= 300 && differ <= 700 && zero <= 280)
}
AWK
awk -f "$MC_ROOT/pipelines/welch.awk" -f simulate.awk "$MC_ROOT/pipelines/paper/paper.tsv"

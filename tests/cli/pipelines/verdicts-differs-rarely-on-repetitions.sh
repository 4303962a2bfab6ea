# SPDX-License-Identifier: Apache-2.0
# Of 10,000 exact repetitions of the paper's cells, three values each, theirs rounded as printed, 3 to 7% are said to differ.
cat >simulate.awk <<'END'
function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
# three values about cell i: their mean and deviation, in m and s
function draw(i,   j, x) {
    m = s = 0
    for (j = 1; j <= 3; j++)
        m += (x[j] = mean[i] + sd[i] * normal()) / 3
    for (j = 1; j <= 3; j++)
        s += (x[j] - m) ^ 2 / 2
    s = sqrt(s)
}
BEGIN {
    FS = "\t"
    srand(2020)
}
NR > 1 && $7 != "" {
    mean[++cells] = $6
    sd[cells] = $7
    digits[cells] = $8
}
END {
    for (n = 0; n < 10000; n++) {
        i = 1 + int(cells * rand())
        draw(i)
        ours = m
        ours_sd = s
        draw(i)
        form = "%." digits[i] "f"
        differ += verdict(ours, ours_sd, 3, sprintf(form, m), sprintf(form, s), 3, digits[i], 1) == "differs"
    }
    print differ
    exit !(cells == 117 && differ >= 300 && differ <= 700)
}
END
awk -f "$MC_ROOT/pipelines/welch.awk" -f simulate.awk "$MC_ROOT/pipelines/paper.tsv"

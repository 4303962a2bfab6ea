# SPDX-License-Identifier: Apache-2.0
#
# Lines that are the mean of several tables stand in a band of their standard deviation, or, of more lines than two,
# whose bands would hide each other, have bars beside their points. N, LABEL[1..N] and
# TABLES[1..N], how many tables each line has, are defined before.

alike = 1
spread = 0
do for [i = 1:N] {
    alike = alike && TABLES[i] == TABLES[1]
    spread = spread || TABLES[i] > 1
}
if (!alike) { do for [i = 1:N] { LABEL[i] = LABEL[i] . sprintf(' (n = %d)', TABLES[i]) } }
SD = !spread ? '' : alike ? sprintf(' ± sd, n = %d', TABLES[1]) : ' ± sd'
SPREAD = spread ? ', mean' . SD : ''
BARS = spread && N > 2
low(i, mean, sd) = TABLES[i] > 1 && !BARS ? mean - sd : NaN
high(i, mean, sd) = TABLES[i] > 1 && !BARS ? mean + sd : NaN
# a bar from `foot`, so long, so far beside its point in a range of x
foot(i, mean, sd) = TABLES[i] > 1 && BARS ? mean - sd : NaN
beside(i, range) = BARS ? (i - (N + 1) / 2.0) * range * (N > 6 ? 0.03 / N : 0.005) : 0
BAR = "with vectors nohead ls i lw 1.2 dt 1"
BAND = "ls i fs transparent solid 0.18 noborder"

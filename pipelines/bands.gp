# SPDX-License-Identifier: Apache-2.0
#
# Lines that are the mean of several tables stand in a band of their standard deviation. N, LABEL[1..N] and
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
low(i, mean, sd) = TABLES[i] > 1 ? mean - sd : NaN
high(i, mean, sd) = TABLES[i] > 1 ? mean + sd : NaN
BAND = "ls i fs transparent solid 0.18 noborder"

# SPDX-License-Identifier: Apache-2.0
# welch.awk: quantiles of Student's distribution, and Welch's interval with the variance of rounding, as SciPy 1.10 computes them.
cat >test.awk <<'AWK'
function far(got, want) { return !((got / want - 1) ^ 2 < 1e-16) }
NF == 3 && far(quantile($1, $2), $3) { print "quantile", $0, quantile($1, $2); wrong = 1 }
NF >= 9 && (!welch($1, $2, $3, $4, $5, $6, $7 ^ 2 / 12, $10, $11) || (low - $8) ^ 2 + (high - $9) ^ 2 > 1e-12) { print $0, low, high; wrong = 1 }
END { exit wrong || NR != 19 }
AWK
# probability above, degrees of freedom, scipy.stats.t.isf of them; two means, deviations and n, unit of the last digit, ends, how many
# deviations each is made of
awk -f "$MC_ROOT/pipelines/welch.awk" -f test.awk <<'END'
.025 1 12.70620474
.025 1.5 6.016663108
.025 2 4.30265273
.025 2.7 3.392148383
.025 4 2.776445105
.025 30 2.042272456
.025 1e3 1.962339081
.025 1e6 1.959966357
.1 3 1.637744357
.005 2.2 8.53471528
.0005 7 5.407882521
.25 100 0.676951043
88.46 .05 3 88.5 .1 3 .1 -0.232097 0.152097
82.75 .5 3 82.8 .5 3 .1 -1.181875 1.081875
.4301 .0021 3 .428 .003 3 .001 -0.004008 0.008208
92.31 .31 2 92.7 0 3 .1 -2.984518 2.204518
92.7 0 3 92.7 0 3 .1 -0.056579 0.056579
88.82 .15 3 89.0 .1 3 .1 -0.428635 0.068635 2 2
88.5 .15 3 89.0 .1 3 .1 -0.789335 -0.210665 1 2
END

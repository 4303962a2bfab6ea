# SPDX-License-Identifier: Apache-2.0
#
# Two means with deviations beside each other, which verdicts.awk and claims.awk share: awk -f welch.awk -f verdicts.awk.

# log Γ(x) for x > 0 by Stirling's series, relative error below 1e-12
function lgamma(x,   product, y) {
    for (product = 1; x < 10; x++)
        product *= x
    y = 1 / (x * x)
    return (x - .5) * log(x) - x + .918938533204672742 + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x - log(product)
}
# the continued fraction of the incomplete beta function I_x(a, b), by Lentz's method
function fraction(a, b, x,   m, c, d, f, k) {
    c = 1
    f = d = 1 / (1 - (a + b) * x / (a + 1))
    for (m = 1; m < 10000 && (m == 1 || (c * d - 1) ^ 2 > 1e-28); m++) {
        k = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + k * d)
        c = 1 + k / c
        f *= c * d
        k = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + k * d)
        c = 1 + k / c
        f *= c * d
    }
    return f
}
# The t with P(T > t) = alpha < 1/2, for T of Student's distribution with nu degrees of freedom: Newton's method on the
# logarithm of that probability as a function of log t, which is concave, so that it converges from anywhere. The
# probability is I_x(nu/2, 1/2) / 2 with x = nu / (nu + t²). Relative error below 1e-8 for nu from 1 to 1e6.
function quantile(alpha, nu,   u, x, y, a, b, beta, front, tail, step, n) {
    a = nu / 2
    b = .5
    beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    for (n = 0; n < 100; n++) {
        y = exp(2 * u) / (nu + exp(2 * u))
        x = nu / (nu + exp(2 * u))
        # t times the density at t
        front = exp(a * log(x) + b * log(y) - beta)
        tail = (x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a : 1 - front * fraction(b, a, y) / b) / 2
        step = log(tail / alpha) * tail / front
        u += step
        if (step < 1e-12 && step > -1e-12)
            break
    }
    return exp(u)
}
# The mean of a pair's ends has a deviation made of two, each end's over the pairs: half the root of their squares' sum
# (table.awk; so the authors' code prints it). Of a cell's column, how many.
function deviations(column) { return column ~ /ends$/ ? 2 : 1 }
# The 95% interval of a difference of two means, in low and high: Welch's, with Welch and Satterthwaite's degrees of
# freedom. m, s, n: mean, deviation (n - 1) and number of values of each; `rounding`: the variance that rounding adds to
# the difference, (unit of the last digit)² / 12 for each mean that is rounded to it. Returns 0 where there is no
# deviation to go by. d1, d2: how many deviations, each of n - 1 degrees of freedom, s1 and s2 are made of; 1 if not given.
function welch(m1, s1, n1, m2, s2, n2, rounding, d1, d2,   a, b, all, nu, half) {
    low = high = ""
    if (s1 == "" || s2 == "" || n1 < 2 || n2 < 2)
        return 0
    a = s1 * s1 / n1
    b = s2 * s2 / n2
    all = a + b + rounding
    nu = a + b > 0 ? all * all / (a * a / ((d1 ? d1 : 1) * (n1 - 1)) + b * b / ((d2 ? d2 : 1) * (n2 - 1))) : 1e6
    half = quantile(.025, nu < 1e6 ? nu : 1e6) * sqrt(all)
    low = m1 - m2 - half
    high = m1 - m2 + half
    return 1
}
# A deviation that is printed with so many digits after the point: its square and the variance of that rounding. Where 0.0
# is printed, this is the mean square of what may stand behind it.
function printed(s, digits) { return s == "" ? "" : sqrt(s * s + 100 ^ -digits / 12) }
# Ours (m1, s1, n1) beside the paper's, both of which are rounded to `digits` after the point: differs where the interval
# does not contain 0; else undecided where it is wider than half the effect of alignment; else agrees. A number of the
# paper's without a deviation is taken as it stands, but for its rounding. d: as welch's, of both.
function verdict(m1, s1, n1, m2, s2, n2, digits, effect, d) {
    if (!welch(m1, s1, n1, m2, s2 == "" ? 0 : printed(s2, digits), s2 == "" ? 1e9 : n2, 100 ^ -digits / 12, d, d))
        return "undecided"
    return low > 0 || high < 0 ? "differs" : high - low > effect / 2 ? "undecided" : "agrees"
}
# Can ours agree with that at all, if only there are enough pairs? The interval is not narrowest where we have no spread:
# that leaves the paper's own degrees of freedom.
function decidable(s2, n2, digits, effect, d,   k) {
    s2 = printed(s2, digits)
    for (k = 0; k <= 40; k++)
        if (verdict(0, k / 10 * s2 * sqrt(1e9 / n2), 1e9, 0, s2, n2, digits, effect, d) == "agrees")
            return 1
    return s2 == ""
}

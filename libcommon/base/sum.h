/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums in twice the precision (Neumaier 1974): rounding errors are summed apart and added last. */
#ifndef MC_SUM_H
#define MC_SUM_H

#include <math.h>

/* An empty sum is all zero. */
struct mc_sum {
    double s, rest;
};

static inline void mc_sum_add(struct mc_sum *a, double x)
{
    double t = a->s + x;

    a->rest += fabs(a->s) >= fabs(x) ? (a->s - t) + x : (x - t) + a->s;
    a->s = t;
}

static inline double mc_sum_value(struct mc_sum a)
{
    return a.s + a.rest;
}

#endif

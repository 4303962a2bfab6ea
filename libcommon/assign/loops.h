/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loops of linear assignment. They are inlined into the functions of assign.c that are
 * compiled for one instruction set, and the compiler uses its vectors. All their arithmetic is exact
 * (see assign.c), so every instruction set returns the same bits. Ties go to the lowest index.
 * For assign.c alone. */
#ifndef MC_ASSIGN_LOOPS_H
#define MC_ASSIGN_LOOPS_H

#include "libcommon/assign/work.h"

#include <math.h>
#include <string.h>

enum {
    COARSE_BITS = 26,
    FINE_BITS = 50,
    COARSE = 1 << (FINE_BITS - COARSE_BITS), /* fine units in a coarse unit */
    LANES = 8,        /* int32 in the longest vector. Each lane keeps a minimum and its column. */
    CHUNK = 32,       /* columns that are searched one by one if a vector scan finds any */
    UNMARKED = ~1,    /* clears the mark of a matched column */
    FAR = 1000000001, /* in fine units */
};

#define INLINE static inline __attribute__((always_inline))

/* The fine cost of an entry: an integer in [0, 2^50], stored in a double. Adding 2^52 rounds to an
 * integer. unit is a power of two; top is the row's maximum times unit. */
#define FINE(x, unit, top) ((((top) - (x) * (unit)) + 0x1p52) - 0x1p52)

/* Set high, n_rows, exponent and unit. */
INLINE int measure(struct mc_assign_work *w, struct mc_error *err)
{
    double half_range = 0, most = 0;
    int e_range, e_most;

    for (size_t i = 0; i < w->n; i++) {
        const double *x = w->value + i * w->n;
        double low = x[0], high = x[0], zero = 0;
#pragma omp simd reduction(min : low) reduction(max : high) reduction(+ : zero)
        for (size_t j = 0; j < w->n; j++) {
            low = MIN(x[j], low);
            high = MAX(x[j], high);
            zero += x[j] - x[j];
        }
        if (zero != 0) /* not a number */
            return mc_fail(err, MC_EINPUT, "row %zu of the matrix has a value that is not finite",
                           i);
        w->high[i] = high;
        w->n_rows += low < high;
        half_range = MAX(half_range, high / 2 - low / 2);
        most = MAX(most, MAX(high, -low));
    }
    frexp(half_range, &e_range);
    frexp(most, &e_most);
    /* keep unit and top finite: ranges up to 2^-973, or up to 2^-970 of the values, become 0 */
    w->exponent = MAX(e_range + 1, FINE_BITS - 1020 + MAX(e_most, -3));
    w->unit = ldexp(1, FINE_BITS - w->exponent);
    return 0;
}

/* Set row i of c to twice the coarse costs. Update each column's minimum cv. Returns 1 if nothing was
 * rounded. */
INLINE int coarse_costs(struct mc_assign_work *w, size_t i)
{
    const double *x = w->value + i * w->n;
    const double unit = w->unit / COARSE, top = w->high[i] * unit;
    int32_t *c = w->c + i * w->ld, *v = w->cv;
    int64_t rounded = 0;

#pragma omp simd reduction(| : rounded)
    for (size_t j = 0; j < w->n; j++) {
        const double a = top - x[j] * unit, r = (a + 0x1p52) - 0x1p52;
        const int32_t t = 2 * (int32_t)r;
        rounded |= r != a;
        v[j] = MIN(t, v[j]);
        c[j] = t;
    }
    memset(c + w->n, 0, (w->ld - w->n) * sizeof *c);
    return !rounded;
}

/* The lane of the minimum. Of equal lanes, that of the lowest column. */
INLINE size_t first_lane(const int32_t *least, const int32_t *column)
{
    size_t best = 0;

    for (size_t k = 1; k < LANES; k++)
        if (least[k] < least[best] || (least[k] == least[best] && column[k] < column[best]))
            best = k;
    return best;
}

/* The column of the minimum reduced cost. *slack: how much greater the minimum of the other columns
 * is, without marks. */
INLINE int32_t least2(const struct mc_assign_work *w, size_t i, int32_t *slack)
{
    const int32_t *c = w->c + i * w->ld, *v = w->cv;
    int32_t first[LANES] = {[0 ... LANES - 1] = INT32_MAX};
    int32_t second[LANES] = {[0 ... LANES - 1] = INT32_MAX}, column[LANES] = {0};

    for (size_t j = 0; j < w->ld; j += LANES)
#pragma omp simd
        for (size_t k = 0; k < LANES; k++) {
            const int32_t t = c[j + k] - v[j + k];
            second[k] = MIN(MAX(t, first[k]), second[k]);
            column[k] = t < first[k] ? (int32_t)(j + k) : column[k];
            first[k] = MIN(t, first[k]);
        }
    const size_t best = first_lane(first, column);
    int32_t other = second[best];
    for (size_t k = 0; k < LANES; k++)
        if (k != best)
            other = MIN(first[k], other);
    *slack = (other & UNMARKED) - (first[best] & UNMARKED);
    return column[best];
}

/* If the reduced cost less h is below cd[j], set cd[j] to it and from[j] to i. Returns the column of
 * the minimum cd. */
INLINE size_t relax(struct mc_assign_work *w, size_t i, int32_t h)
{
    const int32_t *c = w->c + i * w->ld, *v = w->cv;
    int32_t *d = w->cd, *from = w->from;
    int32_t least[LANES] = {[0 ... LANES - 1] = INT32_MAX}, column[LANES] = {0};

    for (size_t j = 0; j < w->ld; j += LANES)
#pragma omp simd
        for (size_t k = 0; k < LANES; k++) {
            const int32_t t = c[j + k] - v[j + k] - h, now = MIN(t, d[j + k]);
            from[j + k] = t < d[j + k] ? (int32_t)i : from[j + k];
            d[j + k] = now;
            column[k] = now < least[k] ? (int32_t)(j + k) : column[k];
            least[k] = MIN(now, least[k]);
        }
    return (size_t)column[first_lane(least, column)];
}

/* The same on the fine grid. */
INLINE size_t fine_relax(struct mc_assign_work *w, size_t i, double h)
{
    const double *x = w->value + i * w->n, *v = w->v, unit = w->unit, top = w->high[i] * unit;
    double *d = w->d, least = INFINITY;
    int32_t *from = w->from;
    size_t best = 0;

#pragma omp simd reduction(min : least)
    for (size_t j = 0; j < w->n; j++) {
        const double t = FINE(x[j], unit, top) - v[j] - h, now = MIN(t, d[j]);
        from[j] = t < d[j] ? (int32_t)i : from[j];
        d[j] = now;
        least = MIN(now, least);
    }
    while (d[best] > least)
        best++;
    return best;
}

/* Write the columns with cost - v[j] <= u to list (one entry more than these) and return their
 * number. Unless NULL, *best becomes the maximum of value * unit + v, and *far grows by the number of
 * costs that are at least low + FAR. */
INLINE size_t fine_columns(struct mc_assign_work *w, size_t i, double u, int32_t *list,
                           double *best, size_t *far)
{
    const double *x = w->value + i * w->n, *v = w->v, *low = w->low;
    const double unit = w->unit, top = w->high[i] * unit;
    double most = -INFINITY;
    size_t count = 0;
    int64_t n_far = 0;

    for (size_t start = 0; start < w->n; start += CHUNK) {
        const size_t n = MIN(w->n - start, CHUNK);
        int64_t tight[CHUNK], any = 0;
#pragma omp simd reduction(| : any) reduction(max : most) reduction(+ : n_far)
        for (size_t k = 0; k < n; k++) {
            const size_t j = start + k;
            const double cost = FINE(x[j], unit, top);
            tight[k] = cost - v[j] <= u;
            any |= tight[k];
            if (best) {
                most = MAX(x[j] * unit + v[j], most);
                n_far += cost - low[j] >= FAR;
            }
        }
        for (size_t k = 0; any && k < n; k++) {
            list[count] = (int32_t)(start + k);
            count += (size_t)tight[k];
        }
    }
    if (best) {
        *best = most;
        *far += (size_t)n_far;
    }
    return count;
}

#endif

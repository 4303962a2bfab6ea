/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loops of linear assignment, one table per instruction set. All their arithmetic is
 * exact (see libcommon/assign/assign.c), so every table returns the same bits. Ties go to the
 * lowest index. Internal to assign.c. */
#ifndef MC_ASSIGN_LOOPS_TABLE_H
#define MC_ASSIGN_LOOPS_TABLE_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Rows of the coarse (int32) matrix are padded to this many entries. */
#define MC_ASSIGN_LANES 8

/* The fine cost of an entry: an integer in [0, 2^50], stored in a double. unit is a power of two;
 * top is the row's maximum times unit. */
#define MC_ASSIGN_FINE(x, unit, top) ((((top) - (x) * (unit)) + 0x1p52) - 0x1p52)

struct mc_assign_loops {
    /* Minimum and maximum of x. Returns 0, or -1 if an entry is not finite. */
    int (*range)(size_t n, const double *x, double *lo, double *hi);
    /* c[j] = twice the coarse cost of x[j], the nearest integer to top - x[j]*unit. Updates each
     * column's minimum and its first row. Returns 1 if nothing was rounded. */
    int (*coarse)(size_t n, const double *x, double unit, double top, int32_t row, int32_t *c,
                  int32_t *col_min, int32_t *col_row);
    /* Number of columns whose cost is at least low[j] + far. */
    size_t (*coarse_far)(size_t n, const int32_t *c, const int32_t *low, int32_t far);
    size_t (*fine_far)(size_t n, const double *x, double unit, double top, const double *low,
                       double far);
    /* out: minimum of c[j]-v[j], its lowest j, minimum of all others. ld: a multiple of
     * MC_ASSIGN_LANES. */
    void (*least2)(size_t ld, const int32_t *c, const int32_t *v, int32_t out[3]);
    /* If c[j]-v[j]-h < d[j], set d[j] to it and from[j] to row. Returns the lowest j with minimum
     * d. */
    size_t (*relax)(size_t ld, const int32_t *c, const int32_t *v, int32_t h, int32_t row,
                    int32_t *d, int32_t *from);
    /* The same on n fine costs, without padding or alignment. */
    size_t (*fine_relax)(size_t n, const double *x, double unit, double top, const double *v,
                         double h, int32_t row, double *d, int32_t *from);
    /* If cost - u < v[j], lower v[j] to it. Writes the indices of these columns to list and returns
     * their number. */
    size_t (*fine_lower)(size_t n, const double *x, double unit, double top, double u, double *v,
                         int32_t *list);
    /* *best = maximum of x[j]*unit + v[j]. Writes the columns with cost - v[j] <= u to list (n + 1
     * entries) and returns their number. */
    size_t (*fine_tight)(size_t n, const double *x, double unit, double top, double u,
                         const double *v, double *best, int32_t *list);
};

/* The table for the instruction set of mc_isa. */
MC_USE_RESULT int mc_assign_loops(const struct mc_assign_loops **out, struct mc_error *err);

#endif

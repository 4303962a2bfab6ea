/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loops of linear assignment, one table of them an instruction set. All arithmetic in
 * them is exact (see libcommon/assign/assign.c), so every table gives the same bits; ties go to the
 * lowest index. Internal to assign.c. */
#ifndef MC_ASSIGN_LOOPS_TABLE_H
#define MC_ASSIGN_LOOPS_TABLE_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Rows of the coarse (int32) matrix are padded to this many entries. */
#define MC_ASSIGN_LANES 8

/* The fine cost of one entry: an integer in [0, 2^50], held in a double. unit is a power of two and
 * top the row's greatest value times unit. */
#define MC_ASSIGN_FINE(x, unit, top) ((((top) - (x) * (unit)) + 0x1p52) - 0x1p52)

struct mc_assign_loops {
    /* Least and greatest of x; returns 0, or -1 if an entry is not finite. */
    int (*range)(size_t n, const double *x, double *lo, double *hi);
    /* c[j] = twice the coarse cost of x[j], the nearest integer to top - x[j]*unit, and the
     * columns' running least and the first row that has it. Returns whether nothing had to be
     * rounded. */
    int (*coarse)(size_t n, const double *x, double unit, double top, int32_t row, int32_t *c,
                  int32_t *col_min, int32_t *col_row);
    /* Columns whose cost is by `far` or more over low[j]. */
    size_t (*coarse_far)(size_t n, const int32_t *c, const int32_t *low, int32_t far);
    size_t (*fine_far)(size_t n, const double *x, double unit, double top, const double *low,
                       double far);
    /* out: least c[j]-v[j], the lowest j that has it, least of all others. ld: a multiple of
     * MC_ASSIGN_LANES. */
    void (*least2)(size_t ld, const int32_t *c, const int32_t *v, int32_t out[3]);
    /* Where c[j]-v[j]-h < d[j], set d[j] to it and from[j] to row; returns the lowest j of least
     * d. */
    size_t (*relax)(size_t ld, const int32_t *c, const int32_t *v, int32_t h, int32_t row,
                    int32_t *d, int32_t *from);
    /* The same on fine costs, n entries, nothing padded or aligned. */
    size_t (*fine_relax)(size_t n, const double *x, double unit, double top, const double *v,
                         double h, int32_t row, double *d, int32_t *from);
    /* Where cost - u < v[j], lower v[j] to it; the columns' indices go to list, their number is
     * returned. */
    size_t (*fine_lower)(size_t n, const double *x, double unit, double top, double u, double *v,
                         int32_t *list);
    /* *best = greatest x[j]*unit + v[j]; columns with cost - v[j] <= u go to list, which has
     * room for one more than n; their number is returned. */
    size_t (*fine_tight)(size_t n, const double *x, double unit, double top, double u,
                         const double *v, double *best, int32_t *list);
};

/* The table for mc_isa's instruction set. */
MC_USE_RESULT int mc_assign_loops(const struct mc_assign_loops **out, struct mc_error *err);

#endif

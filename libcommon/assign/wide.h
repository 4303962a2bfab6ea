/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear assignment in floating point, for costs that span more orders of magnitude than the grids
 * of assign.c, and the proof that an assignment is optimal. Internal to assign.c.
 *
 * The cost of (i,j) is the maximum of row i minus value[i][j], minus the minimum of that in column
 * j. u is the median of the costs that are not 0. Each column has a dual v. The dual of a row is
 * its minimum of cost - v, so no reduced cost is negative. An assignment is proven if each of its
 * reduced costs is at most 1e-9 u. */
#ifndef MC_ASSIGN_WIDE_H
#define MC_ASSIGN_WIDE_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct mc_wide {
    size_t n;
    const double *value; /* (n,n) */
    const double *high;  /* (n) maximum of each row */
    int32_t *col, *row;  /* (n) the assignment: column of each row, row of each column */
    long double *v;      /* (n) duals of the columns, for the costs high[i] - value[i][j] */
    long double *least;  /* (n) minimum of those costs in each column */
    void *scratch;       /* (2n) long double */
    int32_t *from;       /* (n) row from which a column was reached */
    char *searched;      /* (n) */
};

/* Borrows value, high, col and row; v becomes 0. Release it, also after an error. MC_ENOMEM. */
MC_USE_RESULT int mc_wide_init(struct mc_wide *w, size_t n, const double *value, const double *high,
                               int32_t *col, int32_t *row, struct mc_error *err);
void mc_wide_release(struct mc_wide *w);
/* Returns 1 if v proves col in long double. */
int mc_wide_proven(const struct mc_wide *w);
/* Set col, row and v, in double or else in long double. MC_EFAIL if neither result is proven. */
MC_USE_RESULT int mc_wide_solve(struct mc_wide *w, struct mc_error *err);
/* Returns the gap to the dual bound: the sum of the assignment's reduced costs. For row i, writes
 * the columns whose reduced cost is 0 to rounding to edges[first[i]..first[i+1]). first: (n+1);
 * edges: (n*n). */
double mc_wide_certify(const struct mc_wide *w, size_t *first, int32_t *edges);
/* Flip the path from row `start` to the free column j: matched edges become free, and vice
 * versa. */
void mc_wide_flip_path(int32_t *col, int32_t *row, const int32_t *from, size_t j, size_t start);

#endif

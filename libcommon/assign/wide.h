/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear assignment on costs that span more orders of magnitude than the grids of assign.c hold, in
 * floating point, and the proof that an assignment is the best. Internal to assign.c.
 *
 * The cost of (i,j) is row i's greatest value less value[i][j], less the least of that in column j.
 * u is the median of the costs that are not 0. Each column has a dual v, and each row the least
 * cost less v as its own, so that no reduced cost is below 0. The assignment is proven if each of
 * its reduced costs is at most 1e-9 u. */
#ifndef MC_ASSIGN_WIDE_H
#define MC_ASSIGN_WIDE_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct mc_wide {
    size_t n;
    const double *value; /* (n,n) */
    const double *high;  /* (n) greatest value of each row */
    int32_t *col, *row;  /* (n) the assignment: column of each row, row of each column */
    long double *v;      /* (n) duals of the columns, of the row's greatest value less the value */
    long double *least;  /* (n) least of that in each column */
    void *scratch;       /* (2n) long double */
    int32_t *from;       /* (n) row through which a column was reached */
    char *searched;      /* (n) */
};

/* Borrows value, high, col and row; v is 0. Release it, also after an error. MC_ENOMEM. */
MC_USE_RESULT int mc_wide_init(struct mc_wide *w, size_t n, const double *value, const double *high,
                               int32_t *col, int32_t *row, struct mc_error *err);
void mc_wide_release(struct mc_wide *w);
/* Whether col is proven by v, evaluated in long double. */
int mc_wide_proven(const struct mc_wide *w);
/* Set col, row and v: in double and, if that is not proven, in long double. MC_EFAIL: neither
 * is. */
MC_USE_RESULT int mc_wide_solve(struct mc_wide *w, struct mc_error *err);
/* The sum of the assignment's reduced costs: the gap to the dual's bound. Columns whose reduced
 * cost is 0 to rounding go to edges[first[i]..first[i+1]) for row i: first (n+1), edges (n*n). */
double mc_wide_certify(const struct mc_wide *w, size_t *first, int32_t *edges);
/* Turn over the path that ends at free column j and began at row `start`. */
void mc_wide_turn_over(int32_t *col, int32_t *row, const int32_t *from, size_t j, size_t start);

#endif

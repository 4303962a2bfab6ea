/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of one linear assignment. Internal to assign.c, loops.h and wide.c. */
#ifndef MC_ASSIGN_WORK_H
#define MC_ASSIGN_WORK_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))

struct mc_assignment;

struct mc_assign_work {
    size_t n, ld; /* ld: n rounded up to whole vectors */
    const double *value;
    int exponent;     /* the maximum range of a row is in [2^(exponent-1), 2^exponent) */
    double unit;      /* fine units in 1 */
    size_t n_rows;    /* rows whose values differ; all costs in the other rows are 0 */
    int exact;        /* the coarse grid represents every cost exactly */
    double *high;     /* (n) maximum of each row */
    double *v;        /* (n) fine duals of the columns */
    double *d;        /* (n) fine distances */
    double *low;      /* (n) at least the minimum fine cost of each column */
    double *saved;    /* (n) duals of the searched columns */
    size_t *first;    /* (n+1) index of each row's first tight column */
    int32_t *c;       /* (n,ld) coarse costs, doubled; later (n^2 + 1) tight columns of all rows */
    int32_t *cv;      /* (ld) coarse duals, doubled, less 1 where the column is matched; padded */
    int32_t *cd;      /* (ld) coarse distances */
    int32_t *from;    /* (ld) row from which a column was reached */
    int32_t *c_saved; /* (n) coarse duals of the searched columns */
    int32_t *col;     /* (n) column of each row, or -1 */
    int32_t *row;     /* (n) row of each column, or -1 */
    int32_t *free_row, *list, *mark; /* (n) */
};

/* Flip the path from row `start` to the free column j: matched edges become free, and vice
 * versa. */
static inline void mc_assign_flip_path(struct mc_assign_work *w, size_t j, size_t start)
{
    size_t i;

    do {
        i = (size_t)w->from[j];
        const int32_t next = w->col[i];
        w->col[i] = (int32_t)j;
        w->row[j] = (int32_t)i;
        j = (size_t)next;
    } while (i != start);
}

/* Keep the assignment if its duals prove it. Otherwise solve again in floating point, for costs that
 * span more orders of magnitude than the grids of assign.c, and set col, row, first, c and info
 * (wide.c). MC_EFAIL if the result is not proven either, MC_ENOMEM. */
MC_USE_RESULT int mc_assign_prove(struct mc_assign_work *w, struct mc_assignment *info,
                                  struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Shortest augmenting paths in double and long double, with a proof of optimality. */
#include "libcommon/assign/wide.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define PROOF 1e9L /* u must be this many times the maximum reduced cost of the assignment */

void mc_wide_flip_path(int32_t *col, int32_t *row, const int32_t *from, size_t j, size_t start)
{
    size_t i;

    do {
        i = (size_t)from[j];
        const int32_t next = col[i];
        col[i] = (int32_t)j;
        row[j] = (int32_t)i;
        j = (size_t)next;
    } while (i != start);
}

#define REAL double
#define WIDE_NAME(f) double_##f
#include "libcommon/assign/wide_solve.h"

#define REAL long double
#define WIDE_NAME(f) long_##f
#include "libcommon/assign/wide_solve.h"

int mc_wide_init(struct mc_wide *w, size_t n, const double *value, const double *high, int32_t *col,
                 int32_t *row, struct mc_error *err)
{
    *w = (struct mc_wide){.n = n, .value = value, .high = high, .col = col, .row = row};
    w->v = calloc(n + 1, 4 * sizeof *w->v + sizeof *w->from + 1);
    if (!w->v)
        return mc_fail(err, MC_ENOMEM, "out of memory for an assignment of %zu rows", n);
    w->least = w->v + n;
    w->scratch = w->least + n;
    w->from = (int32_t *)(w->least + 3 * n);
    w->searched = (char *)(w->from + n);
    for (size_t j = 0; j < n; j++)
        w->least[j] = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const long double c = (long double)high[i] - (long double)value[i * n + j];
            if (c < w->least[j])
                w->least[j] = c;
        }
    return 0;
}

void mc_wide_release(struct mc_wide *w)
{
    free(w->v);
    *w = (struct mc_wide){0};
}

static long double reduced(const struct mc_wide *w, size_t i, size_t j)
{
    return ((long double)w->high[i] - (long double)w->value[i * w->n + j]) - w->v[j];
}

/* The dual of a row. */
static long double row_dual(const struct mc_wide *w, size_t i)
{
    long double u = INFINITY;

    for (size_t j = 0; j < w->n; j++) {
        const long double r = reduced(w, i, j);
        u = r < u ? r : u;
    }
    return u;
}

int mc_wide_proven(const struct mc_wide *w)
{
    const size_t n = w->n;
    long double most = 0;
    size_t costs = 0, far = 0;

    for (size_t i = 0; i < n; i++) {
        const long double slack = reduced(w, i, (size_t)w->col[i]) - row_dual(w, i);
        if (!(slack >= 0 && slack < INFINITY)) /* not a number */
            return 0;
        most = slack > most ? slack : most;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const long double c = long_cost(w, i, j);
            costs += c > 0;
            far += c > 0 && c >= PROOF * most;
        }
    return 2 * far >= costs; /* the median is far */
}

int mc_wide_solve(struct mc_wide *w, struct mc_error *err)
{
    double_solve(w);
    if (mc_wide_proven(w))
        return 0;
    long_solve(w);
    if (mc_wide_proven(w))
        return 0;
    return mc_fail(err, MC_EFAIL,
                   "no assignment of %zu rows is proven optimal (the values span too many orders "
                   "of magnitude for %d bits)",
                   w->n, LDBL_MANT_DIG);
}

double mc_wide_certify(const struct mc_wide *w, size_t *first, int32_t *edges)
{
    long double gap = 0;
    size_t n_edges = 0;

    for (size_t i = 0; i < w->n; i++) {
        const long double u = row_dual(w, i);
        first[i] = n_edges;
        gap += reduced(w, i, (size_t)w->col[i]) - u;
        for (size_t j = 0; j < w->n; j++) {
            const long double r = reduced(w, i, j) - u;
            if (j == (size_t)w->col[i] || r <= 0x1p-46L * (fabsl(w->v[j]) + fabsl(u)))
                edges[n_edges++] = (int32_t)j;
        }
    }
    first[w->n] = n_edges;
    return (double)gap;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Shortest augmenting paths in long double, with a proof of optimality.
 *
 * The cost of (i,j) is the maximum of row i minus value[i][j], minus the minimum of that in column
 * j. u is the median of the costs that are not 0. Each column has a dual v. The dual of a row is
 * its minimum of cost - v, so no reduced cost is negative. An assignment is proven if each of its
 * reduced costs is at most 1e-9 u. */
#include "libcommon/assign/assign.h"
#include "libcommon/assign/work.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/sum.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define PROOF 1e9L /* u must be this many times the maximum reduced cost of the assignment */

struct wide {
    struct mc_assign_work *w;
    long double *low, *v, *d; /* (n) minimum, dual and distance of each column */
};

static long double cost(const struct wide *p, size_t i, size_t j)
{
    return (long double)p->w->high[i] - (long double)p->w->value[i * p->w->n + j] - p->low[j];
}

static long double reduced(const struct wide *p, size_t i, size_t j)
{
    return cost(p, i, j) - p->v[j];
}

/* The dual of a row. */
static long double row_dual(const struct wide *p, size_t i)
{
    long double u = INFINITY;

    for (size_t j = 0; j < p->w->n; j++) {
        const long double r = reduced(p, i, j);
        u = MIN(r, u);
    }
    return u;
}

static int is_proven(const struct wide *p)
{
    const size_t n = p->w->n;
    long double most = 0;
    size_t costs = 0, far = 0;

    for (size_t i = 0; i < n; i++) {
        const long double r = reduced(p, i, (size_t)p->w->col[i]) - row_dual(p, i);
        if (!(r < INFINITY)) /* not a number */
            return 0;
        most = MAX(r, most);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const long double c = cost(p, i, j);
            costs += c > 0;
            far += c > 0 && c >= PROOF * most;
        }
    return 2 * far >= costs; /* the median is far */
}

/* Augment along the shortest path from row `start`. A free column wins a tie. */
static void augment(struct wide *p, size_t start)
{
    const size_t n = p->w->n;
    int32_t *row = p->w->row, *from = p->w->from, *searched = p->w->mark;
    size_t i = start, j;
    long double h = 0, *d = p->d;

    for (size_t k = 0; k < n; k++) {
        from[k] = -1;
        searched[k] = 0;
    }
    for (;;) {
        j = n;
        for (size_t k = 0; k < n; k++) {
            if (searched[k])
                continue;
            const long double t = reduced(p, i, k) - h;
            if (from[k] < 0 || t < d[k]) {
                d[k] = t;
                from[k] = (int32_t)i;
            }
            if (j == n || d[k] < d[j] || (d[k] <= d[j] && row[j] >= 0 && row[k] < 0))
                j = k;
        }
        if (row[j] < 0)
            break;
        searched[j] = 1;
        i = (size_t)row[j];
        h = reduced(p, i, j) - d[j];
    }
    for (size_t k = 0; k < n; k++)
        if (searched[k])
            p->v[k] += d[k] - d[j];
    mc_assign_flip_path(p->w, j, start);
}

/* Set value, bound and gap, and the columns of each row whose reduced cost is 0 to rounding. */
static void certify(const struct wide *p, struct mc_assignment *info)
{
    struct mc_assign_work *w = p->w;
    struct mc_sum value = {0, 0};
    long double gap = 0;
    size_t edges = 0;

    for (size_t i = 0; i < w->n; i++) {
        const size_t match = (size_t)w->col[i];
        const long double u = row_dual(p, i);
        w->first[i] = edges;
        gap += reduced(p, i, match) - u;
        mc_sum_add(&value, w->value[i * w->n + match]);
        for (size_t j = 0; j < w->n; j++) {
            const long double r = reduced(p, i, j) - u;
            if (j == match || r <= 0x1p-46L * (fabsl(p->v[j] + p->low[j]) + fabsl(u)))
                w->c[edges++] = (int32_t)j;
        }
    }
    w->first[w->n] = edges;
    info->value = mc_sum_value(value);
    info->gap = (double)gap;
    info->bound = info->value + info->gap;
}

int mc_assign_prove(struct mc_assign_work *w, struct mc_assignment *info, struct mc_error *err)
{
    const size_t n = w->n;
    struct wide p = {.w = w};
    int rc = mc_new(&p.low, 3 * n, err);

    if (rc)
        return rc;
    p.v = p.low + n;
    p.d = p.v + n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const long double c = cost(&p, i, j); /* low is still 0 */
            p.d[j] = i ? MIN(c, p.d[j]) : c;
        }
    for (size_t j = 0; j < n; j++) {
        p.low[j] = p.d[j];
        p.v[j] = (long double)w->v[j] / (long double)w->unit - p.low[j];
    }
    if (is_proven(&p))
        goto out;
    for (size_t k = 0; k < n; k++) {
        w->row[k] = w->col[k] = -1;
        p.v[k] = 0;
    }
    for (size_t i = 0; i < n; i++)
        augment(&p, i);
    if (is_proven(&p))
        certify(&p, info);
    else
        rc = mc_fail(err, MC_EFAIL,
                     "no assignment of %zu rows is proven optimal (the values span too many orders "
                     "of magnitude for %d bits)",
                     n, LDBL_MANT_DIG);
out:
    free(p.low);
    return rc;
}

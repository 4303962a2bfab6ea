/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/nested_groups.h"

#include "libcommon/assign/assign.h"
#include "libcommon/base/alloc.h"
#include "tools/align/products.h"

#include <stdlib.h>
#include <string.h>

/* ---- which groups lie in which ----------------------------------------------------------------
 */

static int list_inside(struct mc_nested_group *n, const struct mc_placed_use *uses, size_t n_uses,
                       struct mc_error *err)
{
    const size_t all = n->n_units * n->n_inside;
    int rc = 0;

    if (!all)
        return 0;
    if ((rc = mc_new(&n->x, all, err)) || (rc = mc_new(&n->y, all, err)) ||
        (rc = mc_new(&n->have, all, err)) || (rc = mc_new(&n->values, n->n_inside, err)))
        return rc;
    for (size_t c = 0; c < n->n_inside; c++) {
        n->width += n->sizes[n->inside[c]];
        for (size_t i = 0; i < n_uses; i++)
            if (uses[i].group == n->inside[c])
                n->values[c] += mc_unit_values(&uses[i].at);
    }
    return 0;
}

int mc_nested_find(struct mc_nested_groups *out, const struct mc_perm *p,
                   const struct mc_placed_use *uses, size_t n_uses, struct mc_error *err)
{
    const struct mc_nesting *all = &out->nesting;
    int rc = 0;

    *out = (struct mc_nested_groups){0};
    if ((rc = mc_nesting_find(&out->nesting, p, err)) ||
        (rc = mc_new(&out->groups, p->n_groups, err)))
        return rc;
    for (size_t i = 0; i < p->n_groups && !rc; i++) {
        out->groups[i] = (struct mc_nested_group){.n_units = p->sizes[i],
                                                  .n_inside = all->slots[i],
                                                  .inside = all->child + all->first[i],
                                                  .sizes = p->sizes};
        rc = list_inside(&out->groups[i], uses, n_uses, err);
    }
    return rc;
}

static void forget(struct mc_nested_group *n)
{
    for (size_t i = 0; i < n->n_units * n->n_inside; i++) {
        free(n->x[i]);
        free(n->y[i]);
        n->x[i] = n->y[i] = NULL;
        n->have[i] = 0;
    }
    free(n->best);
    n->best = NULL;
}

void mc_nested_release(struct mc_nested_groups *n, size_t n_groups)
{
    for (size_t i = 0; n->groups && i < n_groups; i++) {
        if (n->groups[i].values)
            forget(&n->groups[i]);
        free(n->groups[i].x);
        free(n->groups[i].y);
        free(n->groups[i].have);
        free(n->groups[i].values);
    }
    mc_nesting_release(&n->nesting);
    free(n->groups);
}

/* ---- their values -----------------------------------------------------------------------------
 */

int mc_nested_begin(struct mc_nested_group *n, struct mc_error *err)
{
    int rc = 0;

    forget(n);
    if ((rc = mc_new(&n->best, n->n_units * n->n_units * n->width, err)))
        return rc;
    for (size_t i = 0; i < n->n_units * n->n_inside && !rc; i++) {
        const size_t count = n->values[i % n->n_inside] * n->sizes[n->inside[i]];
        if (!(rc = mc_new(&n->x[i], count, err)))
            rc = mc_new(&n->y[i], count, err);
    }
    return rc;
}

void mc_nested_pack(struct mc_nested_group *n, size_t at, const struct mc_unit_blocks *units,
                    const float *a, const float *b)
{
    const size_t here = n->have[at] * units->k, count = mc_unit_values(units);

    mc_units_pack(units, a, 0, count, n->x[at] + here);
    mc_units_pack(units, b, 0, count, n->y[at] + here);
    n->have[at] += count;
}

/* Of place h and unit u: the best permutations, and what they add, into *sum. */
static int value_pair(struct mc_nested_group *n, size_t h, size_t u, const struct mc_perm *p,
                      double *sum, struct mc_error *err)
{
    int32_t *best = n->best + (h * n->n_units + u) * n->width;
    int rc = 0;

    for (size_t c = 0; c < n->n_inside && !rc; c++) {
        const size_t there = u * n->n_inside + c, K = n->sizes[n->inside[there]];
        const int32_t *now = p->perm[n->inside[there]];
        double *value = NULL;
        struct mc_assignment found;

        if (!(rc = mc_new(&value, K * K, err)) &&
            !(rc = mc_products_add(K, n->values[c], n->x[h * n->n_inside + c], n->y[there], value,
                                   1, err)) &&
            !(rc = mc_assign_max(K, value, best, &found, err))) {
            *sum += found.value;
            for (size_t i = 0; i < K; i++)
                *sum -= value[i * K + (size_t)now[i]];
            best += K;
        }
        free(value);
    }
    return rc;
}

int mc_nested_add_values(struct mc_nested_group *n, const struct mc_perm *p, double *value,
                         int threads, struct mc_error *err)
{
    const size_t pairs = n->n_units * n->n_units;
    int rc = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (size_t i = 0; i < pairs; i++) {
        struct mc_error mine = {0};
        double sum = 0;
        int failed = value_pair(n, i / n->n_units, i % n->n_units, p, &sum, &mine);
        value[i] += sum;
        if (failed) {
#pragma omp critical
            {
                rc = failed;
                *err = mine;
            }
        }
    }
    return rc;
}

int mc_nested_exchange(struct mc_nested_group *n, const int32_t *units, struct mc_perm *p)
{
    int changed = 0;

    for (size_t h = 0; h < n->n_units; h++) {
        const size_t u = (size_t)units[h];
        int32_t *best = n->best + (h * n->n_units + u) * n->width;
        for (size_t c = 0; c < n->n_inside; c++) {
            const size_t group = n->inside[u * n->n_inside + c];
            for (size_t i = 0; i < n->sizes[group]; i++) {
                int32_t t = p->perm[group][i];
                changed |= t != *best;
                p->perm[group][i] = *best;
                *best++ = t;
            }
        }
    }
    return changed;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/nested_groups.h"

#include "libcommon/assign/assign.h"
#include "libcommon/base/alloc.h"
#include "tools/align/products.h"

#include <stdlib.h>
#include <string.h>

/* ---- which groups lie in which ----------------------------------------------------------------
 */

/* What lies in the units of one group: the same in all (struct mc_group). */
static int list_inside(struct mc_nested_groups *out, const struct mc_symmetry *s, size_t group,
                       const struct mc_placed_use *uses, size_t n_uses, struct mc_error *err)
{
    struct mc_nested_group *n = &out->groups[group];
    size_t *count = NULL, all = 0;
    int rc = 0;

    for (size_t i = 0; i < s->n_groups; i++)
        all += out->parent[i] == group;
    n->n_inside = all / n->n_units;
    if (!all)
        return 0;
    if ((rc = mc_new(&n->inside, all, err)) || (rc = mc_new(&n->x, all, err)) ||
        (rc = mc_new(&n->y, all, err)) || (rc = mc_new(&n->have, all, err)) ||
        (rc = mc_new(&n->values, n->n_inside, err)) || (rc = mc_new(&count, n->n_units, err)))
        return rc;
    for (size_t i = 0; i < s->n_groups; i++)
        if (out->parent[i] == group) {
            const size_t unit = s->groups[i].unit;
            out->slot[i] = unit * n->n_inside + count[unit]++;
            n->inside[out->slot[i]] = i;
        }
    for (size_t c = 0; c < n->n_inside; c++) {
        n->width += out->sizes[n->inside[c]];
        for (size_t i = 0; i < n_uses; i++)
            if (uses[i].group == n->inside[c])
                n->values[c] += mc_unit_values(&uses[i].at);
    }
    free(count);
    return 0;
}

int mc_nested_find(struct mc_nested_groups *out, const struct mc_symmetry *s,
                   const struct mc_placed_use *uses, size_t n_uses, struct mc_error *err)
{
    int rc = 0;

    *out = (struct mc_nested_groups){0};
    if ((rc = mc_new(&out->parent, s->n_groups, err)) ||
        (rc = mc_new(&out->slot, s->n_groups, err)) ||
        (rc = mc_new(&out->sizes, s->n_groups, err)) ||
        (rc = mc_new(&out->groups, s->n_groups, err)))
        return rc;
    for (size_t i = 0; i < s->n_groups; i++) {
        const size_t within = s->groups[i].within;
        out->sizes[i] = s->groups[i].size;
        out->groups[i] =
            (struct mc_nested_group){.n_units = s->groups[i].size, .sizes = out->sizes};
        out->parent[i] = within ? within - 1 : s->n_groups;
    }
    for (size_t i = 0; i < s->n_groups && !rc; i++)
        rc = list_inside(out, s, i, uses, n_uses, err);
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
        free(n->groups[i].inside);
        free(n->groups[i].x);
        free(n->groups[i].y);
        free(n->groups[i].have);
        free(n->groups[i].values);
    }
    free(n->parent);
    free(n->slot);
    free(n->sizes);
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

void mc_nested_pack(struct mc_nested_group *n, size_t slot, const struct mc_unit_blocks *at,
                    const float *a, const float *b)
{
    const size_t here = n->have[slot] * at->k, count = mc_unit_values(at);

    mc_units_pack(at, a, 0, count, n->x[slot] + here);
    mc_units_pack(at, b, 0, count, n->y[slot] + here);
    n->have[slot] += count;
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

void mc_nested_exchange(struct mc_nested_group *n, const int32_t *units, struct mc_perm *p)
{
    for (size_t h = 0; h < n->n_units; h++) {
        const size_t u = (size_t)units[h];
        int32_t *best = n->best + (h * n->n_units + u) * n->width;
        for (size_t c = 0; c < n->n_inside; c++) {
            const size_t group = n->inside[u * n->n_inside + c];
            for (size_t i = 0; i < n->sizes[group]; i++) {
                int32_t t = p->perm[group][i];
                p->perm[group][i] = *best;
                *best++ = t;
            }
        }
    }
}

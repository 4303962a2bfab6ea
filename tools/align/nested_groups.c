/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/nested_groups.h"

#include "libcommon/assign/assign.h"
#include "libcommon/base/alloc.h"
#include "tools/align/products.h"

#include <stdlib.h>
#include <string.h>

/* ---- which groups lie in which ----------------------------------------------------------------
 */

/* The unit of u in which all of v lies, or u's k. */
static size_t unit_around(const struct mc_placed_use *u, const struct mc_placed_use *v)
{
    const struct mc_unit_blocks *o = &u->at, *i = &v->at;
    /* from the first value of v on: of each of the blocks that both have, or of all of v */
    const int alike = o->blocks == i->blocks && o->stride == i->stride;
    const size_t length = alike ? i->k * i->m : (i->blocks - 1) * i->stride + i->k * i->m;

    if (u->group == v->group || u->use->index != v->use->index ||
        u->use->repeat <= v->use->repeat || i->base < o->base || (!alike && o->blocks > 1))
        return o->k;
    const size_t at = i->base - o->base, unit = at / o->m;
    return unit < o->k && at % o->m + length <= o->m ? unit : o->k;
}

struct found {
    const struct mc_placed_use *uses;
    size_t n_uses;
    size_t *unit;  /* (n_groups) of the parent's */
    size_t *outer; /* (n_uses) the parent's use around each */
};

/* The group in one unit of which all uses of `group` lie, the innermost: sets f->unit, f->outer. */
static size_t parent_of(struct found *f, size_t group, size_t none)
{
    size_t parent = none, finest = SIZE_MAX, first = 0;

    while (first < f->n_uses && f->uses[first].group != group)
        first++;
    for (size_t c = 0; first < f->n_uses && c < f->n_uses; c++) {
        const struct mc_placed_use *u = &f->uses[c];
        const size_t unit = unit_around(u, &f->uses[first]);
        int all = unit < u->at.k && u->use->repeat < finest;
        for (size_t i = first; all && i < f->n_uses; i++) {
            if (f->uses[i].group != group)
                continue;
            all = 0;
            for (size_t k = 0; !all && k < f->n_uses; k++)
                all = f->uses[k].group == u->group && unit_around(&f->uses[k], &f->uses[i]) == unit;
        }
        if (all) {
            parent = u->group;
            finest = u->use->repeat;
            f->unit[group] = unit;
        }
    }
    for (size_t i = first; parent != none && i < f->n_uses; i++)
        for (size_t k = 0; f->uses[i].group == group && k < f->n_uses; k++)
            if (f->uses[k].group == parent &&
                unit_around(&f->uses[k], &f->uses[i]) == f->unit[group])
                f->outer[i] = k;
    return parent;
}

/* Do two groups lie in their units alike: the same places of the same uses? */
static int lie_alike(const struct found *f, size_t x, size_t y)
{
    size_t i = 0, j = 0;

    for (;; i++, j++) {
        while (i < f->n_uses && f->uses[i].group != x)
            i++;
        while (j < f->n_uses && f->uses[j].group != y)
            j++;
        if (i == f->n_uses || j == f->n_uses)
            return i == j;
        const struct mc_unit_blocks *p = &f->uses[i].at, *q = &f->uses[j].at;
        const struct mc_unit_blocks *o = &f->uses[f->outer[i]].at;
        if (f->outer[i] != f->outer[j] || p->k != q->k || p->m != q->m || p->blocks != q->blocks ||
            p->stride != q->stride || p->base - f->unit[x] * o->m != q->base - f->unit[y] * o->m)
            return 0;
    }
}

/* What lies in the units of one group, if that is the same in all. */
static int list_inside(struct mc_nested_groups *out, const struct found *f, size_t group,
                       size_t n_groups, struct mc_error *err)
{
    struct mc_nested_group *n = &out->groups[group];
    size_t *count = NULL, all = 0;
    int rc = mc_new(&count, n->n_units, err), alike = 1;

    for (size_t i = 0; !rc && i < n_groups; i++)
        if (out->parent[i] == group) {
            out->slot[i] = count[f->unit[i]]++;
            all++;
        }
    if (rc || !all || all % n->n_units)
        goto out;
    n->n_inside = all / n->n_units;
    for (size_t i = 0; i < n->n_units; i++)
        alike &= count[i] == n->n_inside;
    if (!alike || (rc = mc_new(&n->inside, all, err)) || (rc = mc_new(&n->x, all, err)) ||
        (rc = mc_new(&n->y, all, err)) || (rc = mc_new(&n->have, all, err)) ||
        (rc = mc_new(&n->values, n->n_inside, err)))
        goto out;
    for (size_t i = 0; i < n_groups; i++)
        if (out->parent[i] == group) {
            out->slot[i] += f->unit[i] * n->n_inside;
            n->inside[out->slot[i]] = i;
        }
    for (size_t i = 0; i < all; i++)
        alike &= lie_alike(f, n->inside[i % n->n_inside], n->inside[i]);
    for (size_t c = 0; alike && c < n->n_inside; c++) {
        n->width += out->sizes[n->inside[c]];
        for (size_t i = 0; i < f->n_uses; i++)
            if (f->uses[i].group == n->inside[c])
                n->values[c] += mc_unit_values(&f->uses[i].at);
    }
out:
    free(count);
    if (!alike)
        n->n_inside = 0;
    return rc;
}

int mc_nested_find(struct mc_nested_groups *out, const struct mc_symmetry *s,
                   const struct mc_placed_use *uses, size_t n_uses, struct mc_error *err)
{
    struct found f = {.uses = uses, .n_uses = n_uses};
    int rc = 0;

    *out = (struct mc_nested_groups){0};
    if ((rc = mc_new(&out->parent, s->n_groups, err)) ||
        (rc = mc_new(&out->slot, s->n_groups, err)) ||
        (rc = mc_new(&out->sizes, s->n_groups, err)) ||
        (rc = mc_new(&out->groups, s->n_groups, err)) || (rc = mc_new(&f.unit, s->n_groups, err)) ||
        (rc = mc_new(&f.outer, n_uses, err)))
        goto out;
    for (size_t i = 0; i < s->n_groups; i++) {
        out->sizes[i] = s->groups[i].size;
        out->groups[i] =
            (struct mc_nested_group){.n_units = s->groups[i].size, .sizes = out->sizes};
        out->parent[i] = parent_of(&f, i, s->n_groups);
    }
    for (size_t i = 0; i < s->n_groups && !rc; i++)
        rc = list_inside(out, &f, i, s->n_groups, err);
    for (size_t i = 0; i < s->n_groups; i++) /* of what is not alike nothing follows */
        if (out->parent[i] < s->n_groups && !out->groups[out->parent[i]].n_inside)
            out->parent[i] = s->n_groups;
out:
    free(f.unit);
    free(f.outer);
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

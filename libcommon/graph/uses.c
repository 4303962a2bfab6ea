/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/graph/uses.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct mc_unit_layout mc_unit_layout(const struct mc_graph *g, const struct mc_use *u)
{
    const struct mc_param *t = u->is_stat ? &g->stats[u->index] : &g->params[u->index];
    const size_t length = (size_t)t->tensor.shape[u->dim];
    size_t slices = 1, inner = 1;

    for (int d = 0; d < t->tensor.ndim; d++) {
        slices *= d < u->dim ? (size_t)t->tensor.shape[d] : 1;
        inner *= d > u->dim ? (size_t)t->tensor.shape[d] : 1;
    }
    slices /= u->parts; /* rows per part */
    const size_t first = u->offset / length * slices * length + u->offset % length;
    return (struct mc_unit_layout){.k = u->count,
                                   .m = u->repeat * inner,
                                   .slices = slices,
                                   .stride = length * inner,
                                   .base = t->offset + first * inner};
}

static int in_order(const void *x, const void *y)
{
    const struct mc_placed_use *a = x, *b = y;

    if (a->use->is_stat != b->use->is_stat)
        return a->use->is_stat - b->use->is_stat;
    if (a->use->index != b->use->index)
        return a->use->index < b->use->index ? -1 : 1;
    if (mc_use_is_after(a, b) || mc_use_is_after(b, a))
        return mc_use_is_after(a, b) ? 1 : -1;
    if (a->use->dim != b->use->dim)
        return a->use->dim - b->use->dim;
    return a->layout.base < b->layout.base ? -1 : a->layout.base > b->layout.base;
}

int mc_uses_in_order(const struct mc_symmetry *s, const struct mc_graph *g,
                     struct mc_placed_use **out, size_t *n, struct mc_error *err)
{
    size_t total = 0, *height = NULL;
    int rc = mc_new(&height, s->n_groups, err);

    *n = 0;
    *out = NULL;
    for (size_t k = 0; k < s->n_groups; k++)
        total += s->uses[k].n;
    if (rc || (rc = mc_new(out, total, err)))
        goto out;
    for (size_t k = 0; k < s->n_groups; k++)
        for (size_t i = s->groups[k].outer, h = 1; i != MC_NO_GROUP; i = s->groups[i].outer, h++)
            height[i] = height[i] > h ? height[i] : h;
    for (size_t k = 0; k < s->n_groups; k++)
        for (size_t i = 0; i < s->uses[k].n; i++) {
            const struct mc_use *u = &s->uses[k].use[i];
            (*out)[(*n)++] = (struct mc_placed_use){k, height[k], u, mc_unit_layout(g, u)};
        }
    qsort(*out, *n, sizeof **out, in_order);
out:
    free(height);
    return rc;
}

/* Copy k units of `unit` bytes. A constant size makes single loads and stores of small units. */
static inline void copy_units(char *restrict to, const char *restrict from, const int32_t *perm,
                              int inverse, size_t k, size_t unit)
{
    if (inverse)
        for (size_t i = 0; i < k; i++)
            memcpy(to + (size_t)perm[i] * unit, from + i * unit, unit);
    else
        for (size_t i = 0; i < k; i++)
            memcpy(to + i * unit, from + (size_t)perm[i] * unit, unit);
}

void mc_units_permute(const struct mc_unit_layout *layout, const int32_t *perm, int inverse,
                      size_t size, void *x, void *scratch)
{
    const size_t unit = size * layout->m;

    for (size_t b = 0; b < layout->slices; b++) {
        char *to = (char *)x + size * (layout->base + b * layout->stride);
        memcpy(scratch, to, layout->k * unit);
        if (unit == 2)
            copy_units(to, scratch, perm, inverse, layout->k, 2);
        else if (unit == 4)
            copy_units(to, scratch, perm, inverse, layout->k, 4);
        else
            copy_units(to, scratch, perm, inverse, layout->k, unit);
    }
}

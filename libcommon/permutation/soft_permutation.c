/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of the groups' matrices, the matrices of a permutation, and the slices they
 * multiply. */
#include "libcommon/permutation/soft_permutation.h"

#include "libcommon/base/alloc.h"
#include "libcommon/graph/uses.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

size_t mc_soft_perm_layout(const struct mc_symmetry *s, size_t *offset)
{
    size_t m = 0;

    for (size_t i = 0; i < s->n_groups; i++) {
        if (offset)
            offset[i] = m;
        m += (s->groups[i].size * s->groups[i].size + 15) / 16 * 16;
    }
    return m;
}

void mc_soft_perm_matrices(const struct mc_symmetry *s, const struct mc_perm *p, float *matrices)
{
    memset(matrices, 0, mc_soft_perm_layout(s, NULL) * sizeof *matrices);
    for (size_t g = 0; g < s->n_groups; g++) {
        const size_t k = s->groups[g].size;
        for (size_t i = 0; i < k; i++)
            matrices[i * k + (size_t)p->perm[g][i]] = 1;
        matrices += (k * k + 15) / 16 * 16;
    }
}

static int has_use(const struct mc_symmetry *s, size_t index, int dim)
{
    for (size_t g = 0; g < s->n_groups; g++)
        for (size_t i = 0; i < s->uses[g].n; i++) {
            const struct mc_use *u = &s->uses[g].use[i];
            if (!u->is_stat && u->index == index && u->dim == dim)
                return 1;
        }
    return 0;
}

static struct mc_soft_perm_use use_of(const struct mc_symmetry *s, const struct mc_graph *g,
                                      size_t group, const struct mc_use *u)
{
    const struct mc_unit_layout layout = mc_unit_layout(g, u);

    assert(u->count == s->groups[group].size);
    return (struct mc_soft_perm_use){.group = group,
                                     .k = layout.k,
                                     .dim = u->dim,
                                     .through = has_use(s, u->index, !u->dim),
                                     .base = layout.base,
                                     .slices = layout.slices,
                                     .stride = layout.stride,
                                     .m = layout.m};
}

int mc_soft_perm_plan(struct mc_soft_perm_plan *out, const struct mc_symmetry *s,
                      const struct mc_graph *g, struct mc_error *err)
{
    size_t max_uses = 0;
    int rc = 0;

    for (size_t k = 0; k < s->n_groups; k++)
        max_uses += s->uses[k].n;
    if ((rc = mc_new(&out->uses, max_uses, err)) || (rc = mc_new(&out->offset, s->n_groups, err)))
        return rc;
    out->m = mc_soft_perm_layout(s, out->offset);
    for (size_t k = 0; k < s->n_groups; k++)
        for (size_t i = 0; i < s->uses[k].n && !mc_group_contains_groups(s->groups, s->n_groups, k);
             i++)
            if (!s->uses[k].use[i].is_stat)
                out->uses[out->n_uses++] = use_of(s, g, k, &s->uses[k].use[i]);
    return 0;
}

void mc_soft_perm_plan_release(struct mc_soft_perm_plan *p)
{
    free(p->offset);
    free(p->uses);
}

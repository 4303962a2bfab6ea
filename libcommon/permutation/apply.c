/* SPDX-License-Identifier: Apache-2.0
 *
 * Permutations applied to flat vectors. */
#include "libcommon/permutation/permutation.h"

#include "libcommon/base/alloc.h"
#include "libcommon/graph/uses.h"

#include <stdlib.h>
#include <string.h>

/* Permute two vectors of entries of 4 bytes; stats may be NULL. */
static int permute(const struct mc_perm *p, const struct mc_symmetry *s, const struct mc_graph *g,
                   void *params, void *stats, struct mc_error *err)
{
    struct mc_placed_use *uses = NULL;
    uint32_t *scratch = NULL;
    size_t n = 0, max = 0;
    int rc = mc_perm_check_groups(p, s, err);

    if (rc || (rc = mc_uses_in_order(s, g, &uses, &n, err)))
        goto out;
    for (size_t i = 0; i < n; i++)
        max = uses[i].layout.k * uses[i].layout.m > max ? uses[i].layout.k * uses[i].layout.m : max;
    if ((rc = mc_new(&scratch, max, err)))
        goto out;
    for (size_t i = 0; i < n; i++) {
        void *x = uses[i].use->is_stat ? stats : params;
        if (x)
            mc_units_permute(&uses[i].layout, p->perm[uses[i].group], 0, sizeof *scratch, x,
                             scratch);
    }
out:
    free(uses);
    free(scratch);
    return rc;
}

int mc_perm_gather(const struct mc_perm *p, const struct mc_symmetry *s, const struct mc_graph *g,
                   uint32_t *params, uint32_t *stats, struct mc_error *err)
{
    for (size_t i = 0; i < g->P; i++)
        params[i] = (uint32_t)i;
    for (size_t i = 0; stats && i < g->S; i++)
        stats[i] = (uint32_t)i;
    return permute(p, s, g, params, stats, err);
}

int mc_perm_apply(const struct mc_perm *p, const struct mc_symmetry *s, const struct mc_graph *g,
                  const float *params_in, const float *stats_in, float *params_out,
                  float *stats_out, struct mc_error *err)
{
    memcpy(params_out, params_in, g->P * sizeof *params_out);
    if (stats_in)
        memcpy(stats_out, stats_in, g->S * sizeof *stats_out);
    return permute(p, s, g, params_out, stats_in ? stats_out : NULL, err);
}

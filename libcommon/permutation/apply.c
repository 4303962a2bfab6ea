/* SPDX-License-Identifier: Apache-2.0
 *
 * Permutations applied to tensors and flat vectors. */
#include "libcommon/permutation/permutation.h"

#include "libcommon/base/alloc.h"
#include "libcommon/graph/uses.h"
#include "libcommon/permutation/maps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mc_apply_release(struct mc_apply *m)
{
    free(m->copy);
    free(m->matrix);
    *m = (struct mc_apply){0};
}

int mc_perm_apply_use(const struct mc_perm *p, const struct mc_placed_use *u, size_t offset,
                      size_t size, void *tensor, struct mc_apply *m, struct mc_error *err)
{
    struct mc_unit_layout layout = u->layout;
    const int matrix = mc_perm_map(p, u->group) != NULL;
    const size_t n = matrix ? mc_units_map_scratch(&layout) : layout.k * layout.m;
    int rc = mc_buffer_room(&m->copy, &m->copy_bytes, n * size, err);

    layout.base -= offset;
    if (!rc && matrix)
        rc = mc_buffer_room(&m->matrix, &m->matrix_bytes, layout.k * layout.k * size, err);
    if (rc)
        return rc;
    if (matrix) {
        double *map = m->matrix;
        mc_perm_matrix(p, u->group, map);
        for (size_t i = 0; u->use->no_signs && i < layout.k * layout.k; i++)
            map[i] = fabs(map[i]);
        mc_units_map(&layout, map, tensor, m->copy);
    } else {
        mc_units_permute(&layout, p->perm[u->group], 0, size, tensor, m->copy);
    }
    return 0;
}

/* Permute two vectors of entries of 4 bytes; stats may be NULL. */
static int permute(const struct mc_perm *p, const struct mc_symmetry *s, const struct mc_graph *g,
                   void *params, void *stats, struct mc_error *err)
{
    struct mc_placed_use *uses = NULL;
    struct mc_apply memory = {0};
    size_t n = 0;
    int rc = mc_perm_check_groups(p, s, err);

    if (!rc)
        rc = mc_uses_in_order(s, g, &uses, &n, err);
    for (size_t i = 0; i < n && !rc; i++) {
        void *x = uses[i].use->is_stat ? stats : params;
        if (x)
            rc = mc_perm_apply_use(p, &uses[i], 0, sizeof(uint32_t), x, &memory, err);
    }
    mc_apply_release(&memory);
    free(uses);
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
    if (params_out != params_in)
        memcpy(params_out, params_in, g->P * sizeof *params_out);
    if (stats_in && stats_out != stats_in)
        memcpy(stats_out, stats_in, g->S * sizeof *stats_out);
    return permute(p, s, g, params_out, stats_in ? stats_out : NULL, err);
}

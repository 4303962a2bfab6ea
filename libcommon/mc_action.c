/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the matrices of permutation groups lie, and those of a permutation. */
#include "mc_action.h"

#include <string.h>

size_t mc_action_layout(const struct mc_symmetry *s, size_t *offset)
{
    size_t m = 0;

    for (size_t i = 0; i < s->n_groups; i++) {
        if (offset)
            offset[i] = m;
        m += (s->groups[i].size * s->groups[i].size + 15) / 16 * 16;
    }
    return m;
}

void mc_action_matrices(const struct mc_symmetry *s, const struct mc_perm *p, float *matrices)
{
    memset(matrices, 0, mc_action_layout(s, NULL) * sizeof *matrices);
    for (size_t g = 0; g < s->n_groups; g++) {
        const size_t k = s->groups[g].size;
        for (size_t i = 0; i < k; i++)
            matrices[i * k + (size_t)p->perm[g][i]] = 1;
        matrices += (k * k + 15) / 16 * 16;
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices streams: what an assignment maximises. formats/codecs/matrices.md is the specification.
 *
 * meta: measure ("correlation", "l2", ...), at ("post" or "pre"), groups: [{name, size, taps,
 * dead_a, dead_b}]. Tensors: one a group, under the group's name, float64 (K,K): rows are the first
 * network's units, columns the second's; greater is better. dead_a and dead_b list units of
 * (almost) no variance. Of groups that lie alike in the units of another, the one in unit 0 has the
 * matrix of all their units, and no other has one. */
#ifndef MC_MATRICES_H
#define MC_MATRICES_H

#include "formats/codecs/tensors.h"

struct mc_matrix_group {
    char name[MC_NAME_MAX];
    size_t size;         /* K */
    size_t within, unit; /* as in struct mc_group */
    size_t holds;        /* units of the groups in all its units, 0: none (mc_matrices_nest) */
    double *value;       /* (n,n), n of mc_matrix_order; NULL for 0 */
    size_t taps;         /* layers whose mean it is */
    int32_t *dead_a, *dead_b;
    size_t n_dead_a, n_dead_b;
};

struct mc_matrices {
    char measure[32], at[8];
    struct mc_matrix_group *groups;
    size_t n_groups;
};

/* Units that the matrix of group k is of: its own or, where it lies in unit 0 of another, those of
 * all groups like it, unit by unit; 0: of the others in units, and of what holds them. */
static inline size_t mc_matrix_order(const struct mc_matrices *m, size_t k)
{
    const struct mc_matrix_group *g = &m->groups[k];

    if (g->within)
        return g->unit ? 0 : g->size * m->groups[g->within - 1].size;
    return g->holds ? 0 : g->size;
}
/* Set `holds` from `within`; MC_EINPUT where groups do not lie alike in all units of one, or one
 * lies in a group that lies in another. */
MC_USE_RESULT int mc_matrices_nest(struct mc_matrices *m, struct mc_error *err);

/* After an error there is nothing to release. */
MC_USE_RESULT int mc_matrices_read(struct mc_matrices *out, struct mc_stream from,
                                   struct mc_history *h,
                                   struct mc_error *err); /* finite, or MC_EINPUT */
MC_USE_RESULT int mc_matrices_write(const struct mc_matrices *m, const char *path,
                                    const struct mc_history *h, struct mc_error *err);
void mc_matrices_release(struct mc_matrices *m);

#endif

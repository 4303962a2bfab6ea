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
#include "libcommon/graph/nesting.h"

struct mc_matrix {
    size_t n;      /* units it is of (mc_group_tap_units); 0: of groups that hold others too */
    double *value; /* (n,n); NULL for 0 */
    size_t taps;   /* layers whose mean it is */
    size_t holds;  /* units of the groups in all units of its group, 0: none */
    int32_t *dead_a, *dead_b;
    size_t n_dead_a, n_dead_b;
};

struct mc_matrices {
    char measure[32], at[8];
    struct mc_group *groups;
    struct mc_matrix *matrices; /* (n_groups) */
    size_t n_groups;
};

/* Room for the groups and their matrices; after an error too, release. */
MC_USE_RESULT int mc_matrices_alloc(struct mc_matrices *m, size_t n_groups, struct mc_error *err);
/* Set each matrix's n and holds from the groups. MC_EINPUT as mc_groups_check and
 * mc_groups_check_depth. */
MC_USE_RESULT int mc_matrices_nest(struct mc_matrices *m, struct mc_error *err);

/* After an error there is nothing to release. */
MC_USE_RESULT int mc_matrices_read(struct mc_matrices *out, struct mc_stream from,
                                   struct mc_history *h,
                                   struct mc_error *err); /* finite, or MC_EINPUT */
MC_USE_RESULT int mc_matrices_write(const struct mc_matrices *m, const char *path,
                                    const struct mc_history *h, struct mc_error *err);
void mc_matrices_release(struct mc_matrices *m);

#endif

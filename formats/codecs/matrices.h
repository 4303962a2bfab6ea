/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices streams: the matrices that an assignment maximises. formats/codecs/matrices.md is the
 * specification.
 *
 * meta: measure ("correlation", "l2", ...), at ("post" or "pre"), groups: [{name, size, taps,
 * dead_a, dead_b}]. Tensors: one per group under its name, float64 (K,K): rows are the first
 * network's units, columns the second's; larger is better. dead_a and dead_b list units with
 * (almost) no variance. If groups repeat in every unit of another group, the group in unit 0 has
 * the matrix of all their units, and the others have none. */
#ifndef MC_MATRICES_H
#define MC_MATRICES_H

#include "formats/codecs/tensors.h"
#include "libcommon/graph/nesting.h"

struct mc_matrix {
    size_t n;      /* its units (mc_group_tap_units); 0: a group that holds others */
    double *value; /* (n,n); NULL if n is 0 */
    size_t taps;   /* number of layers averaged */
    size_t holds;  /* units of the groups nested in this group, 0: none */
    int32_t *dead_a, *dead_b;
    size_t n_dead_a, n_dead_b;
};

struct mc_matrices {
    char measure[32], place[8];
    struct mc_group *groups;
    struct mc_matrix *matrices; /* (n_groups) */
    size_t n_groups;
};

/* Allocate the groups and their matrices. Release also after an error. */
MC_USE_RESULT int mc_matrices_alloc(struct mc_matrices *m, size_t n_groups, struct mc_error *err);
/* Set each matrix's n and holds from the groups. MC_EINPUT as mc_groups_check and
 * mc_groups_check_depth. */
MC_USE_RESULT int mc_matrices_nest(struct mc_matrices *m, struct mc_error *err);

/* Read and check: values must be finite (MC_EINPUT). After an error nothing needs release. */
MC_USE_RESULT int mc_matrices_read(struct mc_matrices *out, struct mc_stream from,
                                   struct mc_history *h, struct mc_error *err);
MC_USE_RESULT int mc_matrices_write(const struct mc_matrices *m, const char *path,
                                    const struct mc_history *h, struct mc_error *err);
void mc_matrices_release(struct mc_matrices *m);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices streams: what an assignment maximises. formats/codecs/matrices.md is the specification.
 *
 * meta: measure ("correlation", "l2", ...), at ("post" or "pre"), groups: [{name, size, taps,
 * dead_a, dead_b}]. Tensors: one a group, under the group's name, float64 (K,K): rows are the first
 * network's units, columns the second's; greater is better. dead_a and dead_b list units of
 * (almost) no variance. */
#ifndef MC_MATRICES_H
#define MC_MATRICES_H

#include "formats/stream/history.h"

struct mc_matrix_group {
    char name[MC_NAME_MAX];
    size_t size;   /* K */
    double *value; /* (K,K) */
    size_t taps;   /* layers whose mean it is */
    int32_t *dead_a, *dead_b;
    size_t n_dead_a, n_dead_b;
};

struct mc_matrices {
    char measure[32], at[8];
    struct mc_matrix_group *groups;
    size_t n_groups;
};

/* After an error there is nothing to release. */
MC_USE_RESULT int mc_matrices_read(struct mc_matrices *out, const char *path, struct mc_history *h,
                                   struct mc_error *err); /* finite, or MC_EINPUT */
/* From an open reader, which stays the caller's. */
MC_USE_RESULT int mc_matrices_read_stream(struct mc_matrices *out, struct mc_reader *r,
                                          struct mc_history *h, struct mc_error *err);
MC_USE_RESULT int mc_matrices_write(const struct mc_matrices *m, const char *path,
                                    const struct mc_history *h, struct mc_error *err);
void mc_matrices_release(struct mc_matrices *m);

#endif

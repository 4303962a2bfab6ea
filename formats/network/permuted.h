/* SPDX-License-Identifier: Apache-2.0
 *
 * A permutation applied to a network tensor by tensor: at most one tensor and its permuted copy are
 * in memory. A tensor that a matrix maps is computed in float64 and rounded once to its type. */
#ifndef MC_NETWORK_PERMUTED_H
#define MC_NETWORK_PERMUTED_H

#include "formats/network/values.h"
#include "libcommon/graph/uses.h"

struct mc_permuted {
    const struct mc_perm *perm;
    struct mc_placed_use *uses; /* in order: parameters, then statistics */
    size_t n;
    void *tensor, *wide; /* the largest tensor so far, and one in float64 */
    size_t tensor_bytes, wide_bytes;
    struct mc_apply memory;
};

/* Prepare a permutation that fits the groups s of the network g. All must live as long as p. Release
 * p also after an error. */
MC_USE_RESULT int mc_permuted_open(struct mc_permuted *p, const struct mc_perm *perm,
                                   const struct mc_symmetry *s, const struct mc_graph *g,
                                   struct mc_error *err);
/* Read tensor i of a weights stream and write it, permuted, as tensor `to`. */
MC_USE_RESULT int mc_permuted_copy(struct mc_permuted *p, struct mc_values *v, size_t i,
                                   struct mc_writer *w, size_t to, struct mc_error *err);
void mc_permuted_release(struct mc_permuted *p);

#endif

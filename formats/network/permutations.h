/* SPDX-License-Identifier: Apache-2.0
 *
 * Permutations read from their own streams or from curves, whose networks are not kept. */
#ifndef MC_NETWORK_PERMUTATIONS_H
#define MC_NETWORK_PERMUTATIONS_H

#include "formats/codecs/permutation.h"

/* Read a permutation stream, or the permutation in a curve stream (MC_EINPUT if it has none, for a
 * joint set, or if a group has a matrix and from.maps is 0). The history gives the content ids of
 * the networks it was computed for. If `of` is not NULL, the permutation must fit these groups of a
 * network (mc_perm_set_nesting). After an error nothing needs release. */
MC_USE_RESULT int mc_perm_read(struct mc_perm *out, struct mc_stream from,
                               const struct mc_symmetry *of, struct mc_history *h,
                               struct mc_error *err);

/* Read a joint set, or a set of 1 member: what mc_perm_read accepts, or a stream with matrices,
 * also if from.maps is 0. After an error nothing needs release. */
MC_USE_RESULT int mc_joint_perm_read(struct mc_joint_perm *out, struct mc_stream from,
                                     struct mc_history *h, struct mc_error *err);

#endif

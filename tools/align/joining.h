/* SPDX-License-Identifier: Apache-2.0
 *
 * A joint set from permutations that were computed one by one. */
#ifndef MC_JOINING_H
#define MC_JOINING_H

#include "formats/stream/history.h"
#include "libcommon/permutation/joint_permutation.h"

/* Read one member per file: a network keeps its order, and a permutation brings its second network
 * to the common order. If the first file is a network, a permutation of that network to another
 * one's order is inverted; then it is the other network's. MC_EINPUT: a permutation does not record
 * its networks or leads to the order of a network that another one moves, a network occurs twice,
 * or the groups differ. Release out also after an error. */
MC_USE_RESULT int mc_joint_perm_join(struct mc_joint_perm *out, const char *const *paths, size_t n,
                                     struct mc_history *h, struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Permutation streams. formats/codecs/permutation.md is the specification.
 *
 * meta: groups: [{name, size, value, bound, gap, ties}, ...] (all but name and size only where an
 * assignment found it), within and unit of a group in a unit of another. Tensors: one a group,
 * under the group's name, int32 (K): entry i is the unit of the second network that goes to place
 * i. */
#ifndef MC_PERMUTATION_H
#define MC_PERMUTATION_H

#include "formats/codecs/tensors.h"
#include "libcommon/assign/assign.h"
#include "libcommon/graph/permutation.h"

/* info: (n_groups), or NULL. */
MC_USE_RESULT int mc_perm_write(const struct mc_perm *p, const struct mc_assignment *info,
                                const char *path, const struct mc_history *h, struct mc_error *err);
/* Read a permutation stream, or the permutation in a curve stream (MC_EINPUT: it has none), and the
 * networks it is for, from the history. of: the groups of the network that it must fit
 * (mc_perm_fit), or NULL. After an error there is nothing to release. */
MC_USE_RESULT int mc_perm_read(struct mc_perm *out, struct mc_stream from,
                               const struct mc_symmetry *of, struct mc_history *h,
                               struct mc_error *err);

#endif

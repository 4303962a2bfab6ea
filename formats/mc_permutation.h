/* SPDX-License-Identifier: Apache-2.0
 *
 * Permutation streams. formats/permutation.md is the specification.
 *
 * meta: groups: [{name, size, value, bound, ties, dead_a, dead_b}, ...] (what found it may leave
 * out all but name and size). Tensors: one a group, under the group's name, int32 (K): entry i is
 * the unit of the second network that goes to place i. */
#ifndef MC_PERMUTATION_H
#define MC_PERMUTATION_H

#include "mc_assign.h"
#include "mc_stream.h"
#include "mc_symmetry.h"

/* info: (n_groups), or NULL. */
MC_USE_RESULT int mc_perm_write(const struct mc_perm *p, const struct mc_assignment *info,
                                const char *path, const struct mc_history *h, struct mc_error *err);
/* Checked to be permutations. id (MC_ID_LEN) may be NULL. */
MC_USE_RESULT int mc_perm_read(struct mc_perm *out, const char *path, struct mc_history *h,
                               char *id, struct mc_error *err);

#endif

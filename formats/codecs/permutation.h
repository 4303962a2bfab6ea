/* SPDX-License-Identifier: Apache-2.0
 *
 * Permutation streams. formats/codecs/permutation.md is the specification.
 *
 * meta: groups: [{name, size, ...}, ...], with value, bound, gap and ties if an assignment wrote
 * the stream, and within and unit if the group is nested in a unit of another. Tensors: one per
 * group under its name, int32 (K): entry i is the unit of the second network that moves to i.
 *
 * Version 2 holds a joint set. meta: also version, and members: the content ids of the networks.
 * Tensors: those of each member, named N/GROUP, N from 1.
 *
 * Version 3 has groups with a matrix: they have the key map, its kind, and a float32 (K,K). */
#ifndef MC_PERMUTATION_H
#define MC_PERMUTATION_H

#include "formats/codecs/tensors.h"
#include "libcommon/assign/assign.h"
#include "libcommon/permutation/joint_permutation.h"

#define MC_MAX_MEMBERS 1024

/* info: (n_groups), or NULL. */
MC_USE_RESULT int mc_perm_write(const struct mc_perm *p, const struct mc_assignment *info,
                                const char *path, const struct mc_history *h, struct mc_error *err);

/* A set of at least 2 members, whose ids differ. */
MC_USE_RESULT int mc_joint_perm_write(const struct mc_joint_perm *j, const char *path,
                                      const struct mc_history *h, struct mc_error *err);
/* Read an open permutation stream, which remains the caller's: a joint set, or a set of 1 member,
 * whose networks' ids are those of the history. After an error nothing needs release. */
MC_USE_RESULT int mc_joint_perm_read_stream(struct mc_joint_perm *out, struct mc_reader *r,
                                            struct mc_history *h, struct mc_error *err);

#endif

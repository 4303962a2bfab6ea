/* SPDX-License-Identifier: Apache-2.0
 *
 * Joint sets: one permutation per network of a set, all to one common order. */
#ifndef MC_JOINT_PERMUTATION_H
#define MC_JOINT_PERMUTATION_H

#include "libcommon/permutation/permutation.h"

/* Member i brings network i to the common order: entry c is the unit of that network at place c. So
 * the map from the units of network i to those of network j is P_j P_i^-1. All members have the
 * same groups. ids[1] of a member is its network's content id. If member 1 is the identity, its
 * network has the common order, and ids[0] of each member is that network's id. */
struct mc_joint_perm {
    size_t n_members; /* at least 2; 1: a single permutation, whose networks may be unknown */
    struct mc_perm *members;
};

/* Allocate members that are the identity of these groups. After an error there is nothing to
 * release. */
MC_USE_RESULT int mc_joint_perm_init(struct mc_joint_perm *j, size_t n_members,
                                     const struct mc_group *groups, size_t n_groups,
                                     struct mc_error *err);
void mc_joint_perm_release(struct mc_joint_perm *j);
/* Set the members' ids from their networks', (n_members). */
void mc_joint_perm_set_ids(struct mc_joint_perm *j, const char (*ids)[MC_ID_LEN]);
/* The index of the member with this content id, or n_members. */
size_t mc_joint_perm_find(const struct mc_joint_perm *j, const char *id);
/* Let q follow every member: the set gets another common order. MC_EINPUT as mc_perm_compose. */
MC_USE_RESULT int mc_joint_perm_follow(struct mc_joint_perm *j, const struct mc_perm *q,
                                       struct mc_error *err);
/* Set a set to another one of the same groups and size; without the ids. */
void mc_joint_perm_copy(struct mc_joint_perm *to, const struct mc_joint_perm *from);
/* Give the set the first network's order: member 1 becomes the identity. MC_ENOMEM. */
MC_USE_RESULT int mc_joint_perm_follow_first(struct mc_joint_perm *j, struct mc_error *err);
/* Set out (released by the caller) to the permutation of member `from` to the common order, or, if
 * `to` is not NULL, to the order of the network of member *to. */
MC_USE_RESULT int mc_joint_perm_get(struct mc_perm *out, const struct mc_joint_perm *j, size_t from,
                                    const size_t *to, struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Joint assignments for the matrices of all pairs of several networks. */
#ifndef MC_JOINT_MATCHING_H
#define MC_JOINT_MATCHING_H

#include "formats/codecs/matrices.h"
#include "libcommon/permutation/joint_search.h"

/* The matrices of one pair of networks. */
struct mc_joint_input {
    const char *path; /* borrowed */
    struct mc_matrices m;
    char ids[2][MC_ID_LEN];
};

/* The networks that are rows of more matrices come first, then those that appear first. So for
 * matrices of the pairs i < j of a list, the order of the files does not matter. The rows of every
 * pair are the network that comes first. */
struct mc_joint_set {
    size_t n_inputs, n_networks;
    struct mc_joint_input *inputs; /* (n_inputs) */
    char (*ids)[MC_ID_LEN];        /* (n_networks) */
    size_t *input_of;              /* (n_inputs) the input of each pair, by mc_joint_pair */
};

/* Read the matrices of every pair. MC_EINPUT: a file does not record its networks, has other
 * groups, another measure or other data than the first, repeats a pair, or has one network twice;
 * or a pair is missing. Release set also after an error. */
MC_USE_RESULT int mc_joint_set_read(struct mc_joint_set *set, const char *const *paths, size_t n,
                                    struct mc_history *h, struct mc_error *err);
void mc_joint_set_release(struct mc_joint_set *set);

struct mc_joint_opts {
    uint64_t starts, seed;
    const unsigned char *keep; /* (n_groups) 1 for groups that stay the identity */
    int threads;               /* groups matched in parallel, 0 for all cores */
};
/* Match all groups with mc_joint_max; groups nested in units follow their units. results:
 * (n_groups), those of nested and kept groups are 0. An error is that of the first failing group.
 * MC_EUSAGE: a group is kept, but not a group within its units, or the reverse. Release out also
 * after an error. */
MC_USE_RESULT int mc_joint_match(struct mc_joint_perm *out, struct mc_joint_result *results,
                                 const struct mc_joint_set *set, const struct mc_joint_opts *opts,
                                 struct mc_error *err);
/* The objective of a joint set of these networks (it may have more), group by group. results:
 * (n_groups); sets the values of groups that are not nested. file: the set's name for messages.
 * MC_EINPUT: it has other groups, or lacks a network. */
MC_USE_RESULT int mc_joint_score(struct mc_joint_result *results, const struct mc_joint_set *set,
                                 const struct mc_joint_perm *orders, const char *file,
                                 struct mc_error *err);

#endif

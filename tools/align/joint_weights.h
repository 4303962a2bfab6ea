/* SPDX-License-Identifier: Apache-2.0
 *
 * Joint alignment of several networks from weights alone. It seeks permutations P_i that maximise
 * the sum over pairs of the inner products of P_i a_i and P_j a_j. If all networks but one are
 * fixed, that is weight matching of this network to the sum of the others (as in MergeMany of
 * Ainsworth, Hayase and Srinivasa 2023, which matches to their mean). */
#ifndef MC_JOINT_WEIGHTS_H
#define MC_JOINT_WEIGHTS_H

#include "libcommon/permutation/joint_permutation.h"

struct mc_joint_pass {
    size_t reference; /* the network of this start, from 0 */
    size_t pass;      /* from 1 */
    size_t changed;   /* networks whose permutation changed */
    double objective; /* after the last pass, which changes nothing; else 0 */
};

struct mc_joint_weights_opts {
    uint64_t seed;             /* for the groups' order */
    const unsigned char *keep; /* (n_groups) 1 for groups that stay the identity */
    int threads;               /* 0: all cores; does not change the result */
    void (*passed)(void *arg, const struct mc_joint_pass *p);
    void *arg;
};

/* Starts from each network as reference, to which all others are matched. Then matches each network
 * to the sum of the others, group by group (mc_weight_match), until no network changes. Keeps the
 * best start. A match that does not raise the objective by more than the sums' rounding is undone.
 *
 * j: the identity of s's groups, a member per network; replaced by the result, whose first member
 * is the identity. params: (members), each (P). Returns 0, MC_ENOMEM or an error of mc_weight_match.
 * Memory: 2 P floats, and those of mc_weight_match. */
MC_USE_RESULT int mc_joint_weight_match(struct mc_joint_perm *j, double *objective,
                                        const struct mc_symmetry *s, const struct mc_graph *g,
                                        const float *const *params,
                                        const struct mc_joint_weights_opts *opts,
                                        struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Alignment from weights alone (Ainsworth, Hayase and Srinivasa 2023, "Git Re-Basin: Merging Models
 * modulo Permutation Symmetries", algorithm 1, weight matching): the permutation P for which the
 * inner product of the parameters of a and of P b is large, and so their distance small, by exact
 * assignments group by group.
 *
 * For each group in turn, in random order, the assignment that maximises the sum over the group's
 * uses of <a's, b's with the other groups permuted as they are now>; sweeps until none changes
 * anything. All parameters that a group permutes are uses, batch norm's weight and bias among
 * them; statistics are not. A step that would not raise the objective is not taken, so it never
 * falls (a group on both axes of one tensor could lower it). Where the units of a group hold groups
 * of their own, alike in all of its units (the heads of an attention and the channels of each
 * head), each pair of units is worth what it is worth after the best assignments inside. */
#ifndef MC_WEIGHT_MATCHING_H
#define MC_WEIGHT_MATCHING_H

#include "libcommon/assign/assign.h"
#include "libcommon/graph/permutation.h"

struct mc_weight_sweep {
    size_t sweep;     /* from 1; 0: before the first */
    size_t changed;   /* groups whose permutation changed */
    double objective; /* <a, P b> over all parameters */
    double distance;  /* |a - P b| */
};

struct mc_weight_match_opts {
    uint64_t seed; /* of the groups' order */
    int forward;   /* where p says nothing, the first sweep goes in the groups' order, and counts a
                    * use only where all other groups of its tensor have been matched (all where
                    * there is none), so that no group is matched to what is not aligned yet; if
                    * that lowers the objective, it is undone */
    int threads;   /* 0: all cores; the result is the same */
    void (*swept)(void *arg, const struct mc_weight_sweep *s);
    void *arg;
};

/* a, b: (P). p: the permutation to start from, of these groups, is replaced by the one that is
 * found. info (n_groups): of each group's last assignment, value is of the permutation that was
 * kept. MC_ENOMEM, what mc_assign_max fails with; p is a permutation after an error too. */
MC_USE_RESULT int mc_weight_match(struct mc_perm *p, struct mc_assignment *info,
                                  const struct mc_symmetry *s, const struct mc_graph *g,
                                  const float *a, const float *b,
                                  const struct mc_weight_match_opts *opts, struct mc_error *err);

#endif

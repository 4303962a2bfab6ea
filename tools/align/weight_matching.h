/* SPDX-License-Identifier: Apache-2.0
 *
 * Alignment from weights alone: weight matching, algorithm 1 of Ainsworth, Hayase and Srinivasa
 * 2023, "Git Re-Basin: Merging Models modulo Permutation Symmetries". It seeks the permutation P
 * that maximises the inner product of the parameters of a and P b, which minimises their distance,
 * by exact assignments group by group.
 *
 * Each step assigns the units of one group; their order is random. It maximises the sum over the
 * group's uses of the inner product of a's tensor with b's, whose other groups have their current
 * permutations. Sweeps repeat until no group changes. Uses are all parameters that a group
 * permutes, also batch norm's weight and bias, but not its statistics. A step that would not raise
 * the objective is undone, so the objective never falls (a group on both axes of one tensor could
 * lower it). If the units of a group contain groups (attention heads contain channels), the value
 * of a pair of units includes the best assignments inside. */
#ifndef MC_WEIGHT_MATCHING_H
#define MC_WEIGHT_MATCHING_H

#include "libcommon/assign/assign.h"
#include "libcommon/permutation/permutation.h"

struct mc_weight_sweep {
    size_t sweep;     /* from 1; 0 is the start */
    size_t changed;   /* groups whose permutation changed */
    double objective; /* <a, P b> over all parameters */
    double distance;  /* |a - P b| */
};

struct mc_weight_match_opts {
    uint64_t seed; /* for the groups' order */
    int forward;   /* for a p without information: first sweep in the groups' order; a use counts
                    * only if the other groups of its tensor are matched (all count if none
                    * qualifies), so no group is matched to unaligned units; undone if it lowers the
                    * objective */
    const unsigned char *keep; /* (n_groups) 1 for groups that keep their initial map */
    /* mc_weight_maps: NULL, or (n_groups) matrices of activations that decide the maps. The weights
     * decide only the directions that these say nothing about. */
    const double *const *data;
    int threads; /* 0: all cores; does not change the result */
    void (*swept)(void *arg, const struct mc_weight_sweep *s);
    void *arg;
};

/* Estimate of the bytes that matching networks of this graph needs in addition to the networks,
 * without groups inside units. threads: 0: all cores. */
double mc_weight_match_bytes(const struct mc_symmetry *s, const struct mc_graph *g, int threads);

/* a, b: (P). p: the initial permutation of these groups, replaced by the result. info (n_groups):
 * each group's last assignment; its value is that of the permutation in p. Returns 0, MC_ENOMEM or
 * an error of mc_assign_max; p is a valid permutation after an error too. */
MC_USE_RESULT int mc_weight_match(struct mc_perm *p, struct mc_assignment *info,
                                  const struct mc_symmetry *s, const struct mc_graph *g,
                                  const float *a, const float *b,
                                  const struct mc_weight_match_opts *opts, struct mc_error *err);

#endif

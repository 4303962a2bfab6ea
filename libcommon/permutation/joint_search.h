/* SPDX-License-Identifier: Apache-2.0
 *
 * Joint assignment: the units of several networks in one common order, which makes the maps between
 * all pairs consistent. With two networks it is the linear assignment; with three or more it is the
 * multidimensional assignment problem with decomposable values, which is NP-hard. The method is a
 * local search whose moves are exact assignments of some networks to the others (Karapetyan and
 * Gutin 2011, dimensionwise variation), from each network as hub (Bandelt, Crama and Spieksma 1994)
 * and from random orders. */
#ifndef MC_JOINT_SEARCH_H
#define MC_JOINT_SEARCH_H

#include "libcommon/permutation/joint_permutation.h"

#define MC_JOINT_MAX 16 /* networks: 2^15 - 1 bipartitions */

/* One group of K networks, or one group and those in its units: then an order moves whole units, and
 * channels within their unit. The objective is the sum over pairs i < j of networks, matrices, and
 * places c of value_ij[P_i[c]][P_j[c]], where P_k lists the channel of network k at each place of the
 * common order. */
struct mc_joint {
    size_t networks; /* K, from 2 to MC_JOINT_MAX */
    const struct mc_group
        *groups; /* (n_groups): the group, then those in its units, by unit and slot */
    size_t n_groups;
    const double *const
        *value;      /* (pairs,slots): over the taps of the slot's group, finite; pairs as
                                   mc_joint_pair; rows are of the first network. 1 slot if no groups
                                   are in the units */
    size_t starts;   /* random starts after the K references */
    uint64_t seed;   /* for the random starts (MC_RNG_JOINT) */
    uint32_t number; /* different for each group */
};

struct mc_joint_result {
    double value;                   /* the objective */
    double reference[MC_JOINT_MAX]; /* the objective if all are assigned to this network alone */
    /* The sum of the pairs' own optima. No common order is worth more, but usually none reaches it:
     * a relaxation, not a certificate. */
    double pairs;
};

/* Index of the pair i < j of K networks: (0,1), (0,2), ..., (1,2), ... */
static inline size_t mc_joint_pair(size_t K, size_t i, size_t j)
{
    return i * K - i * (i + 1) / 2 + j - i - 1;
}

/* Maximise the objective. orders: K members with the groups of `joint`, replaced by the result; the
 * first is the identity.
 *
 * The starts are the K references (each other network is assigned to that one) and random orders.
 * From a start, each network in turn is assigned to the sum of the others until none improves. At
 * the end of the best start, every bipartition of the networks is tried: an exact assignment moves
 * one side against the other, and the networks of a side keep their order among themselves. Both
 * repeat until nothing improves. So the result is a local maximum: no bipartition improves it. It
 * is never worse than a reference. For three networks and at most 5 units without channels it is
 * the maximum: every order of the second network is a start.
 *
 * Units with channels: mc_match_group (exact in two levels). Deterministic. One thread. Memory: one
 * matrix per slot, and that of mc_match_group. Returns 0, MC_EINPUT, MC_EFAIL or MC_ENOMEM as
 * mc_assign_max. */
MC_USE_RESULT int mc_joint_max(const struct mc_joint *joint, struct mc_joint_perm *orders,
                               struct mc_joint_result *result, struct mc_error *err);
/* Set *value to the objective of given orders. */
MC_USE_RESULT int mc_joint_value(const struct mc_joint *joint, const struct mc_joint_perm *orders,
                                 double *value, struct mc_error *err);

#endif

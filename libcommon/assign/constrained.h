/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear assignment with one constraint: the permutation of maximum value that is not worse than
 * the identity in a second matrix. Tatro et al. 2020, appendix C.3, match post-activations so that
 * the distance of the pre-activations does not grow; their theorem's proof needs this. */
#ifndef MC_CONSTRAINED_H
#define MC_CONSTRAINED_H

#include "libcommon/assign/assign.h"

struct mc_constrained {
    /* value: the sum of value[i][col[i]]. bound: no permutation that satisfies the constraint is
     * worth more. gap: bound - value. If multiplier is 0, the gap is that of the assignment.
     * Otherwise it includes the duality gap, and n_ties is 0 (not counted). A gap of 0 to rounding
     * proves optimality. */
    struct mc_assignment found;
    double multiplier; /* at the minimum bound; 0: the constraint costs nothing */
    double slack;      /* sum of (constraint[i][col[i]] - constraint[i][i]), at least 0 */
    double free_value, free_slack; /* value and slack of the unconstrained maximum */
};

/* Maximise the sum of value[i*n + col[i]] over permutations col for which the sum of constraint[i*n
 * + col[i]] is at least that of constraint[i*n + i]. Both are (n,n) row-major float64 and finite.
 * Greater is better, so negate distances. The identity satisfies the constraint, so a result always
 * exists. The deciding sums have twice the precision.
 *
 * The search is over the multiplier m >= 0 of the Lagrangian, value + m constraint. Each of its
 * maxima (mc_assign_max) is an upper bound of the constrained maximum, convex and piecewise linear
 * in m. At a breakpoint the best known permutations on both sides of the constraint have equal
 * worth (Handler and Zang 1980). The search moves between breakpoints until no other permutation is
 * worth more; this is the minimum bound.
 *
 * Then pairs of units are exchanged, at most 4 n times. Exchanges improve the best permutation that
 * satisfies the constraint, and repair the best one that violates it. A gap may remain: the linear
 * program's optimum can be greater than the value of any permutation.
 *
 * Deterministic. Memory: 12 n^2 bytes. One thread. col: n entries; info: may be NULL. Returns 0,
 * MC_EINPUT (not finite), MC_ENOMEM. */
MC_USE_RESULT int mc_assign_constrained(size_t n, const double *value, const double *constraint,
                                        int32_t *col, struct mc_constrained *info,
                                        struct mc_error *err);

#endif

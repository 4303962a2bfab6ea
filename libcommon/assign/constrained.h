/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear assignment under one constraint: the permutation of greatest value among those that are
 * not worse than the identity in a second matrix. Tatro et al. 2020, appendix C.3: post-activations
 * are matched so that the distance of the pre-activations does not grow, which is what the proof of
 * its theorem needs. */
#ifndef MC_CONSTRAINED_H
#define MC_CONSTRAINED_H

#include "libcommon/assign/assign.h"

struct mc_constrained {
    /* value: the sum of value[i][col[i]]; bound: no permutation that satisfies the constraint is
     * worth more; gap: bound - value, of the assignment itself where multiplier is 0, else with the
     * duality gap, so that 0 to rounding proves optimality; n_ties is not counted (0) there. */
    struct mc_assignment found;
    double multiplier; /* of the constraint where the bound was found; 0: it costs nothing */
    double slack;      /* sum of (constraint[i][col[i]] - constraint[i][i]), never below 0 */
    double free_value, free_slack; /* of the permutation of greatest value without it */
};

/* Maximise the sum of value[i*n + col[i]] over permutations col for which the sum of
 * constraint[i*n + col[i]] is at least that of constraint[i*n + i]. Both (n,n) row-major float64,
 * finite, greater is better (a distance has a minus). The identity satisfies the constraint, so
 * there is always a result; the sums that decide it are taken in twice the precision.
 *
 * The search is over the multiplier m >= 0 of the Lagrangian, value + m constraint, each of whose
 * maxima (mc_assign_max) gives an upper bound of the constrained maximum: convex and piecewise
 * linear in m. It goes from breakpoint to breakpoint, where the best permutation known on either
 * side of the constraint are worth the same (Handler and Zang 1980), and ends where no other one is
 * worth more: the least bound. Then units are exchanged two by two, from the best permutation met
 * that satisfies the constraint while it gets better, and from the one on the other side until it
 * satisfies it, at most 4 n times. What remains is the gap: a linear programme's optimum may be
 * worth more than any permutation that is allowed.
 *
 * Deterministic. Memory: 12 n^2 bytes. One thread. col: n entries; info: may be NULL. Returns 0,
 * MC_EINPUT (not finite), MC_ENOMEM. */
MC_USE_RESULT int mc_assign_constrained(size_t n, const double *value, const double *constraint,
                                        int32_t *col, struct mc_constrained *info,
                                        struct mc_error *err);

#endif

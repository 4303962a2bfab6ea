/* SPDX-License-Identifier: Apache-2.0
 *
 * Doubly stochastic matrices, the convex hull of the permutations: projection to one, and
 * decomposition into permutations. Tatro et al. 2020, section 3 and appendix "Details on Solving
 * the Permutation Subproblem in PAM". All matrices are (n,n) row-major float64, n >= 1. */
#ifndef MC_DOUBLY_STOCHASTIC_H
#define MC_DOUBLY_STOCHASTIC_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct mc_doubly_stochastic {
    size_t sweeps;   /* number of sweeps done */
    double residual; /* maximum |row sum - 1| or |column sum - 1| of the result */
};

/* Project p by alternating projections, in place. A sweep is max(0, .), then the orthogonal
 * projection towards row and column sums of 1,
 *     P <- P - (P1 - 1) 1^T / n - 1 (1^T P - 1^T) / n + (1^T P 1 - n) 1 1^T / n^2.
 * A final max(0, .) makes all entries nonnegative. It ends after `sweeps` sweeps, or earlier if the
 * residual after this max(0, .) is at most `tolerance`. With tolerance 0 it skips only sweeps that
 * would change nothing.
 *
 * The limit is doubly stochastic; convergence is linear. It is not the matrix nearest to p, which
 * would require Dykstra's correction. info has the residual of the row and column sums.
 *
 * Deterministic: the same bits on every instruction set. Memory: 24 n bytes. A sweep is one pass
 * over the matrix. info: may be NULL. Returns 0; MC_ENOMEM or the error of mc_isa (p unchanged);
 * MC_EINPUT if a sum is not finite (p is then undefined). */
MC_USE_RESULT int mc_doubly_stochastic_project(size_t n, double *p, size_t sweeps, double tolerance,
                                               struct mc_doubly_stochastic *info,
                                               struct mc_error *err);

/* The sum over k of alpha[k] P_k; P_k has a 1 at (i, perm[k*n + i]) in each row i. All zero: no
 * terms. */
struct mc_birkhoff {
    size_t n, n_terms;
    double *alpha; /* (n_terms) positive; sum to the decomposed share of 1 */
    int32_t *perm; /* (n_terms,n) column of each row */
};

/* Greedy Birkhoff-von Neumann decomposition of d. Repeatedly find the perfect matching of maximum
 * sum on the remaining entries (mc_assign_max) and subtract its matrix times its smallest entry.
 * The terms are in this order. An entry remains while it is positive and at least `drop`. The
 * decomposition ends when no perfect matching is left.
 *
 * With drop 0, a doubly stochastic matrix is decomposed entirely, up to rounding or some multiple
 * of its residual. Each term removes an entry, so there are at most as many terms as positive
 * entries.
 *
 * The first term equals mc_assign_max of d only if that matching has positive entries. A matching
 * through a 0 can be worth more than any without.
 *
 * Sums of matchings are compared to within n 2^-46 times the sum of the rows' maxima. b is
 * overwritten; release it with mc_birkhoff_release, also after an error. Memory: 12 n^2 bytes plus
 * the terms. Returns 0, MC_EINPUT (not finite), MC_ENOMEM. */
MC_USE_RESULT int mc_birkhoff_decompose(struct mc_birkhoff *b, size_t n, const double *d,
                                        double drop, struct mc_error *err);
/* Keep the n_terms terms of maximum alpha (0: all), heaviest first, ties in their old order.
 * Returns 0, or MC_ENOMEM (b unchanged). */
MC_USE_RESULT int mc_birkhoff_heaviest(struct mc_birkhoff *b, size_t n_terms, struct mc_error *err);
void mc_birkhoff_release(struct mc_birkhoff *b);

/* The index of a term for u in [0,1): for uniform u, term k has probability alpha[k] / sum of
 * alpha. b has at least one term. */
size_t mc_birkhoff_draw(const struct mc_birkhoff *b, double u);

#endif

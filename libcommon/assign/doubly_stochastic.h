/* SPDX-License-Identifier: Apache-2.0
 *
 * Doubly stochastic matrices, the convex hull of the permutations: the way to them from any matrix,
 * and from one of them back to permutations. Tatro et al. 2020, section 3 and appendix "Details on
 * Solving the Permutation Subproblem in PAM". All matrices are (n,n) row-major float64, n >= 1. */
#ifndef MC_DOUBLY_STOCHASTIC_H
#define MC_DOUBLY_STOCHASTIC_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct mc_doubly_stochastic {
    size_t sweeps;   /* taken */
    double residual; /* of the result: the greatest |row sum - 1| or |column sum - 1| */
};

/* Alternating projections of p, in place: a sweep is max(0, .) and then the orthogonal projection
 * towards row and column sums of 1,
 *     P <- P - (P1 - 1) 1^T / n - 1 (1^T P - 1^T) / n + (1^T P 1 - n) 1 1^T / n^2,
 * and after the last sweep comes another max(0, .), so that nothing is negative. Ends when the
 * residual after such a closing max(0, .) is `tolerance` or less, or after `sweeps` of them. A
 * tolerance of 0 takes them all, but for those that would change nothing.
 *
 * What it converges to is a doubly stochastic matrix, linearly, and not the one nearest to p: that
 * would take Dykstra's correction. After a few sweeps the rows and columns are still off by what
 * info says.
 *
 * Deterministic: the same bits on every instruction set. Memory: 24 n bytes. A sweep is one pass
 * over the matrix. info: may be NULL. Returns 0; MC_ENOMEM or what mc_isa fails with (p
 * untouched); MC_EINPUT where a sum is not finite (p spoilt). */
MC_USE_RESULT int mc_doubly_stochastic_project(size_t n, double *p, size_t sweeps, double tolerance,
                                               struct mc_doubly_stochastic *info,
                                               struct mc_error *err);

/* sum over k of alpha[k] P_k, P_k the matrix with a 1 at (i, perm[k*n + i]) in each row i. Zeroed:
 * no terms. */
struct mc_birkhoff {
    size_t n, n_terms;
    double *alpha; /* (n_terms) positive; their sum is what was decomposed of 1 */
    int32_t *perm; /* (n_terms,n) column of each row */
};

/* Greedy Birkhoff-von Neumann decomposition of d. Again and again, of all perfect matchings on the
 * entries that are left the one of greatest sum (mc_assign_max), times its smallest entry, is taken
 * away; the terms come in this order. An entry counts as long as what is left of it is positive and
 * not under `drop`. Ends when there is no perfect matching.
 *
 * With drop 0, all of a doubly stochastic matrix is decomposed but for rounding, or for
 * some multiple of its residual. Each term clears an entry for good, so there are never more terms
 * than positive entries.
 *
 * The first term is what mc_assign_max says of d only where that is on positive entries: a matching
 * through a 0 can be worth more than any that has none.
 *
 * Sums of matchings are compared to within n 2^-46 times the sum of the rows' greatest entries.
 * b: overwritten, release it with mc_birkhoff_release, also after an error. Memory: 12 n^2 bytes
 * beside the terms. Returns 0, MC_EINPUT (not finite), MC_ENOMEM. */
MC_USE_RESULT int mc_birkhoff_decompose(struct mc_birkhoff *b, size_t n, const double *d,
                                        double drop, struct mc_error *err);
/* Keeps the `most` terms of greatest alpha (0: all), heaviest first; of equal ones the earlier
 * first. Returns 0, or MC_ENOMEM (b untouched). */
MC_USE_RESULT int mc_birkhoff_heaviest(struct mc_birkhoff *b, size_t most, struct mc_error *err);
void mc_birkhoff_release(struct mc_birkhoff *b);

/* Of b's terms (at least one) the one that u in [0,1) falls to: k for a share alpha[k] / sum of
 * alpha of them. */
size_t mc_birkhoff_draw(const struct mc_birkhoff *b, double u);

#endif

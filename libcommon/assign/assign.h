/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear assignment: the exact permutation of maximum total value, with a certificate. */
#ifndef MC_ASSIGN_H
#define MC_ASSIGN_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct mc_assignment {
    double value; /* sum of value[i][col[i]], in float64 */
    double bound; /* the dual bound of the float64 matrix: no assignment has a greater value */
    double gap;   /* bound - value >= 0; 0 to rounding proves optimality */
    /* Number of rows that another assignment of equal value matches differently. Entries count as
     * equal within 2^-46 of the maximum range of a row (of the duals, if solved in floating
     * point). */
    size_t n_ties;
    int kept; /* not an assignment: the group was not chosen and stays. The rest is 0. */
};

/* Maximise the sum of value[i*n + col[i]] over permutations col. value: (n,n) row-major float64,
 * finite. The algorithm is Jonker and Volgenant 1987: column reduction, augmenting row reduction
 * twice, shortest augmenting paths.
 *
 * Costs are fixed-point. For n > 64, int32 vector scans run on 26 bits of the maximum range of a
 * row. The duals and the assignment are then repaired on 50 bits in float64, so the result is
 * optimal for the float64 matrix to rounding. The gap is below n * 2^-48 of that range, or of the
 * values if these are more than 16 times as large.
 *
 * Costs that span more are solved in floating point. Subtract the minimum of each row and column; u
 * is the median of the costs that are not 0. Each matched pair is within 1e-9 u of tight
 * (libcommon/assign/wide.c).
 *
 * Deterministic: ties go to the lowest index, and the search is exact, so every instruction set
 * returns the same permutation. A constant matrix returns the identity. Memory: 4 n^2 bytes. One
 * thread; no shared state. col: n entries; info: may be NULL. Returns 0, MC_EINPUT (not finite),
 * MC_EFAIL (not proven: the values span too many orders of magnitude), MC_ENOMEM, or the error of
 * mc_isa. */
MC_USE_RESULT int mc_assign_max(size_t n, const double *value, int32_t *col,
                                struct mc_assignment *info, struct mc_error *err);

#endif

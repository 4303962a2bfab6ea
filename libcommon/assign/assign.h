/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear assignment: the permutation of greatest total value, exactly, with its certificate. */
#ifndef MC_ASSIGN_H
#define MC_ASSIGN_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct mc_assignment {
    double value; /* sum of value[i][col[i]], in float64 */
    double
        bound;  /* no assignment is worth more: the dual's bound, summed from the float64 matrix */
    double gap; /* bound - value >= 0; 0 to rounding proves optimality */
    size_t n_ties; /* rows that another assignment of the same value (to rounding: within 2^-46 of
                    * the greatest range of a row an entry; in floating point, of the duals)
                    * matches otherwise */
};

/* Maximise the sum of value[i*n + col[i]] over permutations col. value: (n,n) row-major float64,
 * finite. Jonker and Volgenant 1987 (column reduction, augmenting row reduction twice, shortest
 * augmenting paths) on costs in fixed point: 26 bits of the greatest range of a row in int32 vector
 * scans for n > 64, then duals and assignment mended on 50 bits in float64, so that the result is
 * optimal for the float64 matrix to rounding: the gap stays under n * 2^-48 of that range, or of
 * the values themselves where these are more than 16 times as large. Costs that span more than this
 * are solved in floating point: let u be the median of the costs (less the rows' and columns'
 * least) that are not 0; then each matched pair is within 1e-9 u of tight
 * (libcommon/assign/wide.h).
 *
 * Deterministic: ties go to the lowest index, and all arithmetic of the search is exact, so that
 * every instruction set gives the same permutation. A constant matrix gives the identity.
 * Memory: 4 n^2 bytes. One thread; no shared state. col: n entries; info: may be NULL. Returns 0,
 * MC_EINPUT (not finite), MC_EFAIL (no assignment is proven: the values span too much), MC_ENOMEM,
 * what mc_isa fails with. */
MC_USE_RESULT int mc_assign_max(size_t n, const double *value, int32_t *col,
                                struct mc_assignment *info, struct mc_error *err);

#endif

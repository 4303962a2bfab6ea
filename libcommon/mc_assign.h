/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear assignment: the permutation of greatest total value, exactly, with its certificate. */
#ifndef MC_ASSIGN_H
#define MC_ASSIGN_H

#include "mc_error.h"

#include <stddef.h>
#include <stdint.h>

struct mc_assignment {
    double value;  /* sum of value[i][col[i]], in float64 */
    double bound;  /* the dual's upper bound of every assignment's value, verified in float64 */
    double gap;    /* bound - value >= 0 up to rounding; 0 to rounding proves optimality */
    size_t n_ties; /* rows of whose optimal partner another optimal choice may exist: off-diagonal
                    * entries of reduced cost 0 (to rounding), counted once a row */
};

/* Maximise the sum of value[i*n + col[i]] over permutations col. value: (n,n) row-major float64,
 * finite. Jonker and Volgenant 1987: column reduction, augmenting row reduction twice, shortest
 * augmenting paths; float32 vector scans for larger n, duals repaired and verified in float64, so
 * that the result is optimal for the float64 matrix to rounding. Deterministic: ties go to the
 * lowest index, on every instruction set. col: n entries. Returns 0, MC_EINPUT (not finite),
 * MC_ENOMEM. */
MC_USE_RESULT int mc_assign_max(size_t n, const double *value, int32_t *col,
                                struct mc_assignment *info, struct mc_error *err);

#endif

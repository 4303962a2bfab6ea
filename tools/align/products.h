/* SPDX-License-Identifier: Apache-2.0
 *
 * Inner products of the units of two networks' tensors: float32 sums of at most 256 values, added
 * in float64. Each sum runs in one fixed order, so the bits are the same for every thread count and
 * instruction set. */
#ifndef MC_PRODUCTS_H
#define MC_PRODUCTS_H

#include "libcommon/graph/uses.h"

/* Number of values per unit in a use. */
static inline size_t mc_unit_values(const struct mc_unit_blocks *at)
{
    return at->blocks * at->m;
}

/* Write values [q, q + n) of each unit of the flat vector x to out (n,K). */
void mc_units_pack(const struct mc_unit_blocks *at, const float *x, size_t q, size_t n, float *out);
/* value[i*K + j] += sum over q of x[q*K + i] y[q*K + j], in the order of q. x, y: (n,K). */
MC_USE_RESULT int mc_products_add(size_t K, size_t n, const float *x, const float *y, double *value,
                                  int threads, struct mc_error *err);
/* The same for all values of a use in the flat vectors a and b. Returns 0, MC_ENOMEM or an error of
 * mc_isa. */
MC_USE_RESULT int mc_products_of_use(const struct mc_unit_blocks *at, const float *a,
                                     const float *b, double *value, int threads,
                                     struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Inner products of the units of two networks' tensors in float64, each a sum in one fixed order:
 * the same bits on any number of threads and every instruction set. */
#ifndef MC_PRODUCTS_H
#define MC_PRODUCTS_H

#include "libcommon/graph/uses.h"

/* Values that a unit has in a use. */
static inline size_t mc_unit_values(const struct mc_unit_blocks *at)
{
    return at->blocks * at->m;
}

/* out (n,K): values [q, q + n) of each unit of the flat vector x. */
void mc_units_pack(const struct mc_unit_blocks *at, const float *x, size_t q, size_t n,
                   double *out);
/* value[i*K + j] += the sum over q of x[q*K + i] y[q*K + j], in the order of q. x, y: (n,K). */
MC_USE_RESULT int mc_products_add(size_t K, size_t n, const double *x, const double *y,
                                  double *value, int threads, struct mc_error *err);
/* The same of all values of a use in the flat vectors a and b. MC_ENOMEM; what mc_isa fails
 * with. */
MC_USE_RESULT int mc_products_of_use(const struct mc_unit_blocks *at, const float *a,
                                     const float *b, double *value, int threads,
                                     struct mc_error *err);

#endif

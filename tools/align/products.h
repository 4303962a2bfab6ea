/* SPDX-License-Identifier: Apache-2.0
 *
 * Inner products of the units of two networks' tensors: float32 sums of at most 256 values, added in
 * float64. Each sum runs in one fixed order, so the bits are the same for every thread count. They
 * are the same in all instruction sets with fused multiply-adds; without, within 256 * 2^-24 of the
 * sum of the absolute values. */
#ifndef MC_PRODUCTS_H
#define MC_PRODUCTS_H

#include "libcommon/graph/uses.h"

/* Threads, and memory that grows as required. Start with no memory, and free `slab`. */
struct mc_products {
    int threads;
    void *slab;
    size_t size; /* bytes */
};

/* Number of values per unit in a use. */
static inline size_t mc_unit_values(const struct mc_unit_layout *layout)
{
    return layout->slices * layout->m;
}

/* Bytes that mc_products_of needs for this use. */
size_t mc_products_bytes(const struct mc_unit_layout *layout, int threads);

/* Other work that one thread does first, while the others multiply. It runs inside a parallel region,
 * so it has only this thread. It must not write the products' arguments. */
struct mc_meanwhile {
    void (*work)(void *arg);
    void *arg;
};

/* Sets value[i*k + j] to the inner product of unit i of a use in x and unit j of the same use in y,
 * which are flat vectors. Adds it if `adds` is set. The use has at least one value per unit.
 * meanwhile: may be NULL; its work is done once if no error is returned. Returns 0, MC_ENOMEM or an
 * error of mc_isa. */
MC_USE_RESULT int mc_products_of(struct mc_products *p, const struct mc_unit_layout *layout,
                                 const float *x, const float *y, int adds, double *value,
                                 const struct mc_meanwhile *meanwhile, struct mc_error *err);

#endif

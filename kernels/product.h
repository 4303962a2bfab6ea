/* SPDX-License-Identifier: Apache-2.0
 *
 * The description of a matrix product; cpu_gemm and cuda_gemm compute it. */
#ifndef MC_PRODUCT_H
#define MC_PRODUCT_H

#include <stddef.h>

/* A factor of a product: a matrix in memory, `ld` numbers from row to row, or its transpose. */
struct mc_factor {
    const void *x;
    size_t ld;
    int transposed;
};
/* c (m,n) = a (m,k) b (k,n) + beta c */
struct mc_product {
    struct {
        size_t m, n, k;
    } size;
    struct mc_factor a, b;
    struct {
        void *x;
        size_t ld;
    } c;
    float beta;
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/products.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/isa.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 16, RUN = 256 }; /* units of a panel; values that are summed in float32 */

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef double wide __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

void mc_units_pack(const struct mc_unit_blocks *at, const float *x, size_t q, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++, q++) {
        const float *from = x + at->base + q / at->m * at->stride + q % at->m;
        for (size_t k = 0; k < at->k; k++)
            out[i * at->k + k] = from[k * at->m];
    }
}

/* Copy n values of K units, (n,K), to panels of LANES units, each (n,LANES). Lanes after K are 0. */
static void to_panels(size_t K, size_t n, const float *x, float *panels)
{
    for (size_t k = 0; k < K; k += LANES, panels += n * LANES)
        for (size_t q = 0; q < n; q++)
            for (size_t l = 0; l < LANES; l++)
                panels[q * LANES + l] = k + l < K ? x[q * K + k + l] : 0;
}

/* Products of `rows` units of panel x with the units of panel y, added to rows of `value`. There is
 * no fused multiply-add, so that every instruction set rounds alike. */
static inline __attribute__((always_inline)) void tile(int rows, size_t K, size_t n, size_t height,
                                                       size_t width, const float *x, const vec *y,
                                                       double *value)
{
    vec sum[LANES];

#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
        sum[i] = (vec){0};
    for (size_t q = 0; q < n; q++, x += LANES)
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
            sum[i] += x[i] * y[q];
#pragma GCC unroll 16
    for (size_t i = 0; i < (size_t)rows; i++, value += K)
        if (i >= height)
            return;
        else if (width == LANES)
            *(wide *)value += __builtin_convertvector(sum[i], wide);
        else
            for (size_t j = 0; j < width; j++)
                value[j] += (double)sum[i][j];
}

/* Products of panel x (height units) with all panels y. */
static inline __attribute__((always_inline)) void row_of_tiles(int rows, size_t K, size_t n,
                                                               size_t height, const float *x,
                                                               const float *y, double *value)
{
    for (size_t j = 0; j < K; j += LANES)
        for (size_t i = 0; i < height; i += (size_t)rows)
            tile(rows, K, n, height - i, K - j < LANES ? K - j : LANES, x + i,
                 (const vec *)(const void *)(y + j * n), value + i * K + j);
}

typedef void row_fn(size_t K, size_t n, size_t height, const float *x, const float *y,
                    double *value);

static void portable_row(size_t K, size_t n, size_t height, const float *x, const float *y,
                         double *value)
{
    row_of_tiles(4, K, n, height, x, y, value);
}

#ifdef __x86_64__
static __attribute__((target("avx2"))) void avx2_row(size_t K, size_t n, size_t height,
                                                     const float *x, const float *y, double *value)
{
    row_of_tiles(4, K, n, height, x, y, value);
}

static __attribute__((target("avx512f,prefer-vector-width=512"))) void
avx512_row(size_t K, size_t n, size_t height, const float *x, const float *y, double *value)
{
    row_of_tiles(8, K, n, height, x, y, value);
}
#endif

int mc_products_add(size_t K, size_t n, const float *x, const float *y, double *value, int threads,
                    struct mc_error *err)
{
    const size_t run = n < RUN ? n : RUN, padded = (K + LANES - 1) / LANES * LANES;
    row_fn *row = portable_row;
    float *a = NULL;
    enum mc_isa isa;
    int rc = mc_isa(&isa, err);

    if (rc)
        return rc;
    if (!(a = aligned_alloc(sizeof(vec), (2 * padded * run + LANES) * sizeof *a)))
        return mc_no_memory(err);
#ifdef __x86_64__
    row = isa >= MC_ISA_AVX512 ? avx512_row : isa >= MC_ISA_AVX2 ? avx2_row : row;
#endif
    for (size_t q = 0; q < n; q += RUN) {
        const size_t now = n - q < RUN ? n - q : RUN;
        float *b = a + padded * now;
        to_panels(K, now, x + q * K, a);
        to_panels(K, now, y + q * K, b);
#pragma omp parallel for schedule(dynamic, 1)                                                      \
    num_threads(threads) if (threads > 1 && K * K * now > 1 << 16)
        for (size_t i = 0; i < K; i += LANES)
            row(K, now, K - i < LANES ? K - i : LANES, a + i * now, b, value + i * K);
    }
    free(a);
    return 0;
}

int mc_products_of_use(const struct mc_unit_blocks *at, const float *a, const float *b,
                       double *value, int threads, struct mc_error *err)
{
    const size_t all = mc_unit_values(at), step = all < RUN ? all : RUN;
    float *x = NULL, *y = NULL;
    int rc = 0;

    if ((rc = mc_new(&x, step * at->k, err)) || (rc = mc_new(&y, step * at->k, err)))
        goto out;
    for (size_t q = 0; q < all && !rc; q += step) {
        const size_t n = all - q < step ? all - q : step;
        mc_units_pack(at, a, q, n, x);
        mc_units_pack(at, b, q, n, y);
        rc = mc_products_add(at->k, n, x, y, value, threads, err);
    }
out:
    free(x);
    free(y);
    return rc;
}

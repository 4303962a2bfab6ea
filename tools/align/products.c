/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/products.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/isa.h"

#include <stdlib.h>
#include <string.h>

#define PANEL ((size_t)1 << 18) /* values per panel: 2 MiB */

enum { ROWS = 4, COLS = 8 };
typedef double vec __attribute__((vector_size(32)));
typedef double loose __attribute__((vector_size(32), aligned(8), may_alias));

void mc_units_pack(const struct mc_unit_blocks *at, const float *x, size_t q, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++, q++) {
        const float *from = x + at->base + q / at->m * at->stride + q % at->m;
        for (size_t k = 0; k < at->k; k++)
            out[i * at->k + k] = (double)from[k * at->m];
    }
}

/* No fused multiply-add, so that every instruction set rounds alike. */
static inline __attribute__((always_inline)) void tile(size_t K, size_t n, const double *x,
                                                       const double *y, double *value)
{
    vec sum[ROWS][2];

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 2; j++)
            sum[i][j] = *(const loose *)(value + (size_t)i * K + 4 * j);
    for (size_t q = 0; q < n; q++, x += K, y += K) {
        const vec y0 = *(const loose *)y, y1 = *(const loose *)(y + 4);
        for (int i = 0; i < ROWS; i++) {
            sum[i][0] += x[i] * y0;
            sum[i][1] += x[i] * y1;
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 2; j++)
            *(loose *)(value + (size_t)i * K + 4 * j) = sum[i][j];
}

typedef void tile_fn(size_t K, size_t n, const double *x, const double *y, double *value);

static void portable_tile(size_t K, size_t n, const double *x, const double *y, double *value)
{
    tile(K, n, x, y, value);
}

#ifdef __x86_64__
static __attribute__((target("avx2"))) void avx2_tile(size_t K, size_t n, const double *x,
                                                      const double *y, double *value)
{
    tile(K, n, x, y, value);
}
#endif

static void edge(size_t K, size_t n, size_t rows, size_t cols, const double *x, const double *y,
                 double *value)
{
    for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++)
                value[i * K + j] += x[q * K + i] * y[q * K + j];
}

static void row_of_tiles(tile_fn *full, size_t K, size_t n, size_t i, const double *x,
                         const double *y, double *value)
{
    const size_t rows = K - i < ROWS ? K - i : ROWS;

    for (size_t j = 0; j < K; j += COLS) {
        const size_t cols = K - j < COLS ? K - j : COLS;
        if (rows == ROWS && cols == COLS)
            full(K, n, x + i, y + j, value + i * K + j);
        else
            edge(K, n, rows, cols, x + i, y + j, value + i * K + j);
    }
}

int mc_products_add(size_t K, size_t n, const double *x, const double *y, double *value,
                    int threads, struct mc_error *err)
{
    tile_fn *full = portable_tile;
    enum mc_isa isa;
    int rc = mc_isa(&isa, err);

    if (rc)
        return rc;
#ifdef __x86_64__
    if (isa >= MC_ISA_AVX2)
        full = avx2_tile;
#endif
#pragma omp parallel for schedule(dynamic, 1)                                                      \
    num_threads(threads) if (threads > 1 && K * K * n > 1 << 16)
    for (size_t i = 0; i < K; i += ROWS)
        row_of_tiles(full, K, n, i, x, y, value);
    return 0;
}

int mc_products_of_use(const struct mc_unit_blocks *at, const float *a, const float *b,
                       double *value, int threads, struct mc_error *err)
{
    const size_t all = mc_unit_values(at);
    const size_t panel = PANEL / at->k < 64 ? 64 : PANEL / at->k, step = panel < all ? panel : all;
    double *x = NULL, *y = NULL;
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

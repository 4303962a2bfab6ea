/* SPDX-License-Identifier: Apache-2.0
 *
 * A small matrix product X^T Y in float64 over blocks of pixels, packed into panels so that the
 * inner loop holds its sums in registers. */
#include "mc_count.h"

#include "backend.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 256 /* pixels: a pair of panels stays in the first cache */
#define ROWS 8    /* units of a in a tile */
#define COLS 8    /* units of b in a tile: one vector of doubles */

typedef double vec __attribute__((vector_size(8 * COLS)));

/* cross (ROWS, COLS) += sum over pixels of a (pixels, ROWS) outer b (pixels, COLS). A fused
 * multiply-add gives the same bits as two operations here, because the product is exact. */
static inline __attribute__((always_inline)) void tile_body(size_t pixels, const double *a,
                                                            const double *b, double *cross)
{
    vec s[ROWS], y;

    memset(s, 0, sizeof s);
    for (size_t p = 0; p < pixels; p++, a += ROWS, b += COLS) {
        memcpy(&y, b, sizeof y);
        for (int r = 0; r < ROWS; r++)
            s[r] += a[r] * y;
    }
    for (int r = 0; r < ROWS; r++) {
        memcpy(&y, cross + r * COLS, sizeof y);
        y += s[r];
        memcpy(cross + r * COLS, &y, sizeof y);
    }
}

static void tile_portable(size_t pixels, const double *a, const double *b, double *cross)
{
    tile_body(pixels, a, b, cross);
}

typedef void tile_fn(size_t pixels, const double *a, const double *b, double *cross);

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void tile_avx2(size_t pixels, const double *a,
                                                      const double *b, double *cross)
{
    tile_body(pixels, a, b, cross);
}

__attribute__((target("avx512f"))) static void tile_avx512(size_t pixels, const double *a,
                                                           const double *b, double *cross)
{
    tile_body(pixels, a, b, cross);
}

static tile_fn *choose_tile(void)
{
    if (__builtin_cpu_supports("avx512f"))
        return tile_avx512;
    return __builtin_cpu_supports("avx2") ? tile_avx2 : tile_portable;
}
#else
static tile_fn *choose_tile(void)
{
    return tile_portable;
}
#endif

/* Units [first, first + width) of `pixels` pixels that begin at pixel `from` of the batch, to
 * (pixels, width) with zeros beyond K; and their sums. */
static void pack(size_t K, size_t hw, const float *x, size_t from, size_t pixels, size_t first,
                 size_t width, double *to, double *sum, double *sumsq)
{
    for (size_t u = 0; u < width; u++) {
        if (first + u >= K) {
            for (size_t p = 0; p < pixels; p++)
                to[p * width + u] = 0;
            continue;
        }
        double s = 0, q = 0;
        size_t image = from / hw, at = from % hw;
        const float *row = x + (image * K + first + u) * hw;
        for (size_t p = 0; p < pixels; p++) {
            double v = (double)row[at];
            to[p * width + u] = v;
            s += v;
            q += v * v;
            if (++at == hw) {
                at = 0;
                row += K * hw;
            }
        }
        sum[first + u] += s;
        sumsq[first + u] += q;
    }
}

int mc_count_batch(struct mc_moments *m, size_t tap, size_t n, size_t hw, const float *a,
                   const float *b, struct mc_error *err)
{
    struct mc_tap_info *t = &m->taps.taps[tap];
    const size_t K = t->count, total = n * hw;
    const size_t strips_a = (K + ROWS - 1) / ROWS, strips_b = (K + COLS - 1) / COLS;
    double *sum_a = m->sums[tap], *cross = sum_a + 4 * K;
    tile_fn *tile = choose_tile();
    double *slab = NULL, *pack_a, *pack_b, *tiles;

    /* panels of both, and the tiles of cross: padded, so that the inner loop has no edges */
    if (posix_memalign(
            (void **)&slab, 64,
            ((strips_a * ROWS + strips_b * COLS) * BLOCK + strips_a * strips_b * ROWS * COLS + 8) *
                sizeof *slab))
        return mc_fail(err, MC_ENOMEM, "out of memory");
    pack_a = slab;
    pack_b = pack_a + strips_a * ROWS * BLOCK;
    tiles = pack_b + strips_b * COLS * BLOCK;
    memset(tiles, 0, strips_a * strips_b * ROWS * COLS * sizeof *tiles);

#pragma omp parallel
    for (size_t from = 0; from < total; from += BLOCK) {
        size_t pixels = total - from < BLOCK ? total - from : BLOCK;
#pragma omp for schedule(static)
        for (size_t s = 0; s < strips_a + strips_b; s++) {
            if (s < strips_a)
                pack(K, hw, a, from, pixels, s * ROWS, ROWS, pack_a + s * ROWS * BLOCK, sum_a,
                     sum_a + 2 * K);
            else
                pack(K, hw, b, from, pixels, (s - strips_a) * COLS, COLS,
                     pack_b + (s - strips_a) * COLS * BLOCK, sum_a + K, sum_a + 3 * K);
        }
#pragma omp for schedule(static) collapse(2)
        for (size_t i = 0; i < strips_a; i++)
            for (size_t j = 0; j < strips_b; j++)
                tile(pixels, pack_a + i * ROWS * BLOCK, pack_b + j * COLS * BLOCK,
                     tiles + (i * strips_b + j) * ROWS * COLS);
    }

    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++)
            cross[i * K + j] += tiles[((i / ROWS) * strips_b + j / COLS) * ROWS * COLS +
                                      (i % ROWS) * COLS + j % COLS];
    t->samples += total;
    free(slab);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A small matrix product X^T Y in float64 over blocks of pixels, packed into panels so that the
 * inner loop holds its sums in registers. */
#include "tools/align/raw_moments.h"

#include "kernels/backend.h"
#include "libcommon/base/isa.h"

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
#endif

/* By enum mc_isa. */
static tile_fn *const tile_fns[] = {
    tile_portable,
#if defined(__x86_64__)
    tile_avx2,
    tile_avx512,
#endif
};

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

int mc_joint_moments_batch(struct mc_moments *m, size_t tap, size_t n, size_t hw, const float *a,
                           const float *b, struct mc_error *err)
{
    struct mc_tap_info *t = &m->taps.taps[tap];
    const size_t K = t->count, total = n * hw;
    const size_t strips_a = (K + ROWS - 1) / ROWS, strips_b = (K + COLS - 1) / COLS;
    double *sum_a = m->sums[tap], *cross = sum_a + 4 * K;
    double *slab = NULL, *pack_a, *pack_b, *tiles;
    enum mc_isa isa;
    int rc = mc_isa(&isa, err);

    if (rc)
        return rc;
    tile_fn *tile = tile_fns[isa];

    /* panels of both, and the tiles of cross: padded, so that the inner loop has no edges */
    if (posix_memalign(
            (void **)&slab, 64,
            ((strips_a * ROWS + strips_b * COLS) * BLOCK + strips_a * strips_b * ROWS * COLS + 8) *
                sizeof *slab))
        return mc_no_memory(err);
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

static int same_subject(struct mc_activations_reader *a, struct mc_activations_reader *b,
                        struct mc_error *err)
{
    const char *name_a = mc_reader_name(mc_activations_stream(a));
    const char *name_b = mc_reader_name(mc_activations_stream(b));

    if (!mc_taps_same(mc_activations_taps(a), mc_activations_taps(b)))
        return mc_fail(err, MC_EINPUT, "%s and %s are of networks with different layers", name_a,
                       name_b);
    if (mc_activations_images(a) != mc_activations_images(b))
        return mc_fail(err, MC_EINPUT, "%s is of %llu images, %s of %llu", name_a,
                       (unsigned long long)mc_activations_images(a), name_b,
                       (unsigned long long)mc_activations_images(b));
    return 0;
}

/* A network's activations have two inputs, the network and the data. */
static int same_data(struct mc_reader *a, struct mc_reader *b, struct mc_error *err)
{
    if (mc_reader_n_inputs(a) == 2 && mc_reader_n_inputs(b) == 2 &&
        strcmp(mc_reader_input(a, 1), mc_reader_input(b, 1)))
        return mc_fail(err, MC_EINPUT, "%s and %s were measured on different data",
                       mc_reader_name(a), mc_reader_name(b));
    return 0;
}

int mc_joint_moments_of_streams(struct mc_moments *out, struct mc_activations_reader *a,
                                struct mc_activations_reader *b,
                                void (*progress)(void *arg, uint64_t done), void *arg,
                                struct mc_error *err)
{
    struct mc_reader *sa = mc_activations_stream(a), *sb = mc_activations_stream(b);
    uint64_t done = 0;

    memset(out, 0, sizeof *out);
    int rc = same_subject(a, b, err);
    if (rc)
        return rc;
    if ((rc = mc_moments_begin(out, mc_activations_taps(a), err)))
        return mc_fail_in(rc, err, "%s", mc_reader_name(sa));
    for (size_t i = 0; i < out->taps.n_taps; i++)
        out->taps.taps[i].samples = 0;
    for (;;) {
        size_t tap_a = 0, tap_b = 0, n_a = 0, n_b = 0, hw_a = 0, hw_b = 0;
        const float *x = NULL, *y = NULL;
        int more_a = mc_activations_next(a, &tap_a, &n_a, &x, &hw_a, err);
        int more_b = more_a < 0 ? more_a : mc_activations_next(b, &tap_b, &n_b, &y, &hw_b, err);

        if (more_b < 0)
            return more_b;
        if (more_a != more_b || tap_a != tap_b || n_a != n_b || hw_a != hw_b)
            return mc_fail(err, MC_EINPUT, "%s and %s are not cut into the same batches",
                           mc_reader_name(sa), mc_reader_name(sb));
        if (!more_a)
            break;
        if ((rc = mc_moments_room(out, tap_a, err)) ||
            (rc = mc_joint_moments_batch(out, tap_a, n_a, hw_a, x, y, err)))
            return rc;
        if (tap_a + 1 == out->taps.n_taps)
            done += n_a;
        if (progress)
            progress(arg, done);
    }
    out->images = mc_activations_images(a);
    out->shard = 0;
    out->shards = 1;
    return same_data(sa, sb, err);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Units are copied to panels: X or Y units side by side, value by value. The panels of one run of
 * values are consecutive. A block of sums stays in the cache for all runs of a pass, and while one
 * run is multiplied, the panels of the next are fetched. */
#include "tools/align/products.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/isa.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 16,
    X = 8,         /* units of a panel of x */
    Y = 3 * LANES, /* units of a panel of y */
    RUN = 256,     /* values that are summed in float32; a multiple of AHEAD */
    PASS = 4096,   /* values that are copied at a time; a multiple of RUN */
    HEIGHT = 192,  /* units of x in a block; a multiple of X */
    WIDTH = 288,   /* units of y in a block; a multiple of Y */
    AHEAD = 4,     /* values per cache line fetched ahead */
};

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef double wide __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));
typedef float vec8 __attribute__((vector_size(LANES / 2 * sizeof(float))));
typedef double wide8
    __attribute__((vector_size(LANES / 2 * sizeof(double)), aligned(8), may_alias));

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Copy n values of `units` units, m values apart, to a panel. X units at a time can share a set of
 * the cache. */
static inline __attribute__((always_inline)) void copy_units(size_t units, size_t width, size_t m,
                                                             size_t n, const float *x, float *panel)
{
    for (size_t u = 0; u < units; u += X) {
        const size_t now = units - u < X ? units - u : X;
        for (size_t i = 0; i < n; i++)
#pragma GCC unroll 8
            for (size_t k = u; k < u + now; k++)
                panel[i * width + k] = x[k * m + i];
    }
}

/* Copy n values, from value q, of the units from k to a panel of n_padded values and `width` units.
 * Units after the last one and values after n are 0. */
static inline __attribute__((always_inline)) void to_panel(size_t width,
                                                           const struct mc_unit_layout *layout,
                                                           const float *from, size_t k, size_t q,
                                                           size_t n, size_t n_padded, float *panel)
{
    const size_t units = layout->k - k < width ? layout->k - k : width;

    if (units < width || n < n_padded)
        memset(panel, 0, width * n_padded * sizeof *panel);
    while (n) {
        const size_t skip = q % layout->m, now = layout->m - skip < n ? layout->m - skip : n;
        const float *x =
            from + layout->base + q / layout->m * layout->stride + k * layout->m + skip;
        if (units < width)
            copy_units(units, width, layout->m, now, x, panel);
        else if (layout->m == 1)
            for (size_t u = 0; u < width; u += X)
                memcpy(panel + u, x + u, X * sizeof *panel);
        else
            copy_units(width, width, layout->m, now, x, panel);
        panel += now * width;
        q += now;
        n -= now;
    }
}

#define TILE(VEC, WIDE, SIZE, COLUMNS)                                                             \
    do {                                                                                           \
        VEC s[X][Y / (SIZE)];                                                                      \
        _Pragma("GCC unroll 8") for (int i = 0; i < rows; i++)                                     \
            _Pragma("GCC unroll 3") for (int j = 0; j < (COLUMNS); j++) s[i][j] = (VEC){0};        \
        for (size_t q = 0; q < n; q += AHEAD, next += LANES) {                                     \
            __builtin_prefetch(next, 0, 2);                                                        \
            _Pragma("GCC unroll 4") for (int a = 0; a < AHEAD; a++, x += X, y += Y)                \
                _Pragma("GCC unroll 8") for (int i = 0; i < rows; i++)                             \
                    _Pragma("GCC unroll 3") for (int j = 0; j < (COLUMNS); j++) s[i][j] +=         \
                x[i] * ((const VEC *)(const void *)y)[j];                                          \
        }                                                                                          \
        _Pragma("GCC unroll 8") for (int i = 0; i < rows; i++)                                     \
                _Pragma("GCC unroll 3") for (int j = 0; j < (COLUMNS); j++) *                      \
            (WIDE *)(sum + i * WIDTH + j * (SIZE)) += __builtin_convertvector(s[i][j], WIDE);      \
    } while (0)

/* Sums of `rows` units of panel x and LANES * vectors units of panel y, added to rows of `sum`.
 * halves: by vectors of LANES / 2. */
static inline __attribute__((always_inline)) void tile(int rows, int vectors, int halves, size_t n,
                                                       const float *x, const float *y,
                                                       const float *next, double *sum)
{
    if (halves)
        TILE(vec8, wide8, LANES / 2, 2 * vectors);
    else
        TILE(vec, wide, LANES, vectors);
}

/* A block's panels of one run of values, and those that are fetched ahead, `ahead` floats. */
struct panels {
    const float *panel, *next;
    size_t ahead;
};

/* Sums of height units of x and width units of y over n values. */
static inline __attribute__((always_inline)) void block(int rows, int vectors, int halves, size_t n,
                                                        size_t height, size_t width,
                                                        struct panels x, struct panels y,
                                                        double *sum)
{
    size_t fetched = 0; /* floats; one line per AHEAD values */

    for (size_t j = 0; j < width; j += Y)
        for (size_t i = 0; i < height; i += X)
            for (size_t v = 0; v < Y && j + v < width;) {
                const int all = width - j >= Y;
                for (size_t r = 0; r < X; r += (size_t)rows, fetched += n / AHEAD * LANES) {
                    const float *a = x.panel + i * n + r, *b = y.panel + j * n + v;
                    const float *next = y.next;
                    if (fetched < x.ahead)
                        next = x.next + fetched;
                    else if (fetched < x.ahead + y.ahead)
                        next += fetched - x.ahead;
                    double *to = sum + (i + r) * WIDTH + j + v;
                    if (all)
                        tile(rows, vectors, halves, n, a, b, next, to);
                    else
                        tile(rows, 1, halves, n, a, b, next, to);
                }
                v += LANES * (all ? (size_t)vectors : 1);
            }
}

typedef void block_fn(size_t n, size_t height, size_t width, struct panels x, struct panels y,
                      double *sum);

static void portable_block(size_t n, size_t height, size_t width, struct panels x, struct panels y,
                           double *sum)
{
    block(4, 1, 0, n, height, width, x, y, sum);
}

#ifdef __x86_64__
static __attribute__((target("avx2,fma"))) void
avx2_block(size_t n, size_t height, size_t width, struct panels x, struct panels y, double *sum)
{
    block(4, 1, 1, n, height, width, x, y, sum);
}

#ifdef __clang__ /* does not know the width in a target */
#define AVX512 "avx512f"
#else
#define AVX512 "avx512f,prefer-vector-width=512"
#endif
static __attribute__((target(AVX512))) void
avx512_block(size_t n, size_t height, size_t width, struct panels x, struct panels y, double *sum)
{
    block(8, 3, 0, n, height, width, x, y, sum);
}
#endif

/* One pass: n panels of values, n <= PASS. */
struct pass {
    block_fn *block;
    size_t n, x_units, y_units; /* padded */
    float *x, *y;
    int adds; /* to the values */
};

/* Compute the products of units [i, i + height) of x and [j, j + width) of y. */
static void multiply_block(const struct pass *p, size_t i, size_t height, size_t j, size_t width,
                           double *sum, double *value, size_t K)
{
    if (!p->adds)
        memset(sum, 0, height * WIDTH * sizeof *sum);
    for (size_t r = 0; p->adds && r < height; r++)
        memcpy(sum + r * WIDTH, value + (i + r) * K + j, width * sizeof *sum);
    for (size_t q = 0; q < p->n; q += RUN) {
        const size_t n = p->n - q < RUN ? p->n - q : RUN;
        const size_t after = p->n - q - n < RUN ? p->n - q - n : RUN;
        const float *x = p->x + q * p->x_units + i * n, *y = p->y + q * p->y_units + j * n;
        const size_t rows = round_up(height, X), columns = round_up(width, LANES);
        struct panels px = {x, x, 0}, py = {y, y, 0};
        if (after) {
            px = (struct panels){x, p->x + (q + n) * p->x_units + i * after, rows * after};
            py = (struct panels){y, p->y + (q + n) * p->y_units + j * after, columns * after};
        }
        p->block(n, rows, columns, px, py, sum);
    }
    for (size_t r = 0; r < height; r++)
        memcpy(value + (i + r) * K + j, sum + r * WIDTH, width * sizeof *sum);
}

static size_t padded_values(const struct mc_unit_layout *layout)
{
    const size_t all = mc_unit_values(layout);

    return all < PASS ? round_up(all, AHEAD) : PASS;
}

size_t mc_products_bytes(const struct mc_unit_layout *layout, int threads)
{
    return (size_t)threads * HEIGHT * WIDTH * sizeof(double) +
           padded_values(layout) * (round_up(layout->k, X) + round_up(layout->k, Y)) *
               sizeof(float);
}

int mc_products_of(struct mc_products *p, const struct mc_unit_layout *layout, const float *x,
                   const float *y, int adds, double *value, const struct mc_meanwhile *meanwhile,
                   struct mc_error *err)
{
    const int threads = p->threads;
    const size_t K = layout->k, all = mc_unit_values(layout), n_max = padded_values(layout);
    struct pass pass = {
        .block = portable_block, .x_units = round_up(K, X), .y_units = round_up(K, Y)};
    const size_t x_panels = pass.x_units / X, panels = x_panels + pass.y_units / Y;
    const size_t sums = (size_t)threads * HEIGHT * WIDTH;
    const size_t size = mc_products_bytes(layout, threads);
    enum mc_isa isa;
    int rc = mc_isa(&isa, err);

    assert(all > 0);

    if (rc)
        return rc;
#ifdef __x86_64__
    if (isa != MC_ISA_PORTABLE)
        pass.block = isa == MC_ISA_AVX512 ? avx512_block : avx2_block;
#endif
    if (p->size < size) {
        free(p->slab);
        *p = (struct mc_products){threads, mc_alloc_large(size), size};
        if (!p->slab) {
            p->size = 0;
            return mc_no_memory(err);
        }
    }
    double *sum = p->slab;
    pass.y = (float *)(sum + sums);
    pass.x = pass.y + n_max * pass.y_units;
    for (size_t first = 0; first < all; first += PASS) {
        const size_t n_pass = all - first < PASS ? all - first : PASS;
        const size_t runs = (n_pass + RUN - 1) / RUN;
        pass.n = round_up(n_pass, AHEAD);
        pass.adds = adds || first;
#pragma omp parallel num_threads(threads) if (threads > 1 && K * K * n_pass > 1 << 16)
        {
#pragma omp for schedule(dynamic, 16)
            for (size_t i = 0; i < runs * panels; i++) {
                const size_t q = i / panels * RUN, k = i % panels;
                const size_t n = n_pass - q < RUN ? n_pass - q : RUN, n_padded = round_up(n, AHEAD);
                if (k < x_panels)
                    to_panel(X, layout, x, k * X, first + q, n, n_padded,
                             pass.x + q * pass.x_units + k * X * n_padded);
                else
                    to_panel(Y, layout, y, (k - x_panels) * Y, first + q, n, n_padded,
                             pass.y + q * pass.y_units + (k - x_panels) * Y * n_padded);
            }
#pragma omp single nowait
            if (meanwhile && !first)
                meanwhile->work(meanwhile->arg);
#pragma omp for schedule(dynamic, 1) collapse(2)
            for (size_t i = 0; i < K; i += HEIGHT)
                for (size_t j = 0; j < K; j += WIDTH)
                    multiply_block(&pass, i, K - i < HEIGHT ? K - i : HEIGHT, j,
                                   K - j < WIDTH ? K - j : WIDTH,
                                   sum + (size_t)omp_get_thread_num() * HEIGHT * WIDTH, value, K);
        }
    }
    return 0;
}

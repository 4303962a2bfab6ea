/* SPDX-License-Identifier: Apache-2.0
 *
 * Prefetches of kernels_winograd.h, included once per instruction set (see kernels.h). */

/* The pixels of tile rows [row, end) of an activation, in the order of memory. While products are
 * computed, they prefetch the pixels that the next transforms read or write. The hardware's
 * prefetcher stops at each 4 KiB: a step of resnet32 takes a sixth longer without ours. */
struct wino_ahead {
    const float *base;
    size_t blocks, tiles_h, height, width;
    size_t row, end, cb;
    const float *line;
    size_t left; /* floats */
};

static struct wino_ahead wino_ahead(const struct cpu_wino *c, int output, const float *base,
                                    size_t row, size_t end)
{
    return (struct wino_ahead){.base = base,
                               .blocks = output ? c->ocb : c->icb,
                               .tiles_h = c->tiles_h,
                               .height = (size_t)(output ? c->oh : c->ih),
                               .width = (size_t)(output ? c->ow : c->iw),
                               .row = row,
                               .end = end < c->n * c->tiles_h ? end : c->n * c->tiles_h};
}

/* Cache lines to prefetch per product: 16 pixels of `blocks` channel blocks for each of `tiles`
 * tiles, spread over 36 times `products` calls. */
static size_t wino_lines(size_t tiles, size_t blocks, size_t products)
{
    return tiles * blocks * BLOCK / (36 * products) + 1;
}

/* Prefetch the next `lines` cache lines, to be read or written. */
static inline __attribute__((always_inline)) void wino_prefetch(struct wino_ahead *a, size_t lines,
                                                                const int write)
{
    enum { LINE = 16 };

    while (lines) {
        if (!a->left) {
            if (a->row >= a->end)
                return;
            const size_t n = a->row / a->tiles_h, h = a->row % a->tiles_h * 4;
            const size_t rows = h < a->height ? a->height - h : 0;
            a->line = a->base + ((n * a->blocks + a->cb) * a->height + h) * a->width * BLOCK;
            a->left = (rows < 4 ? rows : 4) * a->width * BLOCK;
            a->cb = a->cb + 1 == a->blocks ? 0 : a->cb + 1;
            a->row += a->cb == 0;
            continue;
        }
        if (write)
            __builtin_prefetch(a->line, 1, 3);
        else
            __builtin_prefetch(a->line, 0, 2);
        a->line += LINE;
        a->left -= LINE < a->left ? LINE : a->left;
        lines--;
    }
}

/* The activations that a fused batch norm reads and writes, except `known`. */
static size_t wino_fused(const struct cpu_fused *norm, const float *known, const float *other[3])
{
    const float *const all[] = {norm->x, norm->second, norm->to};
    size_t n = 0;

    for (size_t i = 0; i < 3; i++)
        if (all[i] && all[i] != known)
            other[n++] = all[i];
    return n;
}

/* Return 1 if the transformed weights, or the sums of their gradient, exceed a typical second cache.
 * Products then prefetch them. */
static int wino_is_large(const struct cpu_wino *c)
{
    enum { CACHE = 1 << 20 };
    return 36 * c->icb * c->ocb * BLOCK * BLOCK * sizeof(float) > CACHE;
}

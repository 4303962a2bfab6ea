/* SPDX-License-Identifier: Apache-2.0
 *
 * 3x3 convolutions of stride 1 by Winograd's F(4x4, 3x3) (Lavin and Gray, CVPR 2016), included once
 * per instruction set (see kernels.h). An output tile of 4x4 pixels needs 36 products per pair of
 * channels instead of 144:
 *
 *     Y = A' [(G g G') . (B' d B)] A      dg = G' [(A dY A') . (B' d B)] G
 *
 * The interpolation points 0, +-5/8, +-3/2 and infinity lose less to rounding than the usual 0,
 * +-1, +-2; every constant of A and B is exact. Tiles are computed in groups: all 36 transformed
 * planes of a group stay in the cache between the transforms and the products. */

/* Transforms the input of tile rows [r0, r0 + rows) to v[36][cb][tile][b], planes CPU_WINO_PLANE
 * blocks apart. `norm` (NULL: none) computes the input, an image at a time. First down the columns
 * of a whole row of tiles, whose pixels are contiguous, then along the rows. */
static void wino_load(const struct cpu_wino *c, const struct cpu_fused *norm, const float *x,
                      size_t r0, size_t rows, float *v, float *strip)
{
    const size_t width = (size_t)c->iw, plane = (size_t)c->ih * width;
    const size_t far = CPU_WINO_PLANE(c->icb, c->group), wide = 4 * c->tiles_w + 2,
                 pad = (size_t)c->pad;
    const size_t right = wide - pad < width ? wide : width + pad;

    for (size_t cb = 0; cb < c->icb; cb++) {
        vf *to = (vf *)v + cb * c->group, *e = (vf *)strip;
        for (size_t r = 0; r < rows; r++) {
            const size_t n = (r0 + r) / c->tiles_h;
            const int h0 = (int)((r0 + r) % c->tiles_h) * 4 - c->pad;
            const size_t offset = (n * c->icb + cb) * plane;
            const vf *from = (const vf *)x + offset;
            if (norm && (r0 + r) % c->tiles_h == 0)
                norm_pixels(&norm->m, cb, plane, (const vf *)norm->x + offset,
                            norm->second ? (const vf *)norm->second + offset : NULL, NULL,
                            (vf *)norm->to + offset);
            const int inside = h0 >= 0 && h0 + 6 <= c->ih;
            for (size_t j = 0; j < pad; j++)
                for (size_t i = 0; i < 6; i++)
                    e[i * wide + j] = ZERO;
            for (size_t j = right; j < wide; j++)
                for (size_t i = 0; i < 6; i++)
                    e[i * wide + j] = ZERO;
            if (inside) {
                const vf *p = from + (size_t)h0 * width;
                for (size_t j = pad; j < right; j++)
                    wino_in(p + j - pad, width, e + j, wide);
            } else {
                for (size_t j = pad; j < right; j++) {
                    vf d[6];
                    for (int i = 0; i < 6; i++) {
                        const int h = h0 + i;
                        d[i] = h >= 0 && h < c->ih ? from[(size_t)h * width + j - pad] : ZERO;
                    }
                    wino_in(d, 1, e + j, wide);
                }
            }
            for (size_t t = 0; t < c->tiles_w; t++)
                for (size_t i = 0; i < 6; i++)
                    wino_in(e + i * wide + 4 * t, 1, to + i * 6 * far + t, far);
            to += c->tiles_w;
        }
        for (size_t t = rows * c->tiles_w; t < c->group; t++, to++)
            for (size_t k = 0; k < 36; k++)
                to[k * far] = ZERO;
    }
}

/* m[tile][b] = sum over ic of v[icb][tile][ic] u[ic][b] for 16 tiles. If `large`, a constant after
 * inlining, prefetch the weights of the next products; the last prefetches are past the end of u. */
static inline __attribute__((always_inline)) void wino_product(int large, size_t icb, size_t group,
                                                               const float *v, const vf *u, vf *m)
{
    enum { T = BLOCK == 16 ? 16 : 8, AHEAD = 32 };
    for (size_t half = 0; half < 16; half += T) {
        vf acc[T];
#pragma GCC unroll 16
        for (size_t t = 0; t < T; t++)
            acc[t] = ZERO;
        for (size_t cb = 0; cb < icb; cb++) {
            const float *from = v + (cb * group + half) * BLOCK;
            const vf *w = u + cb * BLOCK;
            for (size_t i = 0; i < BLOCK; i++) {
                const vf wi = w[i];
                if (large)
                    __builtin_prefetch(w + i + AHEAD);
#pragma GCC unroll 16
                for (size_t t = 0; t < T; t++)
                    acc[t] += from[t * BLOCK + i] * wi;
            }
        }
#pragma GCC unroll 16
        for (size_t t = 0; t < T; t++)
            m[half + t] = acc[t];
    }
}

/* The inverse transform down the columns of a row of tiles, into `rows` rows of pixels. */
static inline __attribute__((always_inline)) void wino_put(const vf *e, size_t wide, int rows,
                                                           int add, vf *to, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        vf o[4];
        wino_out(e + j, wide, o, 1);
        for (size_t i = 0; i < (size_t)rows; i++)
            to[i * width + j] = add ? (vf)(to[i * width + j] + o[i]) : (vf)o[i];
    }
}

/* The inverse transform: along the rows of the tiles, then down their columns into the image. */
static void wino_store(const struct cpu_wino *c, const float *m, size_t r0, size_t rows, float *y,
                       float *strip)
{
    const size_t width = (size_t)c->ow, plane = (size_t)c->oh * width;
    const size_t wide = 4 * c->tiles_w + 2, far = CPU_WINO_PLANE(c->ocb, c->group);

    for (size_t cb = 0; cb < c->ocb; cb++) {
        const vf *from = (const vf *)m + cb * c->group;
        vf *e = (vf *)strip;
        for (size_t r = 0; r < rows; r++, from += c->tiles_w) {
            const size_t n = (r0 + r) / c->tiles_h;
            const int h0 = (int)((r0 + r) % c->tiles_h) * 4;
            vf *to = (vf *)y + (n * c->ocb + cb) * plane + (size_t)h0 * width;
            for (size_t t = 0; t < c->tiles_w; t++)
                for (size_t i = 0; i < 6; i++)
                    wino_out(from + i * 6 * far + t, far, e + i * wide + 4 * t, 1);
            if (h0 + 4 > c->oh)
                wino_put(e, wide, c->oh - h0, c->add, to, width);
            else if (c->add)
                wino_put(e, wide, 4, 1, to, width);
            else
                for (size_t j = 0; j < width; j++)
                    wino_out(e + j, wide, to + j, width);
            if (c->norm.part && h0 + 4 >= c->oh)
                back_sums_pixels(&c->norm, n, cb, n * c->ocb + cb, plane, y);
        }
    }
}

static void KERNEL(wino_conv)(const struct cpu_wino *c, const float *x, const float *u, float *y,
                              float *work)
{
    const size_t all = c->n * c->tiles_h, groups = (all + c->rows - 1) / c->rows;
    const size_t vfar = CPU_WINO_PLANE(c->icb, c->group), mfar = CPU_WINO_PLANE(c->ocb, c->group);
    const size_t in_lines = wino_lines(16, c->icb, c->ocb);
    const size_t out_lines = wino_lines(16, c->ocb, c->ocb);
    const struct cpu_fused *after = c->norm.part ? &c->norm : NULL;
    const struct cpu_fused *before = c->norm.x && !after ? &c->norm : NULL;
    const int large = wino_is_large(c);
    const float *other[3];
    const size_t n_other = wino_fused(&c->norm, before ? before->x : y, other);

#pragma omp parallel num_threads(c->threads)
    {
        float *v = work + (size_t)omp_get_thread_num() * CPU_WINO_WORK(c, BLOCK);
        float *m = v + 36 * vfar * BLOCK, *strip = m + 36 * mfar * BLOCK;
#pragma omp for schedule(static)
        for (size_t g = 0; g < groups; g++) {
            const size_t r0 = g * c->rows, rows = all - r0 < c->rows ? all - r0 : c->rows;
            const size_t next = r0 + rows, last = next + c->rows;
            struct wino_ahead in = wino_ahead(c, 0, before ? before->x : x, next, last);
            struct wino_ahead out = wino_ahead(c, 1, y, r0, next), more[3];
            for (size_t i = 0; i < n_other; i++)
                more[i] = wino_ahead(c, !!after, other[i], after ? r0 : next, after ? next : last);
            wino_load(c, before, x, r0, rows, v, strip);
            for (size_t k = 0; k < 36; k++)
                for (size_t ob = 0; ob < c->ocb; ob++)
                    for (size_t t = 0; t < c->group; t += 16) {
                        wino_prefetch(&in, in_lines, 0);
                        wino_prefetch(&out, out_lines, 1);
                        for (size_t i = 0; i < n_other; i++)
                            wino_prefetch(more + i, after ? out_lines : in_lines, 0);
                        const float *from = v + (k * vfar + t) * BLOCK;
                        const vf *w = (const vf *)u + (k * c->ocb + ob) * c->icb * BLOCK;
                        vf *to = (vf *)m + k * mfar + ob * c->group + t;
                        if (large)
                            wino_product(1, c->icb, c->group, from, w, to);
                        else
                            wino_product(0, c->icb, c->group, from, w, to);
                    }
            wino_store(c, m, r0, rows, y, strip);
        }
    }
}

/* du[36][icb][ocb][ic][b] += sum over the group's tiles of v[36][icb][tile][ic]
 * dm[36][ocb][tile]. Prefetches x and n_dy activations of dy's shape. */
static void wino_outer(const struct cpu_wino *c, const float *v, const float *dm, float *du,
                       struct wino_ahead *x, struct wino_ahead *dy, size_t n_dy)
{
    enum { R = BLOCK == 16 ? 16 : 8 };
    const size_t ahead = wino_is_large(c) ? R : 0; /* vectors of the next product's sums */
    const size_t x_lines = wino_lines(c->group, c->icb, c->icb * c->ocb);
    const size_t dy_lines = wino_lines(c->group, c->ocb, c->icb * c->ocb);
    const size_t vfar = CPU_WINO_PLANE(c->icb, c->group), mfar = CPU_WINO_PLANE(c->ocb, c->group);

    for (size_t k = 0; k < 36; k++)
        for (size_t ib = 0; ib < c->icb; ib++)
            for (size_t ob = 0; ob < c->ocb; ob++) {
                const float *a = v + (k * vfar + ib * c->group) * BLOCK;
                const vf *b = (const vf *)dm + k * mfar + ob * c->group;
                vf *to = (vf *)du + ((k * c->icb + ib) * c->ocb + ob) * BLOCK;
                vf acc[R];
                wino_prefetch(x, x_lines, 0);
                for (size_t i = 0; i < n_dy; i++)
                    wino_prefetch(dy + i, dy_lines, 0);
#pragma GCC unroll 16
                for (size_t i = 0; i < R; i++)
                    acc[i] = to[i];
                for (size_t t = 0; t < c->group; t++) {
                    const vf bt = b[t];
                    if (t < ahead)
                        __builtin_prefetch(to + BLOCK + t, 1);
#pragma GCC unroll 16
                    for (size_t i = 0; i < R; i++)
                        acc[i] += a[t * BLOCK + i] * bt;
                }
#pragma GCC unroll 16
                for (size_t i = 0; i < R; i++)
                    to[i] = acc[i];
            }
}

/* A dY A' of the tile rows: dm[36][ocb][tile][b]. */
static void wino_load_dy(const struct cpu_wino *c, const float *dy, size_t r0, size_t rows,
                         float *dm, float *strip)
{
    const size_t width = (size_t)c->ow, plane = (size_t)c->oh * width;
    const size_t wide = 4 * c->tiles_w + 2, far = CPU_WINO_PLANE(c->ocb, c->group);

    for (size_t cb = 0; cb < c->ocb; cb++) {
        vf *to = (vf *)dm + cb * c->group, *e = (vf *)strip;
        for (size_t r = 0; r < rows; r++) {
            const size_t n = (r0 + r) / c->tiles_h;
            const int h0 = (int)((r0 + r) % c->tiles_h) * 4;
            const size_t offset = (n * c->ocb + cb) * plane + (size_t)h0 * width;
            const vf *from = (const vf *)dy + offset;
            if (c->norm.x) {
                const size_t height = h0 + 4 <= c->oh ? 4 : (size_t)(c->oh - h0);
                norm_back_pixels(&c->norm.m, cb, n < c->norm.valid, height * width,
                                 (const vf *)c->norm.x + offset,
                                 (const vf *)c->norm.second + offset, (vf *)c->norm.to + offset);
            }
            for (size_t j = width; j < wide; j++)
                for (size_t i = 0; i < 6; i++)
                    e[i * wide + j] = ZERO;
            if (h0 + 4 <= c->oh) {
                for (size_t j = 0; j < width; j++)
                    wino_spread(from + j, width, e + j, wide);
            } else {
                for (size_t j = 0; j < width; j++) {
                    vf d[4];
                    for (int i = 0; i < 4; i++)
                        d[i] = h0 + i < c->oh ? from[(size_t)i * width + j] : ZERO;
                    wino_spread(d, 1, e + j, wide);
                }
            }
            for (size_t t = 0; t < c->tiles_w; t++)
                for (size_t i = 0; i < 6; i++)
                    wino_spread(e + i * wide + 4 * t, 1, to + i * 6 * far + t, far);
            to += c->tiles_w;
        }
        for (size_t t = rows * c->tiles_w; t < c->group; t++, to++)
            for (size_t k = 0; k < 36; k++)
                to[k * far] = ZERO;
    }
}

/* du: threads times 36 * IC * OC; wino_weights_out sums them in the order of the threads. */
static void KERNEL(wino_grad)(const struct cpu_wino *c, const float *x, const float *dy, float *du,
                              float *work)
{
    const size_t all = c->n * c->tiles_h, groups = (all + c->rows - 1) / c->rows;
    const size_t size = 36 * c->icb * c->ocb * BLOCK * BLOCK;
    const float *other[3];
    const size_t n_other = wino_fused(&c->norm, dy, other);

#pragma omp parallel num_threads(c->threads)
    {
        const size_t me = (size_t)omp_get_thread_num();
        float *v = work + me * CPU_WINO_WORK(c, BLOCK);
        float *m = v + 36 * CPU_WINO_PLANE(c->icb, c->group) * BLOCK;
        float *strip = m + 36 * CPU_WINO_PLANE(c->ocb, c->group) * BLOCK, *sum = du + me * size;
        memset(sum, 0, size * sizeof *sum);
        if (me == 0) /* OpenMP may have started fewer threads */
            memset(du + (size_t)omp_get_num_threads() * size, 0,
                   (size_t)(c->threads - omp_get_num_threads()) * size * sizeof *du);
#pragma omp for schedule(static)
        for (size_t g = 0; g < groups; g++) {
            const size_t r0 = g * c->rows, rows = all - r0 < c->rows ? all - r0 : c->rows;
            const size_t next = r0 + rows, last = next + c->rows;
            struct wino_ahead in = wino_ahead(c, 0, x, next, last);
            struct wino_ahead more[4] = {wino_ahead(c, 1, dy, next, last)};
            for (size_t i = 0; i < n_other; i++)
                more[i + 1] = wino_ahead(c, 1, other[i], next, last);
            wino_load(c, NULL, x, r0, rows, v, strip);
            wino_load_dy(c, dy, r0, rows, m, strip);
            wino_outer(c, v, m, sum, &in, more, n_other + 1);
        }
    }
}

/* u[36][ocb][IC][b] from OIHW weights. If `data`, for the transposed convolution: its inputs are
 * the weights' outputs and its kernels are rotated. */
static void KERNEL(wino_weights_in)(const struct cpu_wino *c, size_t ic, size_t oc, int data,
                                    const float *w, float *u)
{
    const size_t IC = c->icb * BLOCK;

#pragma omp parallel for collapse(2) schedule(static)
    for (size_t ob = 0; ob < c->ocb; ob++)
        for (size_t i = 0; i < IC; i++) {
            vf g[9] = {ZERO}, e[18], f[36];
            for (size_t l = 0; i < ic && l < BLOCK && ob * BLOCK + l < oc; l++) {
                const size_t o = ob * BLOCK + l;
                const float *from = w + (data ? i * oc + o : o * ic + i) * 9;
                for (size_t k = 0; k < 9; k++)
                    g[k][l] = from[data ? 8 - k : k];
            }
            for (size_t j = 0; j < 3; j++)
                wino_g(g + j, 3, e + j, 3);
            for (size_t j = 0; j < 6; j++)
                wino_g(e + j * 3, 1, f + j * 6, 1);
            for (size_t k = 0; k < 36; k++)
                ((vf *)u)[(k * c->ocb + ob) * IC + i] = f[k];
        }
}

/* dw (OIHW) from the sums of the threads. */
static void KERNEL(wino_weights_out)(const struct cpu_wino *c, size_t ic, size_t oc,
                                     const float *du, size_t threads, float *dw)
{
    const size_t size = 36 * c->icb * c->ocb * BLOCK * BLOCK;

#pragma omp parallel for collapse(2) schedule(static)
    for (size_t ob = 0; ob < c->ocb; ob++)
        for (size_t i = 0; i < ic; i++) {
            vf f[36], e[18], g[9];
            for (size_t k = 0; k < 36; k++) {
                const vf *from =
                    (const vf *)du + ((k * c->icb + i / BLOCK) * c->ocb + ob) * BLOCK + i % BLOCK;
                f[k] = from[0];
                for (size_t t = 1; t < threads; t++)
                    f[k] += from[t * size / BLOCK];
            }
            for (size_t j = 0; j < 6; j++)
                wino_gt(f + j, 6, e + j, 6);
            for (size_t j = 0; j < 3; j++)
                wino_gt(e + j * 6, 1, g + j * 3, 1);
            for (size_t l = 0; l < BLOCK && ob * BLOCK + l < oc; l++)
                for (size_t k = 0; k < 9; k++)
                    dw[((ob * BLOCK + l) * ic + i) * 9 + k] = g[k][l];
        }
}

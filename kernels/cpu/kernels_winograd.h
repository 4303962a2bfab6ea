/* SPDX-License-Identifier: Apache-2.0
 *
 * 3x3 convolutions of stride 1 by Winograd's F(4x4, 3x3) (Lavin and Gray, CVPR 2016), included once
 * an instruction set (see kernels.h). An output tile of 4x4 pixels takes 36 products a channel pair
 * instead of 144:
 *
 *     Y = A' [(G g G') . (B' d B)] A      dg = G' [(A dY A') . (B' d B)] G
 *
 * The interpolation points 0, +-5/8, +-3/2 and infinity lose less to rounding than the usual 0,
 * +-1,
 * +-2; every constant of A and B is exact. Tiles are taken in groups: all 36 transformed planes of
 * a group stay in the cache between the transforms and the products. */

#define PA .625f
#define PB 1.5f
#define PA2 (PA * PA)
#define PB2 (PB * PB)

/* B' of six values `step` apart. */
static inline __attribute__((always_inline)) void wino_in(const vf *x, size_t step, vf *y,
                                                          size_t to)
{
    const vf x0 = x[0], x1 = x[step], x2 = x[2 * step], x3 = x[3 * step], x4 = x[4 * step],
             x5 = x[5 * step];
    const vf p = x4 - PB2 * x2, q = x3 - PB2 * x1, r = x4 - PA2 * x2, s = x3 - PA2 * x1;
    y[0] = (PA2 * PB2) * x0 - (PA2 + PB2) * x2 + x4;
    y[to] = p + PA * q;
    y[2 * to] = p - PA * q;
    y[3 * to] = r + PB * s;
    y[4 * to] = r - PB * s;
    y[5 * to] = (PA2 * PB2) * x1 - (PA2 + PB2) * x3 + x5;
}

/* A' of six values: four. */
static inline __attribute__((always_inline)) void wino_out(const vf *x, size_t step, vf *y,
                                                           size_t to)
{
    const vf s1 = x[step] + x[2 * step], d1 = x[step] - x[2 * step];
    const vf s2 = x[3 * step] + x[4 * step], d2 = x[3 * step] - x[4 * step];
    y[0] = x[0] + s1 + s2;
    y[to] = PA * d1 + PB * d2;
    y[2 * to] = PA2 * s1 + PB2 * s2;
    y[3 * to] = (PA2 * PA) * d1 + (PB2 * PB) * d2 + x[5 * step];
}

/* A of four values: six. */
static inline __attribute__((always_inline)) void wino_spread(const vf *x, size_t step, vf *y,
                                                              size_t to)
{
    const vf x0 = x[0], x1 = x[step], x2 = x[2 * step], x3 = x[3 * step];
    const vf ea = x0 + PA2 * x2, oa = PA * x1 + (PA2 * PA) * x3;
    const vf eb = x0 + PB2 * x2, ob = PB * x1 + (PB2 * PB) * x3;
    y[0] = x0;
    y[to] = ea + oa;
    y[2 * to] = ea - oa;
    y[3 * to] = eb + ob;
    y[4 * to] = eb - ob;
    y[5 * to] = x3;
}

/* The pixels (h0.., w0..) of a plane, n x n of them, 0 outside. */
static inline __attribute__((always_inline)) void wino_fetch(const vf *plane, int h, int w, int h0,
                                                             int w0, int n, vf *to)
{
    if (h0 >= 0 && w0 >= 0 && h0 + n <= h && w0 + n <= w) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                to[i * n + j] = plane[(h0 + i) * w + w0 + j];
        return;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int y = h0 + i, x = w0 + j;
            to[i * n + j] = y >= 0 && y < h && x >= 0 && x < w ? plane[y * w + x] : ZERO;
        }
}

/* Where tile t of the whole batch lies. */
struct wino_tile {
    size_t n;
    int h, w; /* first output pixel */
};

static inline struct wino_tile wino_tile_at(const struct cpu_wino *c, size_t t)
{
    const size_t per = c->tiles_h * c->tiles_w;
    struct wino_tile at = {t / per, (int)(t % per / c->tiles_w) * 4, (int)(t % c->tiles_w) * 4};
    return at;
}

/* Transformed input of the tiles [t0, t0 + tiles): v[36][cb][group][b]. */
static void wino_load(const struct cpu_wino *c, const float *x, size_t t0, size_t tiles, float *v)
{
    const size_t plane = (size_t)(c->ih * c->iw), far = c->icb * c->group;

    for (size_t t = 0; t < c->group; t++) {
        const struct wino_tile at = wino_tile_at(c, t0 + t);
        for (size_t cb = 0; cb < c->icb; cb++) {
            vf d[36], e[36], *to = (vf *)v + cb * c->group + t;
            if (t >= tiles) {
                for (size_t k = 0; k < 36; k++)
                    to[k * far] = ZERO;
                continue;
            }
            wino_fetch((const vf *)x + (at.n * c->icb + cb) * plane, c->ih, c->iw, at.h - c->pad,
                       at.w - c->pad, 6, d);
            for (size_t j = 0; j < 6; j++)
                wino_in(d + j, 6, e + j, 6);
            for (size_t i = 0; i < 6; i++)
                wino_in(e + i * 6, 1, to + i * 6 * far, far);
        }
    }
}

/* m[tile][b] = sum over ic of v[icb][tile][ic] u[ic][b] for 16 tiles. */
static inline __attribute__((always_inline)) void wino_product(size_t icb, size_t group,
                                                               const float *v, const vf *u, vf *m)
{
    enum { T = BLOCK == 16 ? 16 : 8 };
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

static void wino_store(const struct cpu_wino *c, const float *m, size_t t0, size_t tiles, float *y)
{
    const size_t plane = (size_t)(c->oh * c->ow), far = c->ocb * c->group;

    for (size_t t = 0; t < tiles; t++) {
        const struct wino_tile at = wino_tile_at(c, t0 + t);
        const int rows = c->oh - at.h < 4 ? c->oh - at.h : 4;
        const int cols = c->ow - at.w < 4 ? c->ow - at.w : 4;
        for (size_t cb = 0; cb < c->ocb; cb++) {
            const vf *from = (const vf *)m + cb * c->group + t;
            vf e[24], o[16];
            vf *to = (vf *)y + (at.n * c->ocb + cb) * plane + (size_t)(at.h * c->ow + at.w);
            for (size_t j = 0; j < 6; j++)
                wino_out(from + j * far, 6 * far, e + j, 6);
            for (size_t i = 0; i < 4; i++)
                wino_out(e + i * 6, 1, o + i * 4, 1);
            if (rows == 4 && cols == 4) {
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 4; j++)
                        to[i * c->ow + j] = o[i * 4 + j];
                continue;
            }
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < cols; j++)
                    to[i * c->ow + j] = o[i * 4 + j];
        }
    }
}

static void KERNEL(wino_conv)(const struct cpu_wino *c, const float *x, const float *u, float *y,
                              float *work)
{
    const size_t tiles = c->n * c->tiles_h * c->tiles_w, groups = (tiles + c->group - 1) / c->group;

#pragma omp parallel
    {
        float *v = work + (size_t)omp_get_thread_num() * CPU_WINO_WORK(c, BLOCK);
        float *m = v + 36 * c->icb * c->group * BLOCK;
#pragma omp for schedule(static)
        for (size_t g = 0; g < groups; g++) {
            const size_t t0 = g * c->group, here = tiles - t0 < c->group ? tiles - t0 : c->group;
            wino_load(c, x, t0, here, v);
            for (size_t k = 0; k < 36; k++)
                for (size_t ob = 0; ob < c->ocb; ob++)
                    for (size_t t = 0; t < c->group; t += 16)
                        wino_product(c->icb, c->group, v + (k * c->icb * c->group + t) * BLOCK,
                                     (const vf *)u + (k * c->ocb + ob) * c->icb * BLOCK,
                                     (vf *)m + (k * c->ocb + ob) * c->group + t);
            wino_store(c, m, t0, here, y);
        }
    }
}

/* du[36][icb][ocb][ic][b] += sum over the group's tiles of v[36][icb][tile][ic] dm[36][ocb][tile].
 */
static void wino_outer(const struct cpu_wino *c, const float *v, const float *dm, float *du)
{
    enum { R = BLOCK == 16 ? 16 : 8 };
    for (size_t k = 0; k < 36; k++)
        for (size_t ib = 0; ib < c->icb; ib++)
            for (size_t ob = 0; ob < c->ocb; ob++) {
                const float *a = v + (k * c->icb + ib) * c->group * BLOCK;
                const vf *b = (const vf *)dm + (k * c->ocb + ob) * c->group;
                vf *to = (vf *)du + ((k * c->icb + ib) * c->ocb + ob) * BLOCK;
                vf acc[R];
#pragma GCC unroll 16
                for (size_t i = 0; i < R; i++)
                    acc[i] = to[i];
                for (size_t t = 0; t < c->group; t++) {
                    const vf bt = b[t];
#pragma GCC unroll 16
                    for (size_t i = 0; i < R; i++)
                        acc[i] += a[t * BLOCK + i] * bt;
                }
#pragma GCC unroll 16
                for (size_t i = 0; i < R; i++)
                    to[i] = acc[i];
            }
}

/* A dY A' of the tiles: dm[36][ocb][group][b]. */
static void wino_load_dy(const struct cpu_wino *c, const float *dy, size_t t0, size_t tiles,
                         float *dm)
{
    const size_t plane = (size_t)(c->oh * c->ow), far = c->ocb * c->group;

    for (size_t t = 0; t < c->group; t++) {
        const struct wino_tile at = wino_tile_at(c, t0 + t);
        for (size_t cb = 0; cb < c->ocb; cb++) {
            vf d[16], e[24], *to = (vf *)dm + cb * c->group + t;
            if (t >= tiles) {
                for (size_t k = 0; k < 36; k++)
                    to[k * far] = ZERO;
                continue;
            }
            wino_fetch((const vf *)dy + (at.n * c->ocb + cb) * plane, c->oh, c->ow, at.h, at.w, 4,
                       d);
            for (size_t j = 0; j < 4; j++)
                wino_spread(d + j, 4, e + j, 4);
            for (size_t i = 0; i < 6; i++)
                wino_spread(e + i * 4, 1, to + i * 6 * far, far);
        }
    }
}

/* du: threads times 36 * IC * OC, summed in the order of the threads by wino_weights_out. */
static void KERNEL(wino_grad)(const struct cpu_wino *c, const float *x, const float *dy, float *du,
                              float *work)
{
    const size_t tiles = c->n * c->tiles_h * c->tiles_w, groups = (tiles + c->group - 1) / c->group;
    const size_t size = 36 * c->icb * c->ocb * BLOCK * BLOCK;

#pragma omp parallel
    {
        const size_t me = (size_t)omp_get_thread_num();
        float *v = work + me * CPU_WINO_WORK(c, BLOCK);
        float *m = v + 36 * c->icb * c->group * BLOCK, *sum = du + me * size;
        memset(sum, 0, size * sizeof *sum);
#pragma omp for schedule(static)
        for (size_t g = 0; g < groups; g++) {
            const size_t t0 = g * c->group, here = tiles - t0 < c->group ? tiles - t0 : c->group;
            wino_load(c, x, t0, here, v);
            wino_load_dy(c, dy, t0, here, m);
            wino_outer(c, v, m, sum);
        }
    }
}

/* G: three values to six, and its transpose. */
static inline __attribute__((always_inline)) void wino_g(const float *x, size_t step, float *y,
                                                         size_t to)
{
    const float na = 1 / (2 * PA2 * (PA2 - PB2)), nb = 1 / (2 * PB2 * (PB2 - PA2));
    const float ea = (x[0] + PA2 * x[2 * step]) * na, oa = PA * na * x[step];
    const float eb = (x[0] + PB2 * x[2 * step]) * nb, ob = PB * nb * x[step];
    y[0] = x[0] / (PA2 * PB2);
    y[to] = ea + oa;
    y[2 * to] = ea - oa;
    y[3 * to] = eb + ob;
    y[4 * to] = eb - ob;
    y[5 * to] = x[2 * step];
}

static inline __attribute__((always_inline)) void wino_gt(const float *x, size_t step, float *y,
                                                          size_t to)
{
    const float na = 1 / (2 * PA2 * (PA2 - PB2)), nb = 1 / (2 * PB2 * (PB2 - PA2));
    const float s1 = (x[step] + x[2 * step]) * na, d1 = (x[step] - x[2 * step]) * na;
    const float s2 = (x[3 * step] + x[4 * step]) * nb, d2 = (x[3 * step] - x[4 * step]) * nb;
    y[0] = x[0] / (PA2 * PB2) + s1 + s2;
    y[to] = PA * d1 + PB * d2;
    y[2 * to] = PA2 * s1 + PB2 * s2 + x[5 * step];
}

/* u[36][ocb][IC][b] from OIHW weights; `data`: of the transposed convolution, whose inputs are the
 * weights' outputs and whose kernels are turned. */
static void KERNEL(wino_weights_in)(const struct cpu_wino *c, size_t ic, size_t oc, int data,
                                    const float *w, float *u)
{
    const size_t IC = c->icb * BLOCK, OC = c->ocb * BLOCK;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < IC; i++)
        for (size_t o = 0; o < OC; o++) {
            float g[9] = {0}, e[18], f[36];
            for (size_t k = 0; i < ic && o < oc && k < 9; k++)
                g[k] = data ? w[(i * oc + o) * 9 + 8 - k] : w[(o * ic + i) * 9 + k];
            for (size_t j = 0; j < 3; j++)
                wino_g(g + j, 3, e + j, 3);
            for (size_t j = 0; j < 6; j++)
                wino_g(e + j * 3, 1, f + j * 6, 1);
            for (size_t k = 0; k < 36; k++)
                u[((k * c->ocb + o / BLOCK) * IC + i) * BLOCK + o % BLOCK] = f[k];
        }
}

/* dw (OIHW) from the sums of the threads. */
static void KERNEL(wino_weights_out)(const struct cpu_wino *c, size_t ic, size_t oc,
                                     const float *du, size_t threads, float *dw)
{
    const size_t size = 36 * c->icb * c->ocb * BLOCK * BLOCK;

#pragma omp parallel for schedule(static)
    for (size_t o = 0; o < oc; o++)
        for (size_t i = 0; i < ic; i++) {
            float f[36], e[18], g[9];
            for (size_t k = 0; k < 36; k++) {
                const float *from =
                    du +
                    (((k * c->icb + i / BLOCK) * c->ocb + o / BLOCK) * BLOCK + i % BLOCK) * BLOCK +
                    o % BLOCK;
                f[k] = from[0];
                for (size_t t = 1; t < threads; t++)
                    f[k] += from[t * size];
            }
            for (size_t j = 0; j < 6; j++)
                wino_gt(f + j, 6, e + j, 6);
            for (size_t j = 0; j < 3; j++)
                wino_gt(e + j * 6, 1, g + j * 3, 1);
            memcpy(dw + (o * ic + i) * 9, g, sizeof g);
        }
}

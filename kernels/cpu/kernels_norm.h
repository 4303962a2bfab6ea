/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch norm with the ReLU after it, and layer norm. Included once per instruction set (see
 * kernels.h). */

static inline __attribute__((always_inline)) vf activate(vf z, float delta)
{
    /* keeps NaN */
    vf y = (vf)((vi)z & ~(z <= 0.0f));
    if (delta > 0) {
        vi above = y > delta;
        vf t = (vf)(((vi)y & ~above) | ((vi)(ZERO + delta) & above));
        y = y - t + t * t * (0.5f / delta);
    }
    return y;
}

/* dy times the activation's slope at z */
static inline __attribute__((always_inline)) vf activate_back(vf z, vf dy, float delta)
{
    dy = (vf)((vi)dy & ~(z <= 0.0f));
    if (delta > 0) {
        vi above = z > delta;
        vf t = (vf)(((vi)z & ~above) | ((vi)(ZERO + delta) & above));
        dy *= t * (1.0f / delta);
    }
    return dy;
}

static void KERNEL(stats)(const struct cpu_shape *s, const float *x, float *part)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t n = 0; n < s->valid; n++)
        for (size_t cb = 0; cb < s->cb; cb++) {
            const vf first = *(const vf *)(x + cb * s->hw * BLOCK);
            const vf *p = (const vf *)(x + (n * s->cb + cb) * s->hw * BLOCK);
            vf a[4] = {ZERO, ZERO, ZERO, ZERO}, b[4] = {ZERO, ZERO, ZERO, ZERO};
            size_t i = 0;
            for (; i + 4 <= s->hw; i += 4)
                for (int u = 0; u < 4; u++) {
                    vf d = p[i + (size_t)u] - first;
                    a[u] += d;
                    b[u] += d * d;
                }
            for (; i < s->hw; i++) {
                vf d = p[i] - first;
                a[0] += d;
                b[0] += d * d;
            }
            vf *out = (vf *)(part + (n * s->cb + cb) * 2 * BLOCK);
            out[0] = (a[0] + a[1]) + (a[2] + a[3]);
            out[1] = (b[0] + b[1]) + (b[2] + b[3]);
        }
}

/* CALL with a constant DELTA: none, the ReLU, Huber's ReLU. */
#define WITH_DELTA(delta, CALL)                                                                    \
    do {                                                                                           \
        if ((delta) < 0)                                                                           \
            CALL(-1.0f);                                                                           \
        else if ((delta) > 0)                                                                      \
            CALL(delta);                                                                           \
        else                                                                                       \
            CALL(0.0f);                                                                            \
    } while (0)

static inline __attribute__((always_inline)) void norm_row(size_t hw, const vf *x, const vf *other,
                                                           vf mean, vf scale, vf beta, float delta,
                                                           vf *pre, vf *y)
{
    for (size_t i = 0; i < hw; i++) {
        vf z = (x[i] - mean) * scale + beta;
        if (other)
            z += other[i];
        if (pre)
            pre[i] = z;
        y[i] = delta < 0 ? z : activate(z, delta);
    }
}

/* `hw` pixels of channel block cb; see norm() in kernels.h. */
static void norm_pixels(const struct cpu_norm *m, size_t cb, size_t hw, const vf *x,
                        const vf *other, vf *pre, vf *y)
{
    const vf mean = ((const vf *)m->mean)[cb], scale = ((const vf *)m->scale)[cb];
    const vf beta = ((const vf *)m->beta)[cb];

#define ROW(delta) norm_row(hw, x, NULL, mean, scale, beta, delta, NULL, y)
#define ADD_ROW(delta) norm_row(hw, x, other, mean, scale, beta, delta, NULL, y)
    if (pre)
        norm_row(hw, x, other, mean, scale, beta, m->delta, pre, y);
    else if (other)
        WITH_DELTA(m->delta, ADD_ROW);
    else
        WITH_DELTA(m->delta, ROW);
#undef ROW
#undef ADD_ROW
}

static void KERNEL(norm)(const struct cpu_shape *s, const float *x, const float *other,
                         const struct cpu_norm *m, float *pre, float *y)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t n = 0; n < s->n; n++)
        for (size_t cb = 0; cb < s->cb; cb++) {
            const size_t offset = (n * s->cb + cb) * s->hw;
            norm_pixels(m, cb, s->hw, (const vf *)x + offset,
                        other ? (const vf *)other + offset : NULL, pre ? (vf *)pre + offset : NULL,
                        (vf *)y + offset);
        }
}

/* The gradient before the activation; d: x - mean. */
static inline __attribute__((always_inline)) vf back_pixel(vf d, const vf *other, vf dy, vf scale,
                                                           vf beta, float delta)
{
    if (delta < 0)
        return dy;
    vf z = d * scale + beta;
    if (other)
        z += *other;
    return activate_back(z, dy, delta);
}

static inline __attribute__((always_inline)) void back_sums_row(size_t hw, const vf *x,
                                                                const vf *other, const vf *dy,
                                                                vf mean, vf scale, vf beta,
                                                                float delta, vf *out, vf *dz)
{
    vf a[4] = {ZERO, ZERO, ZERO, ZERO}, b[4] = {ZERO, ZERO, ZERO, ZERO};
    size_t i = 0;
#define PIXEL(i, u)                                                                                \
    do {                                                                                           \
        const vf d = x[i] - mean;                                                                  \
        const vf g = back_pixel(d, other ? other + (i) : NULL, dy[i], scale, beta, delta);         \
        if (dz)                                                                                    \
            dz[i] = g;                                                                             \
        a[u] += g;                                                                                 \
        b[u] += g * d;                                                                             \
    } while (0)
    for (; i + 4 <= hw; i += 4)
        for (size_t u = 0; u < 4; u++)
            PIXEL(i + u, u);
    for (; i < hw; i++)
        PIXEL(i, 0);
#undef PIXEL
    out[0] = (a[0] + a[1]) + (a[2] + a[3]);
    out[1] = (b[0] + b[1]) + (b[2] + b[3]);
}

/* norm_back_sums() in kernels.h, of `hw` pixels of channel block cb of image n. They are number
 * `block` of x, dy and part. */
static void back_sums_pixels(const struct cpu_fused *norm, size_t n, size_t cb, size_t block,
                             size_t hw, const float *dy)
{
    const size_t offset = block * hw;
    const vf mean = ((const vf *)norm->m.mean)[cb], scale = ((const vf *)norm->m.scale)[cb];
    const vf beta = ((const vf *)norm->m.beta)[cb];
    const vf *x = (const vf *)norm->x + offset, *v = (const vf *)dy + offset;
    const vf *other = norm->second ? (const vf *)norm->second + offset : NULL;
    vf *out = (vf *)norm->part + 2 * block, *dz = norm->to ? (vf *)norm->to + offset : NULL;

#define ROW(delta) back_sums_row(hw, x, NULL, v, mean, scale, beta, delta, out, NULL)
#define ADD_ROW(delta) back_sums_row(hw, x, other, v, mean, scale, beta, delta, out, dz)
    if (n < norm->valid && dz)
        WITH_DELTA(norm->m.delta, ADD_ROW);
    else if (n < norm->valid)
        WITH_DELTA(norm->m.delta, ROW);
    else if (dz)
        memset(dz, 0, hw * sizeof *dz);
#undef ROW
#undef ADD_ROW
}

static void KERNEL(norm_back_sums)(const struct cpu_shape *s, const float *x, const float *other,
                                   const float *dy, const struct cpu_norm *m, float *part,
                                   float *dz)
{
    const struct cpu_fused norm = {
        .m = *m, .x = x, .second = other, .to = dz, .part = part, .valid = s->valid};

#pragma omp parallel for collapse(2) schedule(static)
    for (size_t n = 0; n < s->n; n++)
        for (size_t cb = 0; cb < s->cb; cb++)
            back_sums_pixels(&norm, n, cb, n * s->cb + cb, s->hw, dy);
}

static inline __attribute__((always_inline)) void back_row(size_t hw, const vf *x, const vf *dy,
                                                           vf mean, vf scale, vf beta, vf k1, vf k2,
                                                           float delta, vf *dx)
{
    for (size_t i = 0; i < hw; i++) {
        const vf d = x[i] - mean;
        dx[i] = scale * (back_pixel(d, NULL, dy[i], scale, beta, delta) - k1 - d * k2);
    }
}

/* `hw` pixels of channel block cb of an image that counts, or does not; see norm_back() in
 * kernels.h. */
static void norm_back_pixels(const struct cpu_norm *m, size_t cb, int counts, size_t hw,
                             const vf *x, const vf *dy, vf *dx)
{
    const vf mean = ((const vf *)m->mean)[cb], scale = ((const vf *)m->scale)[cb];
    const vf beta = ((const vf *)m->beta)[cb];
    const vf k1 = ((const vf *)m->k1)[cb], k2 = ((const vf *)m->k2)[cb];

#define ROW(delta) back_row(hw, x, dy, mean, scale, beta, k1, k2, delta, dx)
    if (counts)
        WITH_DELTA(m->delta, ROW);
    else
        memset(dx, 0, hw * sizeof *dx);
#undef ROW
}

static void KERNEL(norm_back)(const struct cpu_shape *s, const float *x, const float *dy,
                              const struct cpu_norm *m, float *dx)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t n = 0; n < s->n; n++)
        for (size_t cb = 0; cb < s->cb; cb++) {
            const size_t offset = (n * s->cb + cb) * s->hw;
            norm_back_pixels(m, cb, n < s->valid, s->hw, (const vf *)x + offset,
                             (const vf *)dy + offset, (vf *)dx + offset);
        }
}

static void KERNEL(channel_sums)(const struct cpu_shape *s, const float *x, float *part)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t n = 0; n < s->valid; n++)
        for (size_t cb = 0; cb < s->cb; cb++) {
            const vf *p = (const vf *)(x + (n * s->cb + cb) * s->hw * BLOCK);
            vf a[2] = {ZERO, ZERO};
            for (size_t i = 0; i < s->hw; i++)
                a[i & 1] += p[i];
            *(vf *)(part + (n * s->cb + cb) * BLOCK) = a[0] + a[1];
        }
}

/* ---- layer norm: a pixel's blocks are hw apart ---------------------------------------------- */

static inline __attribute__((always_inline)) float lanes_sum(vf v)
{
    float sum = 0;

    for (int l = 0; l < BLOCK; l++)
        sum += v[l];
    return sum;
}

/* x - mean, but 0 in the lanes after the last channel */
static inline __attribute__((always_inline)) vf centred(vf x, float mean, size_t cb, size_t c)
{
    vi m;

    for (int l = 0; l < BLOCK; l++)
        m[l] = cb * BLOCK + (size_t)l < c ? -1 : 0;
    return (vf)((vi)(x - mean) & m);
}

/* Mean of a pixel's channels. Returns 1 / sigma. */
static inline __attribute__((always_inline)) float
layer_moments(const struct cpu_shape *s, size_t c, float eps, const vf *x, float *mean)
{
    vf sum = ZERO, sq = ZERO;

    for (size_t cb = 0; cb < s->cb; cb++)
        sum += x[cb * s->hw];
    *mean = lanes_sum(sum) / (float)c;
    for (size_t cb = 0; cb < s->cb; cb++) {
        const vf d = centred(x[cb * s->hw], *mean, cb, c);
        sq += d * d;
    }
    return 1 / sqrtf(lanes_sum(sq) / (float)c + eps);
}

static void KERNEL(layer_norm)(const struct cpu_shape *s, size_t c, float eps, const float *x,
                               const float *w, const float *b, float *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->hw; i++) {
        const size_t offset = i / s->hw * s->cb * s->hw + i % s->hw;
        const vf *px = (const vf *)x + offset;
        float mean;
        const float inv = layer_moments(s, c, eps, px, &mean);
        for (size_t cb = 0; cb < s->cb; cb++)
            ((vf *)y)[offset + cb * s->hw] =
                (px[cb * s->hw] - mean) * inv * ((const vf *)w)[cb] + ((const vf *)b)[cb];
    }
}

static void KERNEL(layer_norm_back)(const struct cpu_shape *s, size_t c, float eps, const float *x,
                                    const float *dy, const float *w, float *part, float *dx)
{
#pragma omp parallel for schedule(static)
    for (size_t n = 0; n < s->n; n++) {
        vf *out = (vf *)part + n * s->cb * 2;
        if (part)
            memset(out, 0, s->cb * 2 * sizeof *out);
        for (size_t q = 0; q < s->hw; q++) {
            const size_t offset = n * s->cb * s->hw + q;
            const vf *px = (const vf *)x + offset, *pdy = (const vf *)dy + offset;
            float mean;
            const float inv = layer_moments(s, c, eps, px, &mean);
            vf a = ZERO, b = ZERO;
            for (size_t cb = 0; cb < s->cb; cb++) {
                const vf z = centred(px[cb * s->hw], mean, cb, c) * inv, g = pdy[cb * s->hw];
                if (part) {
                    out[2 * cb] += g * z;
                    out[2 * cb + 1] += g;
                }
                a += g * ((const vf *)w)[cb];
                b += g * ((const vf *)w)[cb] * z;
            }
            const float k1 = lanes_sum(a) / (float)c, k2 = lanes_sum(b) / (float)c;
            for (size_t cb = 0; dx && cb < s->cb; cb++) {
                const vf z = centred(px[cb * s->hw], mean, cb, c) * inv;
                const vf g = pdy[cb * s->hw] * ((const vf *)w)[cb];
                ((vf *)dx)[offset + cb * s->hw] = (g - k1 - z * k2) * inv;
            }
        }
    }
}

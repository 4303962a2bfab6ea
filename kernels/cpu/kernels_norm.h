/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch norm and the activation behind it, included once an instruction set (see kernels.h). */

static inline __attribute__((always_inline)) vf activate(vf z, float delta)
{
    /* written so that a NaN stays a NaN */
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

static inline __attribute__((always_inline)) void
norm_row(size_t hw, const vf *x, vf mean, vf scale, vf beta, float delta, vf *pre, vf *y)
{
    for (size_t i = 0; i < hw; i++) {
        vf z = (x[i] - mean) * scale + beta;
        if (pre)
            pre[i] = z;
        y[i] = delta < 0 ? z : activate(z, delta);
    }
}

static void KERNEL(norm)(const struct cpu_shape *s, const float *x, const struct cpu_norm *m,
                         float *pre, float *y)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t n = 0; n < s->n; n++)
        for (size_t cb = 0; cb < s->cb; cb++) {
            const size_t at = (n * s->cb + cb) * s->hw * BLOCK;
            const vf mean = *(const vf *)(m->mean + cb * BLOCK);
            const vf scale = *(const vf *)(m->scale + cb * BLOCK);
            const vf beta = *(const vf *)(m->beta + cb * BLOCK);
            const vf *px = (const vf *)(x + at);
            vf *py = (vf *)(y + at);
            if (pre)
                norm_row(s->hw, px, mean, scale, beta, m->delta, (vf *)(pre + at), py);
            else if (m->delta < 0)
                norm_row(s->hw, px, mean, scale, beta, -1, NULL, py);
            else if (m->delta > 0)
                norm_row(s->hw, px, mean, scale, beta, m->delta, NULL, py);
            else
                norm_row(s->hw, px, mean, scale, beta, 0, NULL, py);
        }
}

static inline __attribute__((always_inline)) void back_sums_row(size_t hw, const vf *x,
                                                                const vf *dy, vf mean, vf scale,
                                                                vf beta, float delta, vf *out)
{
    vf a[4] = {ZERO, ZERO, ZERO, ZERO}, b[4] = {ZERO, ZERO, ZERO, ZERO};
    size_t i = 0;
    for (; i + 4 <= hw; i += 4)
        for (int u = 0; u < 4; u++) {
            vf d = x[i + (size_t)u] - mean, g = dy[i + (size_t)u];
            if (delta >= 0)
                g = activate_back(d * scale + beta, g, delta);
            a[u] += g;
            b[u] += g * d;
        }
    for (; i < hw; i++) {
        vf d = x[i] - mean, g = dy[i];
        if (delta >= 0)
            g = activate_back(d * scale + beta, g, delta);
        a[0] += g;
        b[0] += g * d;
    }
    out[0] = (a[0] + a[1]) + (a[2] + a[3]);
    out[1] = (b[0] + b[1]) + (b[2] + b[3]);
}

static void KERNEL(norm_back_sums)(const struct cpu_shape *s, const float *x, const float *dy,
                                   const struct cpu_norm *m, float *part)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t n = 0; n < s->valid; n++)
        for (size_t cb = 0; cb < s->cb; cb++) {
            const size_t at = (n * s->cb + cb) * s->hw * BLOCK;
            const vf mean = *(const vf *)(m->mean + cb * BLOCK);
            const vf scale = *(const vf *)(m->scale + cb * BLOCK);
            const vf beta = *(const vf *)(m->beta + cb * BLOCK);
            const vf *px = (const vf *)(x + at), *pdy = (const vf *)(dy + at);
            vf *out = (vf *)(part + (n * s->cb + cb) * 2 * BLOCK);
            if (m->delta == 0)
                back_sums_row(s->hw, px, pdy, mean, scale, beta, 0, out);
            else if (m->delta > 0)
                back_sums_row(s->hw, px, pdy, mean, scale, beta, m->delta, out);
            else
                back_sums_row(s->hw, px, pdy, mean, scale, beta, -1, out);
        }
}

static inline __attribute__((always_inline)) void back_row(size_t hw, const vf *x, const vf *dy,
                                                           vf mean, vf scale, vf beta, vf k1, vf k2,
                                                           float delta, vf *dx)
{
    for (size_t i = 0; i < hw; i++) {
        vf d = x[i] - mean, g = dy[i];
        if (delta >= 0)
            g = activate_back(d * scale + beta, g, delta);
        dx[i] = scale * (g - k1 - d * k2);
    }
}

static void KERNEL(norm_back)(const struct cpu_shape *s, const float *x, const float *dy,
                              const struct cpu_norm *m, const float *k1, const float *k2, float *dx)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t n = 0; n < s->n; n++)
        for (size_t cb = 0; cb < s->cb; cb++) {
            const size_t at = (n * s->cb + cb) * s->hw * BLOCK;
            const vf mean = *(const vf *)(m->mean + cb * BLOCK);
            const vf scale = *(const vf *)(m->scale + cb * BLOCK);
            const vf beta = *(const vf *)(m->beta + cb * BLOCK);
            const vf v1 = *(const vf *)(k1 + cb * BLOCK), v2 = *(const vf *)(k2 + cb * BLOCK);
            const vf *px = (const vf *)(x + at), *pdy = (const vf *)(dy + at);
            vf *pdx = (vf *)(dx + at);
            if (n >= s->valid)
                memset(pdx, 0, s->hw * sizeof(vf));
            else if (m->delta == 0)
                back_row(s->hw, px, pdy, mean, scale, beta, v1, v2, 0, pdx);
            else if (m->delta > 0)
                back_row(s->hw, px, pdy, mean, scale, beta, v1, v2, m->delta, pdx);
            else
                back_row(s->hw, px, pdy, mean, scale, beta, v1, v2, -1, pdx);
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

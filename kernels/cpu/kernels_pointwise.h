/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations, sums and pooling over blocked activations, included once per instruction set (see
 * kernels.h). */

static void KERNEL(relu)(size_t n, const float *x, float delta, float *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n / BLOCK; i++)
        ((vf *)y)[i] = activate(((const vf *)x)[i], delta);
}

static void KERNEL(relu_back)(size_t n, const float *x, const float *dy, float delta, float *dx)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n / BLOCK; i++)
        ((vf *)dx)[i] = activate_back(((const vf *)x)[i], ((const vf *)dy)[i], delta);
}

static void KERNEL(add)(size_t n, const float *a, const float *b, float *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n / BLOCK; i++)
        ((vf *)y)[i] = ((const vf *)a)[i] + ((const vf *)b)[i];
}

#define RANGE(NAME, name, ...)                                                                     \
    static void KERNEL(name)(float factor, size_t n, const float *x, const float *dy, float *y)    \
    {                                                                                              \
        _Pragma("omp simd") for (size_t i = 0; i < (dy ? n : 0); i++) y[i] =                       \
            dy[i] * mc_slope_##name(x[i], factor);                                                 \
        _Pragma("omp simd") for (size_t i = 0; i < (dy ? 0 : n); i++) y[i] =                       \
            mc_value_##name(x[i], factor);                                                         \
    }
MC_EACH_ACTIVATION(RANGE)
#undef RANGE

static void KERNEL(activation)(enum mc_op op, float factor, size_t n, const float *x,
                               const float *dy, float *y)
{
    enum { SOME = 4096 };
#define RANGE_OF(NAME, name, ...) [MC_OP_##NAME] = KERNEL(name),
    static void (*const RANGES[MC_N_OPS])(float, size_t, const float *, const float *,
                                          float *) = {MC_EACH_ACTIVATION(RANGE_OF)};
#undef RANGE_OF
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += SOME)
        RANGES[op](factor, n - i < SOME ? n - i : SOME, x + i, dy ? dy + i : NULL, y + i);
}

static void KERNEL(mul)(const struct cpu_shape *s, const float *x, const float *f, size_t image,
                        int each, float *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->cb; i++) {
        const size_t offset = i * s->hw, step = each ? 1 : 0;
        const vf *pf = (const vf *)(f + i / s->cb * image) + i % s->cb * (each ? s->hw : 1);
        for (size_t q = 0; q < s->hw; q++)
            ((vf *)y)[offset + q] = ((const vf *)x)[offset + q] * pf[q * step];
    }
}

static void KERNEL(dots)(const struct cpu_shape *s, const float *x, const float *dy, float *part)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->cb; i++) {
        const vf *px = (const vf *)x + i * s->hw, *pdy = (const vf *)dy + i * s->hw;
        vf a[2] = {ZERO, ZERO};
        for (size_t q = 0; q < s->hw; q++)
            a[q & 1] += px[q] * pdy[q];
        ((vf *)part)[i] = a[0] + a[1];
    }
}

static void KERNEL(max_pool)(const struct cpu_shape *s, const struct mc_window *w, const float *x,
                             float *y, int32_t *argmax)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->cb; i++) {
        const vf *p = (const vf *)x + i * (size_t)(w->ih * w->iw);
        for (int oh = 0; oh < w->oh; oh++)
            for (int ow = 0; ow < w->ow; ow++) {
                const struct mc_span r = mc_window_at(w, 0, oh), q = mc_window_at(w, 1, ow);
                const size_t pixel = i * (size_t)(w->oh * w->ow) + (size_t)(oh * w->ow + ow);
                vf best = p[r.from * w->iw + q.from];
                vi index = (vi)ZERO + (r.from * w->iw + q.from);
                for (int h = r.from; h < r.to; h++)
                    for (int c = q.from; c < q.to; c++) {
                        vf v = p[h * w->iw + c];
                        vi m = (v > best) | (v != v); /* a NaN wins and stays, as in PyTorch */
                        best = (vf)(((vi)v & m) | ((vi)best & ~m));
                        index = (((vi)ZERO + (h * w->iw + c)) & m) | (index & ~m);
                    }
                ((vf *)y)[pixel] = best;
                if (argmax)
                    ((vi *)argmax)[pixel] = index;
            }
    }
}

static void KERNEL(max_pool_back)(const struct cpu_shape *s, const struct mc_window *w,
                                  const float *dy, const int32_t *argmax, float *dx)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->cb; i++) {
        const size_t ihw = (size_t)(w->ih * w->iw), ohw = (size_t)(w->oh * w->ow);
        float *p = dx + i * ihw * BLOCK;
        memset(p, 0, ihw * BLOCK * sizeof *p);
        for (size_t j = 0; j < ohw; j++) {
            const size_t offset = (i * ohw + j) * BLOCK;
            /* the next plane: the hardware's prefetcher stops at each 4 KiB */
            __builtin_prefetch(argmax + offset + ohw * BLOCK);
            __builtin_prefetch(dy + offset + ohw * BLOCK);
            for (size_t b = 0; b < BLOCK; b++)
                p[(size_t)argmax[offset + b] * BLOCK + b] += dy[offset + b];
        }
    }
}

static void KERNEL(avg_pool)(const struct cpu_shape *s, const struct mc_window *w, const float *x,
                             float *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->cb; i++) {
        const vf *p = (const vf *)x + i * (size_t)(w->ih * w->iw);
        for (int oh = 0; oh < w->oh; oh++)
            for (int ow = 0; ow < w->ow; ow++) {
                const struct mc_span r = mc_window_at(w, 0, oh), q = mc_window_at(w, 1, ow);
                vf sum = ZERO;
                for (int h = r.from; h < r.to; h++)
                    for (int c = q.from; c < q.to; c++)
                        sum += p[h * w->iw + c];
                ((vf *)y)[i * (size_t)(w->oh * w->ow) + (size_t)(oh * w->ow + ow)] =
                    sum * (1.0f / (float)((r.to - r.from) * (q.to - q.from)));
            }
    }
}

static void KERNEL(avg_pool_back)(const struct cpu_shape *s, const struct mc_window *w,
                                  const float *dy, float *dx)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->cb; i++) {
        vf *p = (vf *)dx + i * (size_t)(w->ih * w->iw);
        memset(p, 0, (size_t)(w->ih * w->iw) * sizeof *p);
        for (int oh = 0; oh < w->oh; oh++)
            for (int ow = 0; ow < w->ow; ow++) {
                const struct mc_span r = mc_window_at(w, 0, oh), q = mc_window_at(w, 1, ow);
                vf g = ((const vf *)dy)[i * (size_t)(w->oh * w->ow) + (size_t)(oh * w->ow + ow)] *
                       (1.0f / (float)((r.to - r.from) * (q.to - q.from)));
                for (int h = r.from; h < r.to; h++)
                    for (int c = q.from; c < q.to; c++)
                        p[h * w->iw + c] += g;
            }
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations, sums and pooling over blocked activations, included once an instruction set (see
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

static void KERNEL(global_pool)(const struct cpu_shape *s, const float *x, float *y)
{
    const float share = 1.0f / (float)s->hw;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->cb; i++) {
        const vf *p = (const vf *)x + i * s->hw;
        vf sum = ZERO;
        for (size_t j = 0; j < s->hw; j++)
            sum += p[j];
        ((vf *)y)[i] = sum * share;
    }
}

static void KERNEL(global_pool_back)(const struct cpu_shape *s, const float *dy, float *dx)
{
    const float share = 1.0f / (float)s->hw;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->cb; i++) {
        vf *p = (vf *)dx + i * s->hw;
        vf g = ((const vf *)dy)[i] * share;
        for (size_t j = 0; j < s->hw; j++)
            p[j] = g;
    }
}

/* The part of a window that lies on the image: rows [h0, h1), columns [w0, w1). */
struct window_part {
    int h0, h1, w0, w1;
};

static inline struct window_part window_at(const struct mc_window *w, int oh, int ow)
{
    if (w->adaptive) {
        struct window_part a = {oh * w->ih / w->oh, ((oh + 1) * w->ih + w->oh - 1) / w->oh,
                                ow * w->iw / w->ow, ((ow + 1) * w->iw + w->ow - 1) / w->ow};
        return a;
    }
    struct window_part p = {oh * w->stride[0] - w->pad[0], 0, ow * w->stride[1] - w->pad[1], 0};
    p.h1 = p.h0 + w->kernel[0] < w->ih ? p.h0 + w->kernel[0] : w->ih;
    p.w1 = p.w0 + w->kernel[1] < w->iw ? p.w0 + w->kernel[1] : w->iw;
    p.h0 = p.h0 < 0 ? 0 : p.h0;
    p.w0 = p.w0 < 0 ? 0 : p.w0;
    return p;
}

static void KERNEL(max_pool)(const struct cpu_shape *s, const struct mc_window *w, const float *x,
                             float *y, int32_t *where)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->cb; i++) {
        const vf *p = (const vf *)x + i * (size_t)(w->ih * w->iw);
        for (int oh = 0; oh < w->oh; oh++)
            for (int ow = 0; ow < w->ow; ow++) {
                const struct window_part q = window_at(w, oh, ow);
                const size_t at = i * (size_t)(w->oh * w->ow) + (size_t)(oh * w->ow + ow);
                vf best = p[q.h0 * w->iw + q.w0];
                vi index = (vi)ZERO + (q.h0 * w->iw + q.w0);
                for (int h = q.h0; h < q.h1; h++)
                    for (int c = q.w0; c < q.w1; c++) {
                        vf v = p[h * w->iw + c];
                        vi m = (v > best) | (v != v); /* a NaN wins and stays, as in PyTorch */
                        best = (vf)(((vi)v & m) | ((vi)best & ~m));
                        index = (((vi)ZERO + (h * w->iw + c)) & m) | (index & ~m);
                    }
                ((vf *)y)[at] = best;
                if (where)
                    ((vi *)where)[at] = index;
            }
    }
}

static void KERNEL(max_pool_back)(const struct cpu_shape *s, const struct mc_window *w,
                                  const float *dy, const int32_t *where, float *dx)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < s->n * s->cb; i++) {
        const size_t ihw = (size_t)(w->ih * w->iw), ohw = (size_t)(w->oh * w->ow);
        float *p = dx + i * ihw * BLOCK;
        memset(p, 0, ihw * BLOCK * sizeof *p);
        for (size_t j = 0; j < ohw; j++) {
            const size_t at = (i * ohw + j) * BLOCK;
            for (size_t b = 0; b < BLOCK; b++)
                p[(size_t)where[at + b] * BLOCK + b] += dy[at + b];
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
                const struct window_part q = window_at(w, oh, ow);
                vf sum = ZERO;
                for (int h = q.h0; h < q.h1; h++)
                    for (int c = q.w0; c < q.w1; c++)
                        sum += p[h * w->iw + c];
                ((vf *)y)[i * (size_t)(w->oh * w->ow) + (size_t)(oh * w->ow + ow)] =
                    sum * (1.0f / (float)((q.h1 - q.h0) * (q.w1 - q.w0)));
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
                const struct window_part q = window_at(w, oh, ow);
                vf g = ((const vf *)dy)[i * (size_t)(w->oh * w->ow) + (size_t)(oh * w->ow + ow)] *
                       (1.0f / (float)((q.h1 - q.h0) * (q.w1 - q.w0)));
                for (int h = q.h0; h < q.h1; h++)
                    for (int c = q.w0; c < q.w1; c++)
                        p[h * w->iw + c] += g;
            }
    }
}

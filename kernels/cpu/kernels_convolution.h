/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, and the pixel copies that products.c needs. Included once per instruction
 * set (see kernels.h). */

/* Sums of an image's outputs times the pixels under element (kh, kw) of their windows. */
static inline vf window_dots(const struct mc_window *w, int kh, int kw, const vf *x, const vf *dy)
{
    const struct mc_span rows = mc_window_outputs(w, 0, kh), cols = mc_window_outputs(w, 1, kw);
    vf a = ZERO, b = ZERO;

    for (int h = rows.from; h < rows.to; h++) {
        const vf *px = x + (h * w->stride[0] - w->pad[0] + kh) * w->iw - w->pad[1] + kw;
        const vf *pdy = dy + h * w->ow;
        int c = cols.from;
        for (; c + 1 < cols.to; c += 2) {
            a += px[c * w->stride[1]] * pdy[c];
            b += px[(c + 1) * w->stride[1]] * pdy[c + 1];
        }
        if (c < cols.to)
            a += px[c * w->stride[1]] * pdy[c];
    }
    return a + b;
}

static void KERNEL(depthwise_grad)(size_t n, size_t c, const struct mc_window *w, const float *x,
                                   const float *dy, float *dw)
{
    const int taps = w->kernel[0] * w->kernel[1];
    const size_t cb = (c + BLOCK - 1) / BLOCK;

#pragma omp parallel for collapse(2) schedule(static)
    for (size_t j = 0; j < cb; j++)
        for (int t = 0; t < taps; t++) {
            double sums[BLOCK] = {0};
            for (size_t i = 0; i < n; i++) {
                const size_t plane = i * cb + j;
                const vf sum = window_dots(w, t / w->kernel[1], t % w->kernel[1],
                                           (const vf *)x + plane * (size_t)(w->ih * w->iw),
                                           (const vf *)dy + plane * (size_t)(w->oh * w->ow));
                for (int l = 0; l < BLOCK; l++)
                    sums[l] += (double)sum[l];
            }
            for (size_t l = 0; l < BLOCK && j * BLOCK + l < c; l++)
                dw[(j * BLOCK + l) * (size_t)taps + (size_t)t] = (float)sums[l];
        }
}

/* The weights of element t for a channel block, 0 after the last channel. */
static inline vf depthwise_weights(size_t c, size_t block, size_t taps, size_t t, const float *w)
{
    vf v = ZERO;

    for (size_t l = 0; l < BLOCK && block * BLOCK + l < c; l++)
        v[l] = w[(block * BLOCK + l) * taps + t];
    return v;
}

/* Element t for one image and channel block: y += weights * x; if `data`, x += weights * y. */
static inline void depthwise_element(const struct mc_window *w, int t, vf weights, int data, vf *x,
                                     vf *y)
{
    const int kh = t / w->kernel[1], kw = t % w->kernel[1];
    const struct mc_span rows = mc_window_outputs(w, 0, kh), cols = mc_window_outputs(w, 1, kw);

    for (int h = rows.from; h < rows.to; h++) {
        vf *px = x + (h * w->stride[0] - w->pad[0] + kh) * w->iw - w->pad[1] + kw;
        vf *py = y + h * w->ow;
        for (int c = cols.from; c < cols.to; c++)
            if (data)
                px[c * w->stride[1]] += weights * py[c];
            else
                py[c] += weights * px[c * w->stride[1]];
    }
}

static void KERNEL(depthwise)(size_t n, size_t c, const struct mc_window *w, int data,
                              const float *from, const float *weight, const float *bias, float *to)
{
    const size_t taps = (size_t)(w->kernel[0] * w->kernel[1]), cb = (c + BLOCK - 1) / BLOCK;
    const size_t in = (size_t)(w->ih * w->iw), out = (size_t)(w->oh * w->ow);
    const size_t written = data ? in : out;
    vf *x = (vf *)(uintptr_t)(data ? to : from), *y = (vf *)(uintptr_t)(data ? from : to);

#pragma omp parallel for schedule(static)
    for (size_t j = 0; j < cb; j++) {
        const vf first = bias ? depthwise_weights(c, j, 1, 0, bias) : ZERO;
        for (size_t i = 0; i < n; i++)
            for (size_t q = 0; q < written; q++)
                ((vf *)to)[(i * cb + j) * written + q] = first;
        for (size_t t = 0; t < taps; t++) {
            const vf v = depthwise_weights(c, j, taps, t, weight);
            for (size_t i = 0; i < n; i++)
                depthwise_element(w, (int)t, v, data, x + (i * cb + j) * in,
                                  y + (i * cb + j) * out);
        }
    }
}

/* Copies or adds one row of pixels of one image. */
static inline void move_pixels(const struct cpu_pixels *p, size_t row, float *x, float *matrix,
                               int add)
{
    const size_t image = row / p->rows, first = row % p->rows * p->step[0] + p->first[0];
    const size_t start = first * p->width + p->first[1];

    for (size_t k = 0; k < p->channels; k += BLOCK) {
        vf *from = (vf *)x + (image * p->channels / BLOCK + k / BLOCK) * p->hw + start;
        float *m = matrix + row * p->cols * p->channels + k;
        for (size_t j = 0; j < p->cols; j++, m += p->channels)
            if (add)
                from[j * p->step[1]] += *(const vf *)m;
            else
                *(vf *)m = from[j * p->step[1]];
    }
}

static void KERNEL(pixels_out)(const struct cpu_pixels *p, size_t n, const float *x, float *matrix)
{
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < n * p->rows; row++)
        move_pixels(p, row, (float *)(uintptr_t)x, matrix, 0);
}

static void KERNEL(pixels_add)(const struct cpu_pixels *p, size_t n, const float *matrix, float *x)
{
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < n * p->rows; row++)
        move_pixels(p, row, x, (float *)(uintptr_t)matrix, 1);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch from the data set: gather, augmentation (backend.h defines it), normalisation; one block
 * an image. */
#include "device.cuh"

extern "C" {
#include "augment.h"
}

/* One block: the row's samples; `valid` is the number of them in front of the first -1. */
static __global__ void begin_batch(size_t n, const int32_t *order, const int32_t *labels,
                                   uint32_t base, const struct mc_ctl *ctl, struct cuda_rows r)
{
    const int32_t *row = order + (size_t)ctl->row * n;
    double count = 0;

    for (size_t i = threadIdx.x; i < n; i += CUDA_THREADS) {
        r.samples[i] = row[i];
        r.ids[i] = (uint32_t)row[i] + base;
        r.labels[i] = row[i] < 0 ? 0 : labels[row[i]];
        count += row[i] >= 0;
    }
    count = block_sum(count);
    if (threadIdx.x == 0) {
        r.batch->ctl = *ctl;
        r.batch->valid = (uint32_t)count;
    }
}

void cuda_begin_batch(struct cuda *be, size_t n, const struct mc_source *src,
                      const struct mc_ctl *ctl, const struct cuda_rows *r)
{
    LAUNCH_BLOCKS(be, begin_batch, 1, n, (const int32_t *)src->order->data,
                  (const int32_t *)src->labels->data, src->base, ctl, *r);
}

static __device__ float grey(const float *x, int c, int hw)
{
    return c < 3 ? x[0] : .2989f * x[0] + .587f * x[hw] + .114f * x[2 * hw];
}

/* The whole block; each thread has changed, and changes, pixels of its own. */
static __device__ void change_contrast(float *x, int c, int hw, float f)
{
    double sum = 0;

    for (int q = (int)threadIdx.x; q < hw; q += CUDA_THREADS)
        sum += (double)grey(x + q, c, hw);
    const float rest = (1 - f) * (float)(block_sum(sum) / (double)hw);
    for (int q = (int)threadIdx.x; q < hw; q += CUDA_THREADS)
        for (int ch = 0; ch < c; ch++)
            x[ch * hw + q] = mc_unit_of(f * x[ch * hw + q] + rest);
}

static __device__ void change_saturation(float *x, int c, int hw, float f)
{
    for (int q = (int)threadIdx.x; c == 3 && q < hw; q += CUDA_THREADS) {
        const float rest = (1 - f) * grey(x + q, c, hw);
        for (int ch = 0; ch < 3; ch++)
            x[ch * hw + q] = mc_unit_of(f * x[ch * hw + q] + rest);
    }
}

struct take {
    const void *images;
    int bytes; /* uint8 pixels, not float32 */
    struct mc_augment augment;
    int augments, colours;
    uint32_t purpose;
    int c, h, w;
    int normalise;
};

static __global__ void take_pixels(struct take t, struct cuda_rows r, struct cuda_scaling s,
                                   float *out)
{
    __shared__ struct mc_draw draw;
    const int hw = t.h * t.w, raw = t.colours || !t.normalise;
    const size_t i = blockIdx.x;
    float *x = out + i * (size_t)(t.c * hw);

    if (i >= r.batch->valid) { /* the whole block */
        for (int q = (int)threadIdx.x; q < t.c * hw; q += CUDA_THREADS)
            x[q] = 0;
        return;
    }
    const size_t at = (size_t)r.samples[i] * (size_t)(t.c * hw);
    if (threadIdx.x == 0 && t.augments)
        draw = mc_draw_of(&t.augment, &r.batch->ctl, t.purpose, r.ids[i]);
    __syncthreads();
    const struct mc_draw d = draw;
    for (int q = (int)threadIdx.x; q < hw; q += CUDA_THREADS) {
        const int from =
            t.augments ? mc_draw_source(&d, d.affine.on, t.h, t.w, q / t.w, q % t.w) : q;
        for (int ch = 0; ch < t.c; ch++) {
            const float *byte = s.byte + (raw ? MC_MAX_CHANNELS_IN : ch) * 256;
            const size_t px = at + (size_t)(ch * hw + from);
            float v = byte[0];
            if (from >= 0 && t.bytes)
                v = byte[((const uint8_t *)t.images)[px]];
            else if (from >= 0)
                v = raw ? ((const float *)t.images)[px]
                        : ((const float *)t.images)[px] * s.scale[ch] + s.shift[ch];
            x[ch * hw + q] = v;
        }
    }
    if (!t.colours)
        return;
    for (int second = 0; second < 2; second++)
        if (second == d.saturation_first && t.augment.contrast > 0)
            change_contrast(x, t.c, hw, d.contrast);
        else if (second != d.saturation_first && t.augment.saturation > 0)
            change_saturation(x, t.c, hw, d.saturation);
    for (int q = (int)threadIdx.x; t.normalise && q < hw; q += CUDA_THREADS)
        for (int ch = 0; ch < t.c; ch++)
            x[ch * hw + q] = x[ch * hw + q] * s.scale[ch] + s.shift[ch];
}

void cuda_take_pixels(struct cuda *be, const struct mc_source *src, size_t n, int c, int h, int w,
                      const struct cuda_rows *r, const struct cuda_scaling *s, int normalise,
                      float *out)
{
    struct take t = {};

    t.images = src->images->data;
    t.bytes = src->pixels == MC_U8;
    if (src->augment) {
        t.augment = *src->augment;
        t.colours = mc_augment_jitters(&t.augment);
        t.augments = mc_augment_any(&t.augment);
    }
    t.purpose = src->purpose;
    t.c = c;
    t.h = h;
    t.w = w;
    t.normalise = normalise;
    LAUNCH_BLOCKS(be, take_pixels, n, t, *r, *s, out);
}

static __global__ void scale_pixels(size_t n, struct cuda_shape sh, struct cuda_scaling s,
                                    const float *from, float *to)
{
    for
        EACH(i, n)
    if (i / sh.image < sh.batch->valid)
        to[i] = from[i] * s.scale[i / sh.hw % sh.c] + s.shift[i / sh.hw % sh.c];
}

void cuda_scale_pixels(struct cuda *be, const struct cuda_shape *sh, const struct cuda_scaling *s,
                       const float *from, float *to)
{
    LAUNCH_EACH(be, scale_pixels, sh->n * sh->image, *sh, *s, from, to);
}

static __global__ void unscale_grad(size_t n, struct cuda_shape sh, struct cuda_scaling s,
                                    const float *from, float *to)
{
    for
        EACH(i, n)
    to[i] = from[i] * (1 / s.std[i / sh.hw % sh.c]);
}

void cuda_unscale_grad(struct cuda *be, const struct cuda_shape *sh, const struct cuda_scaling *s,
                       const float *from, float *to)
{
    LAUNCH_EACH(be, unscale_grad, sh->n * sh->image, *sh, *s, from, to);
}

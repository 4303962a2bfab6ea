/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch from the data set: samples, gather, augmentation (see backend.h), normalization;
 * IMAGE_BLOCKS blocks per image. */
#include "kernels/cuda/device.cuh"

extern "C" {
#include "kernels/augment.h"
}

static __device__ float grey(const float *x, int c)
{
    return c < 3 ? x[0] : .2989f * x[0] + .587f * x[1] + .114f * x[2];
}

static __device__ void change_saturation(float *x, int c, float f)
{
    const float rest = (1 - f) * grey(x, c);

    for (int k = 0; c == 3 && k < 3; k++)
        x[k] = mc_clamp(f * x[k] + rest, 0, 1);
}

struct batch_args {
    const void *images;
    const int32_t *order, *labels;
    uint32_t base;
    const struct mc_ctl *ctl; /* NULL: the batch has already started */
    int bytes;                /* uint8 pixels, not float32 */
    struct mc_augment augment;
    int augments, colours;
    uint32_t purpose;
    int c, h, w;
    int normalise;
};

/* Read output pixel q of the image whose numbers begin at `start`: C numbers, normalized unless colours change first. */
static __device__ void fetch(const struct batch_args *t, const struct cuda_scaling *s,
                             const struct mc_draw *d, size_t start, int q, float *x)
{
    const int from =
        t->augments ? mc_draw_source(d, d->affine.on, t->h, t->w, q / t->w, q % t->w) : q;
    const int hw = t->h * t->w, raw = t->colours || !t->normalise;

    for (int k = 0; k < t->c; k++) {
        const float *byte = s->byte + (raw ? MC_MAX_CHANNELS_IN : k) * 256;
        const size_t px = start + (size_t)(k * hw + from);
        x[k] = byte[0];
        if (from >= 0 && t->bytes)
            x[k] = byte[((const uint8_t *)t->images)[px]];
        else if (from >= 0)
            x[k] = raw ? ((const float *)t->images)[px]
                       : ((const float *)t->images)[px] * s->scale[k] + s->shift[k];
    }
    if (t->colours && d->saturation_first && t->augment.saturation > 0)
        change_saturation(x, t->c, d->saturation);
}

/* The constant that a change of contrast adds, from the image's mean grey. The whole block calls
 * it. */
static __device__ float contrast_rest(const struct batch_args *t, const struct cuda_scaling *s,
                                      const struct mc_draw *d, size_t start)
{
    const int hw = t->h * t->w;
    float x[MC_MAX_CHANNELS_IN];
    double sum = 0;

    for (int q = (int)threadIdx.x; q < hw; q += CUDA_THREADS) {
        fetch(t, s, d, start, q, x);
        sum += (double)grey(x, t->c);
    }
    return (1 - d->contrast) * (float)(block_sum(sum) / (double)hw);
}

#define IMAGE_BLOCKS 4 /* one block per image would wait for each of its pixels in turn */

/* Store sample i of the row. A whole block calls it. Image 0's block also counts the batch's
 * samples, which precede the first -1. */
static __device__ void begin_image(const struct batch_args *t, const int32_t *row, uint32_t n,
                                   const struct cuda_rows *r, uint32_t i)
{
    double count = 0;

    if (threadIdx.x == 0) {
        r->samples[i] = row[i];
        r->ids[i] = (uint32_t)row[i] + t->base;
        r->labels[i] = row[i] < 0 ? 0 : t->labels[row[i]];
    }
    if (i > 0)
        return;
    for (uint32_t k = threadIdx.x; k < n; k += CUDA_THREADS)
        count += row[k] >= 0;
    count = block_sum(count);
    if (threadIdx.x == 0) {
        r->batch->ctl = *t->ctl;
        r->batch->valid = (uint32_t)count;
    }
}

template <class T>
static __global__ void read_pixels(struct batch_args t, struct cuda_shape sh, struct cuda_rows r,
                                   struct cuda_scaling s, T *out)
{
    __shared__ struct mc_draw draw;
    const int hw = t.h * t.w;
    const uint32_t i = blockIdx.x / IMAGE_BLOCKS, part = blockIdx.x % IMAGE_BLOCKS;
    const int first = (int)(part * CUDA_THREADS + threadIdx.x), step = IMAGE_BLOCKS * CUDA_THREADS;
    const int32_t *row = t.ctl ? t.order + (size_t)t.ctl->row * sh.n : NULL;
    const int32_t sample = row ? row[i] : r.samples[i];
    T *to = out + i * sh.image;
    float x[MC_MAX_CHANNELS_IN], rest = 0;

    if (row && part == 0)
        begin_image(&t, row, sh.n, &r, i);
    if (sample < 0) { /* the same for the whole block */
        for (int q = first; q < hw; q += step)
            for (int k = 0; k < t.c; k++)
                set(&to[(uint32_t)k * sh.channel + (uint32_t)q * sh.pixel], 0);
        return;
    }
    const size_t start = (size_t)sample * (size_t)(t.c * hw);
    if (threadIdx.x == 0 && t.augments)
        draw = mc_augment_draw(&t.augment, t.ctl ? t.ctl : &r.batch->ctl, t.purpose,
                               (uint32_t)sample + t.base);
    __syncthreads();
    const struct mc_draw d = draw;
    if (t.colours && t.augment.contrast > 0)
        rest = contrast_rest(&t, &s, &d, start);
    for (int q = first; q < hw; q += step) {
        fetch(&t, &s, &d, start, q, x);
        for (int k = 0; t.colours && t.augment.contrast > 0 && k < t.c; k++)
            x[k] = mc_clamp(d.contrast * x[k] + rest, 0, 1);
        if (t.colours && !d.saturation_first && t.augment.saturation > 0)
            change_saturation(x, t.c, d.saturation);
        for (int k = 0; k < t.c; k++) {
            const float v = t.colours && t.normalise ? x[k] * s.scale[k] + s.shift[k] : x[k];
            set(&to[(uint32_t)k * sh.channel + (uint32_t)q * sh.pixel], v);
        }
    }
}

void cuda_read_pixels(struct cuda *be, const struct mc_source *src, const struct mc_ctl *ctl,
                      const struct cuda_rows *r, const struct cuda_scaling *s,
                      const struct cuda_pixels_out *out)
{
    const struct cuda_shape *sh = &out->shape;
    struct batch_args t = {};

    t.images = src->images->data;
    t.order = (const int32_t *)src->order->data;
    t.labels = (const int32_t *)src->labels->data;
    t.base = src->base;
    t.ctl = ctl;
    t.bytes = src->pixels == MC_U8;
    if (src->augment) {
        t.augment = *src->augment;
        t.colours = mc_augment_jitters(&t.augment);
        t.augments = mc_augment_any(&t.augment);
    }
    t.purpose = src->purpose;
    t.c = (int)sh->c;
    t.h = out->h;
    t.w = out->w;
    t.normalise = out->normalise;
    cuda_report_bytes((double)sh->n * sh->c * sh->hw * (t.bytes ? 1 : 4) + cuda_bytes(sh));
    WITH_TYPE(sh->type,
              LAUNCH_BLOCKS(be, read_pixels, IMAGE_BLOCKS * sh->n, t, *sh, *r, *s, (T *)out->x));
}

/* Offset of number `element` of (N,C,HW), its image and its channel. */
static __device__ inline uint32_t place_of(const struct cuda_shape *s, uint32_t element,
                                           uint32_t *image, uint32_t *channel)
{
    *image = element / (s->c * s->hw);
    *channel = element / s->hw % s->c;
    return *image * s->image + *channel * s->channel + element % s->hw * s->pixel;
}

template <class T>
static __global__ void scale_pixels(uint32_t n, struct cuda_shape sh, struct cuda_scaling s,
                                    const float *from, T *to)
{
    EACH (element, n) {
        uint32_t i, k;
        const uint32_t place = place_of(&sh, element, &i, &k);
        if (i < sh.batch->valid)
            set(&to[place], from[element] * s.scale[k] + s.shift[k]);
    }
}

void cuda_scale_pixels(struct cuda *be, const struct cuda_shape *sh, const struct cuda_scaling *s,
                       const float *from, void *to)
{
    WITH_TYPE(sh->type,
              LAUNCH_EACH(be, scale_pixels, sh->n * sh->c * sh->hw, *sh, *s, from, (T *)to));
}

template <class T>
static __global__ void unscale_grad(uint32_t n, struct cuda_shape sh, struct cuda_scaling s,
                                    const T *from, const float *scale, float *to)
{
    const float by = scale ? 1 / *scale : 1.0f;

    EACH (element, n) {
        uint32_t i, k;
        const uint32_t place = place_of(&sh, element, &i, &k);
        to[element] = value(from[place]) * by * (1 / s.std[k]);
    }
}

void cuda_unscale_grad(struct cuda *be, const struct cuda_shape *sh, const struct cuda_scaling *s,
                       const void *from, const float *scale, float *to)
{
    WITH_TYPE(sh->type, LAUNCH_EACH(be, unscale_grad, sh->n * sh->c * sh->hw, *sh, *s,
                                    (const T *)from, scale, to));
}

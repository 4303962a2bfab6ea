/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch from the data set: gather, augmentation (backend.h defines it), normalisation; one block
 * an image. */
#include "device.cuh"

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

/* A turn about the centre, and a division by a scale. */
struct turn {
    int on;
    double cosine, sine;
};

/* What an augmentation does to one image: where output pixel (y, x) comes from, and its colours. */
struct draw {
    int flip, dy, dx, saturation_first;
    struct turn rotate, affine;
    float contrast, saturation;
};

static __host__ __device__ int moves_more(const struct mc_augment *a)
{
    return a->turn > 0 || a->scale > 0;
}

static __host__ __device__ int jitters(const struct mc_augment *a)
{
    return a->contrast > 0 || a->saturation > 0;
}

static __device__ float factor(float range, uint32_t bits)
{
    return 1 + range * (2 * mc_rng_unit(bits) - 1);
}

static __device__ struct draw draw_of(const struct mc_augment *a, const struct mc_ctl *ctl,
                                      uint32_t purpose, uint32_t sample)
{
    const struct mc_rng4 r = mc_rng(ctl->seed, purpose, ctl->epoch, sample, 0);
    const double radians = 3.14159265358979323846 / 180;
    const double degrees = (double)a->rotate * (2 * (double)mc_rng_unit(r.v[0]) - 1);
    struct draw d = {};

    d.rotate.on = a->rotate > 0;
    d.rotate.cosine = cos(degrees * radians);
    d.rotate.sine = sin(degrees * radians);
    d.flip = a->flip && mc_rng_below(r.v[1], 2);
    if (a->pad) {
        d.dy = (int)mc_rng_below(r.v[2], (uint32_t)(2 * a->pad + 1)) - a->pad;
        d.dx = (int)mc_rng_below(r.v[3], (uint32_t)(2 * a->pad + 1)) - a->pad;
    }
    if (moves_more(a) || jitters(a)) {
        const struct mc_rng4 more = mc_rng(ctl->seed, purpose, ctl->epoch, sample, 1);
        const struct mc_rng4 last = mc_rng(ctl->seed, purpose, ctl->epoch, sample, 2);
        const double angle = (double)a->turn * (2 * (double)mc_rng_unit(more.v[0]) - 1) * radians;
        const double scale = (double)factor(a->scale, more.v[1]);
        d.affine.on = moves_more(a);
        d.affine.cosine = cos(angle) / scale;
        d.affine.sine = sin(angle) / scale;
        d.contrast = factor(a->contrast, more.v[2]);
        d.saturation = factor(a->saturation, more.v[3]);
        d.saturation_first = (int)mc_rng_below(last.v[0], 2);
    }
    return d;
}

/* Pixel (y, x) becomes the nearest one to where it comes from; 0: that is outside. */
static __device__ int turned(const struct turn *t, int h, int w, int *y, int *x)
{
    const double cy = (h - 1) * .5, cx = (w - 1) * .5, ry = *y - cy, rx = *x - cx;
    const double fy = t->cosine * ry - t->sine * rx + cy + .5;
    const double fx = t->cosine * rx + t->sine * ry + cx + .5;

    *y = (int)fy;
    *x = (int)fx;
    return fy >= 0 && fy < h && fx >= 0 && fx < w;
}

/* Source pixel of output pixel q, or -1 (black). */
static __device__ int source_of(const struct draw *d, int h, int w, int q)
{
    int y = q / w, x = q % w, inside = 1;

    if (d->affine.on)
        inside = turned(&d->affine, h, w, &y, &x);
    y += d->dy;
    x += d->dx;
    inside = inside && y >= 0 && y < h && x >= 0 && x < w;
    if (d->flip)
        x = w - 1 - x;
    if (d->rotate.on && inside)
        inside = turned(&d->rotate, h, w, &y, &x);
    return inside ? y * w + x : -1;
}

static __device__ float unit_of(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
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
            x[ch * hw + q] = unit_of(f * x[ch * hw + q] + rest);
}

static __device__ void change_saturation(float *x, int c, int hw, float f)
{
    for (int q = (int)threadIdx.x; c == 3 && q < hw; q += CUDA_THREADS) {
        const float rest = (1 - f) * grey(x + q, c, hw);
        for (int ch = 0; ch < 3; ch++)
            x[ch * hw + q] = unit_of(f * x[ch * hw + q] + rest);
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
    __shared__ struct draw draw;
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
        draw = draw_of(&t.augment, &r.batch->ctl, t.purpose, r.ids[i]);
    __syncthreads();
    const struct draw d = draw;
    for (int q = (int)threadIdx.x; q < hw; q += CUDA_THREADS) {
        const int from = t.augments ? source_of(&d, t.h, t.w, q) : q;
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
        t.colours = jitters(&t.augment);
        t.augments = t.augment.rotate > 0 || t.augment.flip || t.augment.pad ||
                     moves_more(&t.augment) || t.colours;
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

/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU backend's own kernels, one table per instruction set. The same source, kernels_*.h, is
 * compiled for AVX-512 (channels in blocks of 16), AVX2 (blocks of 8) and the portable baseline
 * (blocks of 8, the compiler's vectors). backend_cpu.c picks the table at run time.
 *
 * Activations have oneDNN's layout nChw16c or nChw8c: (N, C/b, H, W, b) with b channels in a block,
 * the last block padded with zeros. Letters: N images, of which the first `valid` count, CB channel
 * blocks, HW pixels. A vector "of channels" has CB * b floats.
 *
 * Sums are split at images or at fixed chunks, never at threads, so a kernel's bits do not depend
 * on the number of threads. The exceptions are wino_grad and oneDNN, where each thread has its own
 * sum. The number of threads is therefore one of the backend's facts. */
#ifndef MC_CPU_KERNELS_H
#define MC_CPU_KERNELS_H

#include "kernels/window.h"
#include "libcommon/base/joint_moments.h"

#include <stddef.h>
#include <stdint.h>

/* A blocked activation: N images of CB blocks of HW pixels. */
struct cpu_shape {
    size_t n, valid, cb, hw;
};

/* A normalization and the operation after it. delta < 0: none, 0: ReLU, > 0: Huber's ReLU. */
struct cpu_norm {
    const float *mean, *scale, *beta; /* per channel: z = (x - mean) * scale + beta */
    const float *k1, *k2;             /* per channel, backward */
    float delta;
};

/* A kernel of a batch norm that a pass of a convolution computes. Forward: norm(), just before the
 * pass reads the result; data: norm_back_sums(), of the gradient that it has just written;
 * weights: norm_back(), just before it reads the result. x: NULL if there is none. */
struct cpu_fused {
    struct cpu_norm m;
    const float *x, *second; /* second: `other`, or norm_back()'s dy */
    float *to;               /* y, dz (may be NULL) or dx */
    float *part;             /* norm_back_sums()'s, otherwise NULL */
    size_t valid;
};

/* A 3x3 convolution of stride 1 in tiles of 4x4 output pixels, `rows` rows of tiles at a time.
 * group: the number of their tiles, rounded up to a multiple of 16. */
struct cpu_wino {
    size_t n, icb, ocb, tiles_h, tiles_w, rows, group;
    int ih, iw, oh, ow, pad;
    int add;     /* to y, instead of overwriting it */
    int threads; /* capacity of work and du */
    struct cpu_fused norm;
};
/* Distance in blocks between the 36 planes: odd, or all would map to one set of the cache. */
#define CPU_WINO_PLANE(cb, group) ((cb) * (group) + 1)
/* Floats of work per thread. */
#define CPU_WINO_WORK(c, b)                                                                        \
    ((36 * (CPU_WINO_PLANE((c)->icb, (c)->group) + CPU_WINO_PLANE((c)->ocb, (c)->group)) +         \
      6 * (4 * (c)->tiles_w + 2)) *                                                                \
     (size_t)(b))

/* A grid of pixels of a blocked activation: rows by cols, from pixel `first` in steps of `step`.
 * channels: including the last block's padding; width and hw: the image's. */
struct cpu_pixels {
    size_t channels, width, hw, rows, cols, first[2], step[2];
};

/* The joint moments of channels [c0, c0 + k) of two activations of the same shape, which are added
 * to total, MC_MOMENTS_SIZE(k) doubles. work: cpu_moments_work() doubles, which
 * are and remain 0. */
struct cpu_moments {
    struct cpu_shape s;
    const float *x, *y;
    size_t c0, k;
    double *work, *total;
};
/* Number of chunks of this many samples, each with at least 2^21 products and 1024 samples. Taps of
 * more than 128 channels are not split: they have enough tiles. */
static inline size_t cpu_moments_chunks(size_t k, size_t samples)
{
    const size_t chunks = k * k > 1 << 11 ? samples >> 10 : k * k * samples >> 21;
    return k > 128 || chunks < 1 ? 1 : chunks > 8 ? 8 : chunks;
}
static inline size_t cpu_moments_work(size_t k, size_t samples)
{
    const size_t chunks = cpu_moments_chunks(k, samples);
    return chunks > 1 ? chunks * MC_MOMENTS_SIZE(k) : 0;
}

struct mc_ball;

/* struct mc_sgd for one row. */
struct cpu_sgd {
    float *p, *m;              /* (n) */
    const float *grad, *point; /* (n) */
    float lr, coef, momentum, decay;
    int nesterov;
};

struct cpu_kernels {
    const char *name;
    int block;

    /* part[n][cb][2][b]: sums of x - first and of its square over the image's pixels. first is the
     * batch's first pixel, which avoids cancellation. */
    void (*stats)(const struct cpu_shape *s, const float *x, float *part);
    /* y = act(z + other); other may be NULL; pre (may be NULL) = z + other. y may be x. */
    void (*norm)(const struct cpu_shape *s, const float *x, const float *other,
                 const struct cpu_norm *m, float *pre, float *y);
    /* part[n][cb][2][b]: sums of dz and of dz * (x - mean), dz = dy * act'(z + other). dz may be
     * dy, or NULL without other. */
    void (*norm_back_sums)(const struct cpu_shape *s, const float *x, const float *other,
                           const float *dy, const struct cpu_norm *m, float *part, float *dz);
    /* dx = scale * (dz - k1 - (x - mean) * k2), 0 where masked; dx may be dy. */
    void (*norm_back)(const struct cpu_shape *s, const float *x, const float *dy,
                      const struct cpu_norm *m, float *dx);
    /* part[n][cb][b]: sums of x over the image's pixels. */
    void (*channel_sums)(const struct cpu_shape *s, const float *x, float *part);

    void (*relu)(size_t n, const float *x, float delta, float *y);
    void (*relu_back)(size_t n, const float *x, const float *dy, float delta, float *dx);
    void (*add)(size_t n, const float *a, const float *b, float *y); /* y may be a */
    /* y = op(x); if dy is not NULL, dy times the slope at x. y may be x or dy. factor: see
     * kernels/activation.h */
    void (*activation)(enum mc_op op, float factor, size_t n, const float *x, const float *dy,
                       float *y);
    /* y = x * f. `image` is the distance in floats between the factors of two images (0: all images
     * share them). Factors are per channel (each 0) or per channel and pixel. y may be x. */
    void (*mul)(const struct cpu_shape *s, const float *x, const float *f, size_t image, int each,
                float *y);
    /* part[n][cb][b]: sums of x * dy over the image's pixels. */
    void (*dots)(const struct cpu_shape *s, const float *x, const float *dy, float *part);
    /* For each pixel's c channels: y = z * w + b, z = (x - mean) / sigma; y may be x. w, b: of
     * channels, 0 after the last. */
    void (*layer_norm)(const struct cpu_shape *s, size_t c, float eps, const float *x,
                       const float *w, const float *b, float *y);
    /* part[n][cb][2][b] (NULL: not needed): sums of dy * z and of dy. dx (NULL: not needed) may be
     * dy. */
    void (*layer_norm_back)(const struct cpu_shape *s, size_t c, float eps, const float *x,
                            const float *dy, const float *w, float *part, float *dx);
    /* argmax[n][cb][pixel][b]: input pixel of the maximum; NULL: not needed. */
    void (*max_pool)(const struct cpu_shape *s, const struct mc_window *w, const float *x, float *y,
                     int32_t *argmax);
    void (*max_pool_back)(const struct cpu_shape *s, const struct mc_window *w, const float *dy,
                          const int32_t *argmax, float *dx);
    void (*avg_pool)(const struct cpu_shape *s, const struct mc_window *w, const float *x,
                     float *y);
    void (*avg_pool_back)(const struct cpu_shape *s, const struct mc_window *w, const float *dy,
                          float *dx);

    /* Winograd (kernels_winograd.h). u: 36 * IC * OC transformed weights, channels rounded up to
     * blocks; work: CPU_WINO_WORK per thread; du: 36 * IC * OC per thread. */
    void (*wino_weights_in)(const struct cpu_wino *c, size_t ic, size_t oc, int data,
                            const float *w, float *u);
    void (*wino_conv)(const struct cpu_wino *c, const float *x, const float *u, float *y,
                      float *work);
    void (*wino_grad)(const struct cpu_wino *c, const float *x, const float *dy, float *du,
                      float *work);
    void (*wino_weights_out)(const struct cpu_wino *c, size_t ic, size_t oc, const float *du,
                             size_t threads, float *dw);

    /* A depthwise convolution of n images of c channels; weight (c, kernel), bias (c) or NULL. If
     * `data`, computes the input's gradient from the output's. depthwise_grad: the weights'
     * gradient. */
    void (*depthwise)(size_t n, size_t c, const struct mc_window *w, int data, const float *from,
                      const float *weight, const float *bias, float *to);
    void (*depthwise_grad)(size_t n, size_t c, const struct mc_window *w, const float *x,
                           const float *dy, float *dw);

    /* Copies a grid of pixels of n images to a matrix, one row per pixel; adds the rows to the
     * pixels. */
    void (*pixels_out)(const struct cpu_pixels *p, size_t n, const float *x, float *matrix);
    void (*pixels_add)(const struct cpu_pixels *p, size_t n, const float *matrix, float *x);

    void (*sgd)(size_t n, const struct cpu_sgd *s);
    void (*lincomb)(size_t n, float *dst, size_t k, const float *const *src, const float *coef);
    double (*sumsq)(size_t n, const float *x, double *part); /* part: CPU_PARTS */
    /* x[i] = mc_ball_sign_step of each number (kernels/ball.h) */
    void (*sign_step)(const struct mc_ball *b, size_t n, const float *clean, const float *grad,
                      float *x);

    void (*moments)(const struct cpu_moments *tap);
};

#define CPU_PARTS 4096

extern const struct cpu_kernels cpu_kernels_avx512, cpu_kernels_avx2, cpu_kernels_portable;

#endif

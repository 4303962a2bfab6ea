/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA backend's own kernels: functions that launch them, each with the name of its CPU
 * counterpart in kernels/cpu. All pointers are the device's. Nothing waits; cuda_check stores
 * failures.
 *
 * Sums over many elements are in float64, in an order that depends only on the shapes. No float is
 * added atomically. Every run therefore writes the same bytes.
 *
 * Letters: N images of which the first batch->valid count, C channels, HW pixels. Activations and
 * their gradients are void, of the shape's type; all arithmetic is in float32. If `add`, the result
 * is added to the gradient dx. */
#ifndef MC_CUDA_KERNELS_H
#define MC_CUDA_KERNELS_H

#include "kernels/buf.h"
#include "kernels/functions.h"
#include "kernels/window.h"

#include <cuda_runtime_api.h>

#define MC_CUDA_REASON 400

struct cuda;

/* The batch that a plan has loaded. */
struct cuda_batch {
    struct mc_ctl ctl; /* control values of the last load or forward */
    uint32_t valid;
    double objective; /* sum over images and heads of the last forward */
};

/* Type of activations and their gradients. */
enum cuda_type { CUDA_F32, CUDA_BF16, CUDA_F16 };
static inline size_t cuda_type_size(enum cuda_type t)
{
    return t == CUDA_F32 ? 4 : 2;
}

/* A plan's values per image (B), and the batch. */
struct cuda_rows {
    struct cuda_batch *batch;
    int32_t *labels, *samples;
    uint32_t *ids;         /* keys of the images' random numbers */
    float *loss, *correct; /* main head */
    double *head;          /* a head's losses */
};

/* Loss scales, powers of two: factors of the gradients of f16's activations, and of parameters
 * until cuda_finish_gradients. */
struct cuda_loss_scale {
    float scale;       /* for passes to parameters */
    float steps;       /* number of such passes since it changed, none of which overflowed */
    float last;        /* the scale of the last such pass */
    float pixels;      /* for passes to the pixels alone: constant */
    uint32_t overflow; /* set if the current pass overflowed */
};

/* Scaling of pixels: byte[c][v] = (v/255 - mean) / std; byte[MC_MAX_CHANNELS_IN][v] = v/255. */
struct cuda_scaling {
    const float *byte; /* (MC_MAX_CHANNELS_IN + 1, 256) */
    float scale[MC_MAX_CHANNELS_IN], shift[MC_MAX_CHANNELS_IN], std[MC_MAX_CHANNELS_IN];
};

/* Layout of activations: image i, channel k, pixel q is at i * image + k * channel + q * pixel.
 * Channels first: channel is HW, pixel 1. Channels last, also if HW is 1: channel is 1, pixel the
 * stored channels. Packed: image is C * HW. Fewer than 2^31 numbers. */
struct cuda_shape {
    uint32_t n, c, hw, image, channel, pixel;
    enum cuda_type type;
    const struct cuda_batch *batch;
};

/* Layout of a tensor that has a shape's channels side by side but other strides. */
struct cuda_place {
    uint32_t image, pixel;
};

/* A batch norm's vectors (C): z = (x - mean) * scale + beta. Then no activation (delta < 0), ReLU
 * (0) or Huber's ReLU. k1, k2: backward pass; inv: 1/sigma. */
struct cuda_norm {
    float *mean, *scale, *beta, *k1, *k2, *inv;
    float delta;
    uint32_t groups; /* number of groups of channels; group norm only */
};

/* Rows that are `row` numbers apart. */
struct cuda_from_rows {
    const void *data;
    size_t row;
};
struct cuda_to_rows {
    void *data;
    size_t row;
};

/* Size of x, the place in x of y's first entry, and the width of y. */
struct cuda_offset {
    int c, h, w, channel, row, column, width;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of struct mc_backend, in backend_cuda.c, buffers.c, batch.c, plan.c, repeat.c,
 * run.c, soft_permutation.c, vector.cu. */
MC_DECLARE_FUNCTIONS(cuda)

/* Called after each launch and each library call, with its name and the bytes that it must read and
 * write. tests/gpu/kernels.c counts and times with it. NULL: not called. */
extern void (*cuda_watch)(struct cuda *be, const char *kernel, double bytes);
void cuda_report_launch(struct cuda *be, const char *kernel);
/* Sets the bytes of the next launch. */
void cuda_report_bytes(double bytes);
static inline double cuda_bytes(const struct cuda_shape *s)
{
    return (double)s->n * s->c * s->hw * (double)cuda_type_size(s->type);
}
/* Stores the first failure for get(). */
void cuda_check(struct cuda *be, cudaError_t status);
/* The same for a launch, with the kernel's name. */
void cuda_check_kernel(struct cuda *be, cudaError_t status, const char *kernel);
cudaStream_t cuda_stream(const struct cuda *be);
int cuda_skips(const struct cuda *be); /* f16: steps whose gradients overflowed are skipped */
/* Enters the backend: sets the thread's current device, as every entry point must. */
struct cuda *cuda_backend(struct mc_backend *be);
/* The same, but launches on the side stream until cuda_end_side if it is in use. */
struct cuda *cuda_side_backend(struct mc_backend *be);
void cuda_end_side(struct cuda *be);
#define CUDA_PARTS 1024
struct cuda_partial cuda_parts(const struct cuda *be); /* (CUDA_PARTS), for the sums of a flat
                                                          vector */

/* ---- partial sums of channels (sums.cu) -------------------------------------------------------
 * part (C, parts, 2) float64, over images that count. */
enum cuda_sum {
    CUDA_SUM_SQUARES, /* x, x^2                                        channel_sums, moments */
    CUDA_SUM_PRODUCT, /* x * dy, 0                                     dots */
    CUDA_SUM_LAYER    /* dz, dz * (x - mean) * inv, both of pixels     layer_norm_back */
};
#define CUDA_MAX_PARTS 1024
size_t cuda_sum_parts(const struct cuda_shape *s);
void cuda_sums(struct cuda *be, const struct cuda_shape *s, enum cuda_sum kind, const void *x,
               const void *dy, const struct cuda_norm *m, double *part);
/* out[c] (float32) = first sums (second: pass part + 1); sum, sq (may be NULL) += first and second
 * sums. */
void cuda_sums_to_floats(struct cuda *be, const struct cuda_shape *s, const double *part,
                         float *out);
void cuda_sums_to_doubles(struct cuda *be, const struct cuda_shape *s, const double *part,
                          double *sum, double *sq);

/* Partial sums that the last block adds: (cuda_partial_size(s), 2), and counters of blocks (C),
 * which are 0 between launches. */
struct cuda_partial {
    double *part;
    uint32_t *arrived;
};
#define CUDA_SUM_BLOCKS 264     /* blocks of a launch that sums: the last one adds their sums */
#define CUDA_LAUNCH_BLOCKS 8192 /* blocks of a launch that does not */
size_t cuda_partial_size(const struct cuda_shape *s);
/* out (C) = a channel's sum of dy */
void cuda_bias_sums(struct cuda *be, const struct cuda_shape *s, const void *dy, float *out,
                    const struct cuda_partial *o);

/* ---- batch norm (norm.cu); cpu/ops/batchnorm.c ----------------------------------------------- */
struct cuda_norm_args {
    enum mc_mode mode;
    const float *gamma, *weight_beta, *bias; /* (C); bias: skipped by the layer before, or NULL */
    float *running_mean, *running_var;       /* NULL: unused */
    double *acc_sum, *acc_sq;                /* re-estimation */
    float eps, momentum;
};
/* Fills m from the batch's sums or, in MC_MODE_EVAL, from the running statistics (x is unused).
 * Updates running statistics or acc as the mode requires. */
void cuda_norm_prepare(struct cuda *be, const struct cuda_shape *s, const void *x,
                       const struct cuda_norm_args *a, const struct cuda_norm *m,
                       const struct cuda_partial *o);
/* y, in d's layout, = act(z). z is the normalized x, plus `plus` unless NULL; pre (may be NULL) =
 * z. plus and pre have x's layout. */
void cuda_norm_apply(struct cuda *be, const struct cuda_shape *s, const void *x, const void *plus,
                     const struct cuda_norm *m, void *pre, const struct cuda_shape *d, void *y);
/* Computes from dy, in d's layout: k1, k2, and the gradients (C; NULL: not needed) of gamma,
 * beta and the skipped bias. dz (NULL: not needed) = dy act'(z), which is also the gradient of
 * `plus`. */
struct cuda_norm_grads {
    int batch_stats;
    const void *plus;
    float *dgamma, *dbeta, *dbias;
    void *dz;
};
void cuda_norm_back_prepare(struct cuda *be, const struct cuda_shape *s, const void *x,
                            const struct cuda_shape *d, const void *dy, const struct cuda_norm *m,
                            const struct cuda_norm_grads *g, const struct cuda_partial *o);
/* Call it after cuda_norm_back_prepare. If dz was written, pass it as dy, with m's delta -1. */
void cuda_norm_back(struct cuda *be, const struct cuda_shape *s, const void *x,
                    const struct cuda_shape *d, const void *dy, const struct cuda_norm *m, int add,
                    void *dx);
/* ---- layer norm (norm.cu); cpu/kernels_norm.h: m->mean and m->inv are per pixel (N * HW) ---- */
void cuda_layer_norm(struct cuda *be, const struct cuda_shape *s, double eps, const void *x,
                     const float *weight, const float *bias, const struct cuda_norm *m, void *y);
void cuda_layer_norm_back(struct cuda *be, const struct cuda_shape *s, const void *x,
                          const void *dy, const float *weight, const struct cuda_norm *m, int add,
                          void *dx);
/* The same for each of m->groups groups of channels: mean and inv (N, groups). The sums are the
 * gradients of weight and bias. */
void cuda_group_norm(struct cuda *be, const struct cuda_shape *s, double eps, const void *x,
                     const float *weight, const float *bias, const struct cuda_norm *m, void *y);
void cuda_group_norm_sums(struct cuda *be, const struct cuda_shape *s, const void *x,
                          const void *dy, const struct cuda_norm *m, float *dweight, float *dbias);
void cuda_group_norm_back(struct cuda *be, const struct cuda_shape *s, const void *x,
                          const void *dy, const float *weight, const struct cuda_norm *m, int add,
                          void *dx);
/* acc[images] += valid */
void cuda_count_images(struct cuda *be, const struct cuda_batch *batch, double *images);
/* One batch norm's pooled moments: `pixels` per image, acc as in MC_REESTIMATE_SIZE. */
void cuda_pool_moments(struct cuda *be, size_t c, double pixels, const double *sum,
                       const double *sq, const double *images, float *mean, float *var);

/* ---- a convolution's weight gradient in float32 (conv_weights.cu) -----------------------------
 * Square kernels, no groups; x (N,I,H,W), dy (N,O,OH,OW), dw (O,I,K,K). */
struct cuda_conv_sizes {
    uint32_t n, ic, ih, iw, oc, oh, ow, kernel, stride, pad;
};
/* Bytes of `part`. 0: the sizes are not supported. */
size_t cuda_conv_weights_work(const struct cuda_conv_sizes *s);
void cuda_conv_weights(struct cuda *be, const struct cuda_conv_sizes *s, const float *x,
                       const float *dy, float *part, float *dw);

/* ---- elementwise (pointwise.cu); cpu/kernels_pointwise.h, cpu/ops ---------------------------- */
void cuda_relu(struct cuda *be, enum cuda_type t, size_t n, const void *x, float delta, void *y);
void cuda_relu_back(struct cuda *be, enum cuda_type t, size_t n, const void *x, const void *dy,
                    float delta, int add, void *dx);
/* y may be a */
void cuda_add(struct cuda *be, enum cuda_type t, size_t n, const void *a, const void *b, void *y);
/* y = the node's activation of x; if dy is not NULL, dy times the slope at x, then `add`. */
void cuda_activation(struct cuda *be, enum cuda_type t, const struct mc_node *node, size_t n,
                     const void *x, const void *dy, int add, void *y);
/* y = x * f. f has x's shape, or one factor per channel: if fs has one pixel, or `learned` (C) if
 * not NULL. */
void cuda_mul(struct cuda *be, const struct cuda_shape *s, const void *x,
              const struct cuda_shape *fs, const void *f, const float *learned, int add, void *y);
/* dx (N,C), in d's layout, = sums over pixels of x * dy. */
void cuda_dots(struct cuda *be, const struct cuda_shape *s, const void *x, const void *dy,
               const struct cuda_shape *d, int add, void *dx);
void cuda_add_bias(struct cuda *be, const struct cuda_shape *s, const float *bias, void *y);
/* Copies n rows of `count` numbers. */
void cuda_copy_rows(struct cuda *be, enum cuda_type t, size_t n, size_t count,
                    struct cuda_from_rows from, int add, struct cuda_to_rows to);
/* Copies from layout `s` to layout `d`, of one type. */
void cuda_reorder(struct cuda *be, const struct cuda_shape *s, const void *from,
                  const struct cuda_shape *d, int add, void *to);
/* y (d) = the part of x (s) at an offset, with zeros outside of x. */
void cuda_shift(struct cuda *be, const struct cuda_offset *o, const struct cuda_shape *s,
                const void *x, const struct cuda_shape *d, int add, void *y);
/* A node's dropout: y = x * mask / (1 - drop); also its backward. */
void cuda_dropout(struct cuda *be, const struct cuda_shape *s, const struct cuda_rows *r,
                  uint32_t node, float drop, const void *x, int add, void *y);

/* ---- pooling (pool.cu); cpu/kernels_pointwise.h ---------------------------------------------- */
/* Bytes per index of a max pool. */
size_t cuda_index_size(const struct mc_window *w);
/* x, dx: (N,C,ih*iw) in s's layout; y, dy: (N,C,oh*ow) in d's. argmax, as y: position of the
 * maximum in its window; NULL: not needed. */
void cuda_max_pool(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                   const struct mc_window *w, const void *x, void *y, void *argmax);
void cuda_max_pool_back(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                        const struct mc_window *w, const void *dy, const void *argmax, int add,
                        void *dx);
void cuda_avg_pool(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                   const struct mc_window *w, const void *x, void *y);
void cuda_avg_pool_back(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                        const struct mc_window *w, const void *dy, int add, void *dx);

/* ---- copies of weights in the activations' type (weights.cu) ----------------------------------
 * Number j of n is parameter index[j], or 0 if that is CUDA_NO_PARAM. */
#define CUDA_NO_PARAM UINT32_MAX
/* Also does the work of cuda_begin_forward. */
void cuda_copy_weights(struct cuda *be, enum cuda_type t, size_t n, const float *params,
                       const uint32_t *index, void *to, const struct cuda_rows *r,
                       const struct mc_ctl *ctl);
/* grad[index[j]] = from[j] */
void cuda_copy_gradients(struct cuda *be, enum cuda_type t, size_t n, const void *from,
                         const uint32_t *index, float *grad);

/* ---- f16's loss scale (loss_scale.cu) -------------------------------------------------------- */
/* Finishes the gradients of all parameters: grad (n, a multiple of 4) /= scale. If one is not
 * finite, all become NaN, and cuda_sgd skips the step. The scale is then halved, or set to infinity
 * if it is already 1, which ends a run. After CUDA_SCALE_STEPS passes without overflow it is
 * doubled. arrived: a counter of blocks. */
#define CUDA_SCALE_STEPS 2000
void cuda_finish_gradients(struct cuda *be, size_t n, float *grad, struct cuda_loss_scale *scale,
                           uint32_t *arrived);

/* ---- losses (loss.cu); cpu/ops/loss.c -------------------------------------------------------- */
void cuda_begin_forward(struct cuda *be, const struct cuda_rows *r, const struct mc_ctl *ctl);
struct cuda_head {
    enum cuda_type type;
    size_t n, classes;
    const void *logits; /* (N, classes), packed */
    double weight;      /* in the objective */
};
/* arrived: a counter of blocks */
void cuda_loss(struct cuda *be, const struct cuda_head *h, const struct cuda_rows *r, int main_head,
               uint32_t *arrived);
/* dx: as the logits; scale (NULL: 1): of dx */
void cuda_loss_back(struct cuda *be, const struct cuda_head *h, const struct cuda_rows *r,
                    const float *scale, int add, void *dx);
void cuda_add_metrics(struct cuda *be, const struct cuda_rows *r, double *acc);
/* (N,C,HW) float32 of the images that count, 0 after them */
void cuda_copy_out(struct cuda *be, const struct cuda_shape *s, const void *from, float *to);

/* ---- pixels (pixels.cu); cpu/pixels.c -------------------------------------------------------- */
struct cuda_pixels_out {
    struct cuda_shape shape;
    int h, w, normalise;
    void *x;
};
/* Fills r and reads the batch of ctl's row. If ctl is NULL, reads the batch that r already
 * describes. */
void cuda_read_pixels(struct cuda *be, const struct mc_source *src, const struct mc_ctl *ctl,
                      const struct cuda_rows *r, const struct cuda_scaling *s,
                      const struct cuda_pixels_out *out);
/* to = from (N,C,HW) * scale + shift, for the images that count */
void cuda_scale_pixels(struct cuda *be, const struct cuda_shape *sh, const struct cuda_scaling *s,
                       const float *from, void *to);
/* to (N,C,HW) = from / std; scale (NULL: 1): of from */
void cuda_unscale_grad(struct cuda *be, const struct cuda_shape *sh, const struct cuda_scaling *s,
                       const void *from, const float *scale, float *to);

/* ---- attacks (attack.cu); cpu/attack.c: n images of `image` floats --------------------------- */
void cuda_ball_start(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r,
                     const struct mc_ball *b, uint32_t restart, const float *clean, float *x);
void cuda_ball_step(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r,
                    const struct mc_ball *b, const float *clean, const float *grad, float *x);
void cuda_ball_keep(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r, int descend,
                    const float *x, float *best_loss, float *best);

/* ---- joint moments (moments.cu): images' (c, hw) -> doubles (c, n * hw), 0 if masked -----------
 * images [first, first + n) of the batch */
void cuda_to_doubles(struct cuda *be, const struct cuda_shape *s, size_t first, size_t n,
                     const void *x, double *to);
void cuda_add_doubles(struct cuda *be, size_t n, const double *from, double *to);

/* ---- matrices of groups (matrix.cu); cpu/soft_permutation.c,
 * libcommon/assign/doubly_stochastic.c ---- */
/* Slices of (k, m), `stride` apart -> (k, slices * m). */
void cuda_pack_slices(struct cuda *be, size_t k, size_t m, size_t slices, size_t stride,
                      const float *x, float *out);
struct cuda_projection {
    size_t k;
    double *p;         /* (K,K) */
    double *row, *col; /* (K): row sum - 1, column sum - 1 */
    double *total;     /* [0] sum of `row`; [1] the residual; [2] nonzero: not finite */
};
void cuda_project_begin(struct cuda *be, const struct cuda_projection *p, const float *matrix);
/* Replaces the matrix by max(0, .) and sums it. Except in the last sweep, then projects it to sums
 * of 1. */
void cuda_project_sweep(struct cuda *be, const struct cuda_projection *p, int last);
/* Writes the rounded matrix; worst = max(worst, residual); NaN if not finite. */
void cuda_project_end(struct cuda *be, const struct cuda_projection *p, int first, float *matrix,
                      double *worst);

#ifdef __cplusplus
}
#endif

#endif

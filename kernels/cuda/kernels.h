/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA backend's own kernels: the functions that launch them, each beside its CPU counterpart's
 * name in kernels/cpu. All pointers are the device's; nothing waits; what fails, cuda_check keeps.
 *
 * Sums over many elements are taken in float64 in an order that the shapes alone decide, and no
 * float is added atomically: the same bytes on every run.
 *
 * Letters: N images of which the first batch->valid count, C channels, HW pixels. Activations and
 * their gradients are void, of the shape's type; all arithmetic is float32's. `add`: what is
 * computed is added to what the gradient dx holds. */
#ifndef MC_CUDA_KERNELS_H
#define MC_CUDA_KERNELS_H

#include "kernels/functions.h"
#include "kernels/window.h"

#include <cuda_runtime_api.h>

#define MC_CUDA_REASON 400

struct cuda;

struct mc_buf {
    void *data; /* on the device */
    size_t bytes;
};

/* The batch that a plan has loaded. */
struct cuda_batch {
    struct mc_ctl ctl; /* of the last load or forward */
    uint32_t valid;
    double objective; /* sum over images and heads of the last forward */
};

/* Of activations and their gradients. */
enum cuda_type { CUDA_F32, CUDA_BF16, CUDA_F16 };
static inline size_t cuda_type_size(enum cuda_type t)
{
    return t == CUDA_F32 ? 4 : 2;
}

/* A plan's values an image (B), and the batch. */
struct cuda_rows {
    struct cuda_batch *batch;
    int32_t *labels, *samples;
    uint32_t *ids;         /* what its random numbers are keyed by */
    float *loss, *correct; /* main head */
    double *head;          /* a head's losses */
};

/* Loss scales, powers of two: what the gradients of f16's activations are multiplied by, and those
 * of parameters until cuda_finish_gradients. */
struct cuda_loss_scale {
    float scale;       /* of passes to parameters */
    float steps;       /* such passes since it changed, none of which overflowed */
    float last;        /* the scale of the last such pass */
    float pixels;      /* of passes to the pixels alone: constant */
    uint32_t overflow; /* of the pass that is being finished */
};

/* Of pixels: byte[c][v] = (v/255 - mean) / std; byte[MC_MAX_CHANNELS_IN][v] = v/255. */
struct cuda_scaling {
    const float *byte; /* (MC_MAX_CHANNELS_IN + 1, 256) */
    float scale[MC_MAX_CHANNELS_IN], shift[MC_MAX_CHANNELS_IN], std[MC_MAX_CHANNELS_IN];
};

/* Where activations lie: number (image i, channel k, pixel q) at i * image + k * channel + q *
 * pixel. Channels first: channel is HW, pixel 1; channels last, and where HW is 1: channel is 1,
 * pixel the channels that lie there. Packed: image is C * HW. Fewer than 2^31 numbers. */
struct cuda_shape {
    uint32_t n, c, hw, image, channel, pixel;
    enum cuda_type type;
    const struct cuda_batch *batch;
};

/* Where a tensor lies that has a shape's channels side by side but other strides. */
struct cuda_place {
    uint32_t image, pixel;
};

/* A batch norm's vectors (C): z = (x - mean) * scale + beta, behind it nothing (delta < 0), a ReLU
 * (0) or Huber's ReLU; k1, k2 of the backward pass, inv is 1/sigma. */
struct cuda_norm {
    float *mean, *scale, *beta, *k1, *k2, *inv;
    float delta;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The entry points of struct mc_backend, in backend_cuda.c, buffers.c, outside.c, plan.c, repeat.c,
 * run.c, soft_permutation.c, vector.cu. */
MC_DECLARE_FUNCTIONS(cuda)

/* Who counts or times what is launched (tests/gpu/kernels.c) is told behind each launch and each
 * library's call: its name, and the bytes that it reads and writes where each is moved once. NULL:
 * nobody. */
extern void (*cuda_watch)(struct cuda *be, const char *kernel, double bytes);
void cuda_launched(struct cuda *be, const char *kernel);
/* Of the next one. */
void cuda_moves(double bytes);
static inline double cuda_bytes(const struct cuda_shape *s)
{
    return (double)s->n * s->c * s->hw * (double)cuda_type_size(s->type);
}
/* Keeps the first failure for get(). */
void cuda_check(struct cuda *be, cudaError_t status);
/* Of a launch, told with its name. */
void cuda_check_kernel(struct cuda *be, cudaError_t status, const char *kernel);
cudaStream_t cuda_stream(const struct cuda *be);
int cuda_skips(const struct cuda *be); /* steps whose gradients overflowed: f16 */
/* The current device is a thread's: every entry point sets it. */
struct cuda *cuda_entered(struct mc_backend *be);
/* Beside the other work where something is, until cuda_end_beside. */
struct cuda *cuda_entered_beside(struct mc_backend *be);
void cuda_end_beside(struct cuda *be);
#define CUDA_PARTS 1024
struct cuda_partial cuda_parts(const struct cuda *be); /* (CUDA_PARTS), of a flat vector's sums */

/* ---- partial sums of channels (sums.cu) -------------------------------------------------------
 * part (C, parts, 2) float64, of images that count. */
enum cuda_sum {
    CUDA_SUM_SQUARES, /* x, x^2                                        channel_sums, moments */
    CUDA_SUM_PRODUCT, /* x * dy, 0                                     dots */
    CUDA_SUM_LAYER    /* dz, dz * (x - mean) * inv, both of pixels     layer_norm_back */
};
#define CUDA_MAX_PARTS 1024
size_t cuda_sum_parts(const struct cuda_shape *s);
void cuda_sums(struct cuda *be, const struct cuda_shape *s, enum cuda_sum what, const void *x,
               const void *dy, const struct cuda_norm *m, double *part);
/* out[c] (float32) = first sums (second: of part + 1); sum, sq (may be NULL) += first and second
 * sums. */
void cuda_sums_to_floats(struct cuda *be, const struct cuda_shape *s, const double *part,
                         float *out);
void cuda_sums_to_doubles(struct cuda *be, const struct cuda_shape *s, const double *part,
                          double *sum, double *sq);

/* Partial sums that the last block adds: (cuda_partial_size(s), 2), and counters of blocks (C),
 * which are 0 between launches. */
struct cuda_partial {
    double *part;
    uint32_t *came;
};
#define CUDA_SUM_BLOCKS 512   /* of one launch that sums */
#define CUDA_MOST_BLOCKS 8192 /* of one that does not */
size_t cuda_partial_size(const struct cuda_shape *s);
/* out (C) = a channel's sum of dy */
void cuda_bias_sums(struct cuda *be, const struct cuda_shape *s, const void *dy, float *out,
                    const struct cuda_partial *o);

/* ---- batch norm (norm.cu); cpu/norm.c -------------------------------------------------------- */
struct cuda_norm_args {
    enum mc_mode mode;
    const float *gamma, *weight_beta,
        *bias;                         /* (C); bias: left to us by the layer in front, or NULL */
    float *running_mean, *running_var; /* NULL: unused */
    double *acc_sum, *acc_sq;          /* re-estimation */
    float eps, momentum;
};
/* Fills m, of the batch's sums or, in MC_MODE_EVAL, without x; updates what the mode says. */
void cuda_norm_prepare(struct cuda *be, const struct cuda_shape *s, const void *x,
                       const struct cuda_norm_args *a, const struct cuda_norm *m,
                       const struct cuda_partial *o);
/* y, where d has it, = act(z), z the normalised x, and `plus` if it is not NULL; pre (may be NULL)
 * = z. plus and pre lie as x. */
void cuda_norm_apply(struct cuda *be, const struct cuda_shape *s, const void *x, const void *plus,
                     const struct cuda_norm *m, void *pre, const struct cuda_shape *d, void *y);
/* Of dy, where d has it: k1, k2, and the gradients (C; NULL: not wanted) of gamma, beta and the
 * bias in front; dz (NULL: not wanted) = dy act'(z), which is that of `plus` too. */
struct cuda_norm_grads {
    int batch_stats;
    float *dgamma, *dbeta, *dbias;
};
void cuda_norm_back_prepare(struct cuda *be, const struct cuda_shape *s, const void *x,
                            const void *plus, const struct cuda_shape *d, const void *dy,
                            const struct cuda_norm *m, const struct cuda_norm_grads *g, void *dz,
                            const struct cuda_partial *o);
/* Behind that. Where it made dz, that is dy, and m's delta is -1. */
void cuda_norm_back(struct cuda *be, const struct cuda_shape *s, const void *x,
                    const struct cuda_shape *d, const void *dy, const struct cuda_norm *m, int add,
                    void *dx);
/* ---- layer norm (norm.cu); cpu/kernels_norm.h: m->mean and m->inv are of pixels (N * HW) ---- */
void cuda_layer_norm(struct cuda *be, const struct cuda_shape *s, double eps, const void *x,
                     const float *weight, const float *bias, const struct cuda_norm *m, void *y);
void cuda_layer_norm_back(struct cuda *be, const struct cuda_shape *s, const void *x,
                          const void *dy, const float *weight, const struct cuda_norm *m, int add,
                          void *dx);
/* acc[images] += valid */
void cuda_count_images(struct cuda *be, const struct cuda_batch *batch, double *images);
/* One batch norm's pooled moments: `pixels` an image, acc as MC_REESTIMATE_SIZE has it. */
void cuda_pool_moments(struct cuda *be, size_t c, double pixels, const double *sum,
                       const double *sq, const double *images, float *mean, float *var);

/* ---- elementwise (pointwise.cu); cpu/kernels_pointwise.h, cpu/run.c -------------------------- */
void cuda_relu(struct cuda *be, enum cuda_type t, size_t n, const void *x, float delta, void *y);
void cuda_relu_back(struct cuda *be, enum cuda_type t, size_t n, const void *x, const void *dy,
                    float delta, int add, void *dx);
/* y may be a */
void cuda_add(struct cuda *be, enum cuda_type t, size_t n, const void *a, const void *b, void *y);
/* y = op(x); of dy, dy times the slope at x, and then `add`. */
void cuda_activation(struct cuda *be, enum cuda_type t, enum mc_op op, size_t n, const void *x,
                     const void *dy, int add, void *y);
/* y = x * f, f of x's numbers, or of its channels: where fs has one pixel, or `learned` (C) if that
 * is not NULL. */
void cuda_mul(struct cuda *be, const struct cuda_shape *s, const void *x,
              const struct cuda_shape *fs, const void *f, const float *learned, int add, void *y);
/* dx (N,C), where d has it, = sums over pixels of x * dy. */
void cuda_dots(struct cuda *be, const struct cuda_shape *s, const void *x, const void *dy,
               const struct cuda_shape *d, int add, void *dx);
void cuda_add_bias(struct cuda *be, const struct cuda_shape *s, const float *bias, void *y);
/* n rows of `count` numbers, which lie from_row numbers apart, to rows that lie to_row apart. */
void cuda_copy_rows(struct cuda *be, enum cuda_type t, size_t n, size_t count, const void *from,
                    size_t from_row, int add, void *to, size_t to_row);
/* The same numbers, from where `s` has them to where `d` has them; both of one type. */
void cuda_reorder(struct cuda *be, const struct cuda_shape *s, const void *from,
                  const struct cuda_shape *d, int add, void *to);
/* dropout of a node: y = x * mask / (1 - drop); also its backward */
void cuda_dropout(struct cuda *be, const struct cuda_shape *s, const struct cuda_rows *r,
                  uint32_t node, float drop, const void *x, int add, void *y);

/* ---- pooling (pool.cu); cpu/kernels_pointwise.h ---------------------------------------------- */
/* Bytes of an index of a max pool. */
size_t cuda_index_size(const struct mc_window *w);
/* x, dx: (N,C,ih*iw) where s has it; y, dy: (N,C,oh*ow) where d has it; where: as y, the place in
 * its window of the pixel taken; NULL: not wanted */
void cuda_max_pool(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                   const struct mc_window *w, const void *x, void *y, void *where);
void cuda_max_pool_back(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                        const struct mc_window *w, const void *dy, const void *where, int add,
                        void *dx);
void cuda_avg_pool(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                   const struct mc_window *w, const void *x, void *y);
void cuda_avg_pool_back(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                        const struct mc_window *w, const void *dy, int add, void *dx);

/* ---- copies of weights in the activations' type (weights.cu) ----------------------------------
 * Element j of n is parameter index[j], or 0 where that is CUDA_NO_PARAM. */
#define CUDA_NO_PARAM UINT32_MAX
/* And what cuda_begin_forward does. */
void cuda_copy_weights(struct cuda *be, enum cuda_type t, size_t n, const float *params,
                       const uint32_t *index, void *to, const struct cuda_rows *r,
                       const struct mc_ctl *ctl);
/* grad[index[j]] = from[j] */
void cuda_copy_gradients(struct cuda *be, enum cuda_type t, size_t n, const void *from,
                         const uint32_t *index, float *grad);

/* ---- f16's loss scale (loss_scale.cu) -------------------------------------------------------- */
/* Of all parameters: grad (n, a multiple of 4) /= scale. Where one is not finite all become NaN,
 * for which cuda_sgd takes no step, and the scale is halved, or infinite where it is 1 already,
 * which ends a run. After CUDA_SCALE_STEPS passes without that it is doubled. came: a counter of
 * blocks. */
#define CUDA_SCALE_STEPS 2000
void cuda_finish_gradients(struct cuda *be, size_t n, float *grad, struct cuda_loss_scale *scale,
                           uint32_t *came);

/* ---- losses (loss.cu); cpu/loss.c ------------------------------------------------------------ */
void cuda_begin_forward(struct cuda *be, const struct cuda_rows *r, const struct mc_ctl *ctl);
/* logits, dx: (N, classes), packed, of type t; came: a counter of blocks */
void cuda_loss(struct cuda *be, enum cuda_type t, size_t n, size_t classes, const void *logits,
               const struct cuda_rows *r, int main_head, double weight, uint32_t *came);
/* scale (NULL: 1): of dx */
void cuda_loss_back(struct cuda *be, enum cuda_type t, size_t n, size_t classes, const void *logits,
                    const struct cuda_rows *r, double weight, const float *scale, int add,
                    void *dx);
void cuda_add_metrics(struct cuda *be, const struct cuda_rows *r, double *acc);
/* (N,C,HW) float32 of the images that count, 0 behind them */
void cuda_copy_out(struct cuda *be, const struct cuda_shape *s, const void *from, float *to);

/* ---- pixels (pixels.cu); cpu/pixels.c -------------------------------------------------------- */
/* Of the batch that ctl's row begins, which fills r; ctl NULL: of the one that r has. */
void cuda_take_pixels(struct cuda *be, const struct mc_source *src, const struct cuda_shape *sh,
                      int h, int w, const struct mc_ctl *ctl, const struct cuda_rows *r,
                      const struct cuda_scaling *s, int normalise, void *out);
/* to = from (N,C,HW) * scale + shift, of the images that count */
void cuda_scale_pixels(struct cuda *be, const struct cuda_shape *sh, const struct cuda_scaling *s,
                       const float *from, void *to);
/* to (N,C,HW) = from / std, of the scale that from has (NULL: 1) */
void cuda_unscale_grad(struct cuda *be, const struct cuda_shape *sh, const struct cuda_scaling *s,
                       const void *from, const float *scale, float *to);

/* ---- attacks (attack.cu); cpu/attack.c: n images of `image` floats --------------------------- */
void cuda_ball_start(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r,
                     const struct mc_ball *b, uint32_t restart, const float *clean, float *x);
void cuda_ball_step(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r,
                    const struct mc_ball *b, float step, const float *clean, const float *grad,
                    float *x);
void cuda_ball_keep(struct cuda *be, size_t n, size_t image, const struct cuda_rows *r, int descend,
                    const float *x, float *best_loss, float *best);

/* ---- joint moments (moments.cu): images' (c, hw) -> doubles (c, n * hw), 0 where masked -------
 * images [first, first + n) of the batch */
void cuda_to_doubles(struct cuda *be, const struct cuda_shape *s, size_t first, size_t n,
                     const void *x, double *to);
void cuda_add_doubles(struct cuda *be, size_t n, const double *from, double *to);

/* ---- matrices of groups (matrix.cu); cpu/soft_permutation.c, libcommon/assign/doubly_stochastic.c
 * ---------------------------- */
/* Blocks of (k, m), `stride` apart -> (k, blocks * m). */
void cuda_pack_blocks(struct cuda *be, size_t k, size_t m, size_t blocks, size_t stride,
                      const float *x, float *out);
struct cuda_projection {
    size_t k;
    double *p;         /* (K,K) */
    double *row, *col; /* (K): row sum - 1, column sum - 1 */
    double *total;     /* [0] the rows' sum of them; [1] the residual; [2] not 0: not finite */
};
void cuda_project_begin(struct cuda *be, const struct cuda_projection *p, const float *matrix);
/* max(0, .) and the sums; then, unless it is the last, the projection towards sums of 1. */
void cuda_project_sweep(struct cuda *be, const struct cuda_projection *p, int last);
/* The matrix, rounded; worst = the greater of it and the residual; NaN where not finite. */
void cuda_project_end(struct cuda *be, const struct cuda_projection *p, int first, float *matrix,
                      double *worst);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The only interface to a device. A backend offers opaque buffers, plans, and arithmetic on flat
 * vectors. A plan is made once for a graph, a batch size and the outputs to keep. It then runs
 * without allocating.
 *
 * Calls take effect in order (sumsq is the exception), but may return before the device has done
 * the work: only put() and get() wait. No host pointer appears inside a training loop. Values that
 * change from step to step (learning rate, curve coefficients, sample indices, random-number
 * counters) are in device buffers, one row per step. The row counter of a control buffer selects
 * the row. A device can therefore capture several steps once and replay them (repeat).
 *
 * Read results rarely: after a get() the device is idle until the host has queued more. Check the
 * code that get() returns. Functions that return nothing, such as forward, cannot report a failure
 * inside a running plan, so every later get() does. Free plans and buffers before close.
 *
 * Do not use a backend or its plans in two threads at a time. Do not run a plan in a shape or mode
 * that it does not support: that is a bug and asserted.
 *
 * Letters: B images of a batch, C channels, H W, P parameters, S statistics (the graph's flat
 * vectors), K channels of a tap or units of a group, M floats of all groups' matrices. A function
 * that can fail returns 0 or a negative enum mc_err and fills err. The gradient of one batch, whose
 * samples are in row 0 of source.order:
 *
 *     struct mc_backend *be = NULL;
 *     struct mc_plan *plan = NULL;
 *
 *     if ((rc = mc_backend_open(&be, &(struct mc_backend_opts){.device = "auto"}, err)))
 *         return rc;
 *     if ((rc = be->plan_new(be, g, &(struct mc_plan_opts){.batch = 500, .backward = 1}, &plan,
 *                            err)))
 *         goto out;
 *     // params, stats, grad, ctl: buffers of buf_new, filled by put
 *     be->load(plan, &source, ctl);
 *     be->forward(plan, MC_MODE_TRAIN, params, stats, NULL, ctl);
 *     be->backward(plan, params, grad);
 *     be->ctl_next(be, ctl); // the next load reads row 1
 *     rc = be->get(be, grad, 0, host, g->P * sizeof *host, err); // waits
 * out:
 *     be->plan_free(plan);
 *     be->close(be); */
#ifndef MC_BACKEND_H
#define MC_BACKEND_H

#include "kernels/backend_opts.h"
#include "libcommon/base/augmentation.h"
#include "libcommon/base/error.h"
#include "libcommon/base/fact.h"
#include "libcommon/base/joint_moments.h"
#include "libcommon/graph/graph.h"

struct mc_backend;
struct mc_buf;       /* device memory, 64-byte aligned, zeroed when new */
struct mc_plan;      /* a graph ready to run at one batch size */
struct mc_soft_perm; /* a network's permutation groups ready to multiply its parameter vector */
struct mc_capture;   /* a graph of steps that a device captured */
struct mc_symmetry;

/* Control values, in device memory. Every function with a `ctl` argument reads it. */
struct mc_ctl {
    uint64_t seed;
    uint32_t epoch;
    uint32_t row; /* step within the rows that were uploaded together */
};

enum mc_mode {
    MC_MODE_TRAIN,      /* batch statistics; running statistics updated */
    MC_MODE_BATCH,      /* batch statistics, no update */
    MC_MODE_REESTIMATE, /* as MC_MODE_BATCH; adds the batch's moments to `acc` */
    MC_MODE_EVAL        /* the given statistics */
};

/* Channels [offset, offset + count) of a node's output that a plan keeps readable. */
struct mc_tap_request {
    int node;
    size_t offset, count;
};

struct mc_plan_opts {
    size_t batch;   /* B; smaller batches are padded, see mc_source */
    int train_only; /* with the training-only nodes: auxiliary heads and, except in MC_MODE_EVAL,
                       dropout */
    int backward;   /* keep what backward needs */
    int input_grad; /* backward reaches the pixels */
    const struct mc_tap_request *taps;
    size_t n_taps;
    int joint; /* only moments() reads the taps, so the CPU reuses their memory */
};

/* The source of a batch: a data set, or a slice of one, on the device. */
struct mc_source {
    const struct mc_buf *images;      /* (N, C, H, W) pixels: uint8 0..255, or float32 in [0,1] */
    enum mc_dtype pixels;             /* MC_U8 or MC_F32 */
    const struct mc_buf *labels;      /* (N) int32 */
    const struct mc_buf *order;       /* (rows, B) int32: row ctl.row has the batch's samples; -1
                                         pads a short batch and is masked: it does not count */
    const struct mc_augment *augment; /* NULL: none */
    uint32_t purpose;                 /* enum mc_rng_purpose of the augmentation */
    uint32_t base; /* added to a sample's index for its random numbers: start of this slice */
};

/* The ball around an image that contains its adversarial examples, and the length of a step. */
enum mc_ball_norm {
    MC_BALL_LINF, /* per channel of a pixel */
    MC_BALL_L2    /* per image: Euclidean, pixels in [0,1] */
};
struct mc_ball {
    enum mc_ball_norm norm;
    float eps, step;  /* for pixels in [0,1]; a step below 0 goes down the gradient */
    uint32_t purpose; /* enum mc_rng_purpose of random starts */
};

/* One SGD step with Nesterov momentum on p, a free vector of a curve. The curve's point is
 * ... + coef * p + ...:
 *     d = coef * (grad + decay * point);  m = momentum * m + d;  p -= lr * (d + momentum * m)
 * Plain training has point = p and coef = 1. lr is lrs[ctl.row]; coef is
 * coefs[ctl.row * stride + k]. */
struct mc_sgd {
    struct mc_buf *p, *m;              /* (n) */
    const struct mc_buf *grad, *point; /* (n) */
    const struct mc_buf *lrs;          /* float32, one per row */
    const struct mc_buf *coefs;        /* float32, `stride` per row; NULL: 1 */
    size_t stride, k;
    float momentum, decay;
    int nesterov;
};

enum mc_metric {
    MC_METRIC_IMAGES,    /* images counted */
    MC_METRIC_OBJECTIVE, /* sum of all heads' weighted losses */
    MC_METRIC_LOSS,      /* sum of the main head's loss */
    MC_METRIC_LOSS_SQ,   /* sum of the main head's squared loss */
    MC_METRIC_CORRECT,   /* images whose largest logit is their label's (on a tie the lowest
                            index) */
    MC_N_METRICS
};
enum mc_output { MC_OUT_LOGITS, MC_OUT_LOSS, MC_OUT_CORRECT, MC_OUT_TAP };

/* Number of doubles of the re-estimation's accumulator: sums over batches of the channels' sums (S)
 * and sums of squares (S), and the number of images. */
#define MC_REESTIMATE_SIZE(S) (2 * (size_t)(S) + 1)

#define MC_MAX_FACTS 10

struct mc_backend {
    const char *name;   /* "cpu", "cuda" */
    char describe[256]; /* for logs: instruction set, threads, library version, and the reason if a
                           device cannot replay steps or has no timed convolutions */
    struct mc_error fallback; /* the CPU, opened for `auto`: why a GPU could not be used, or "" */
    struct mc_fact facts[MC_MAX_FACTS]; /* for histories and checkpoints; see formats/README.md */
    size_t n_facts;
    int threads;          /* threads in use, at most the requested number */
    size_t launch_steps;  /* steps per launch: the best `times` of repeat */
    const char *products; /* joint moments': "f32" or "f64", see moments; for histories */

    void (*close)(struct mc_backend *be);

    /* -- buffers -- */
    int (*buf_new)(struct mc_backend *be, size_t bytes, struct mc_buf **out, struct mc_error *err);
    void (*buf_free)(struct mc_backend *be, struct mc_buf *b); /* NULL is fine */
    /* Grows b to `bytes`, at least its present size. Keeps its contents; the new bytes are zero. An
     * error leaves b unchanged. */
    int (*buf_grow)(struct mc_backend *be, struct mc_buf *b, size_t bytes, struct mc_error *err);
    int (*put)(struct mc_backend *be, struct mc_buf *dst, size_t offset, const void *src,
               size_t bytes, struct mc_error *err);
    int (*get)(struct mc_backend *be, const struct mc_buf *src, size_t offset, void *dst,
               size_t bytes, struct mc_error *err);
    void (*zero)(struct mc_backend *be, struct mc_buf *b);
    void (*copy)(struct mc_backend *be, struct mc_buf *dst, const struct mc_buf *src, size_t bytes);
    void (*ctl_next)(struct mc_backend *be, struct mc_buf *ctl); /* row += 1 */

    /* -- repeated work -- */
    /* Runs work(arg) `times` times. Each call must queue the same work: same buffers, plans and
     * numbers; no get(), put(), allocation or free; a backward pass together with its forward pass.
     * A device may capture the work once as a graph in *capture, which is NULL at first and belongs
     * to this work alone. It may then call work more or fewer times than `times`. A device that
     * cannot capture just calls work. */
    void (*repeat)(struct mc_backend *be, struct mc_capture **capture, size_t times,
                   void (*work)(void *arg), void *arg);
    void (*capture_free)(struct mc_backend *be, struct mc_capture *capture); /* NULL is fine */

    /* -- plans -- */
    int (*plan_new)(struct mc_backend *be, const struct mc_graph *g, const struct mc_plan_opts *o,
                    struct mc_plan **out, struct mc_error *err); /* g must outlive the plan */
    void (*plan_free)(struct mc_plan *p);
    size_t (*plan_bytes)(const struct mc_plan *p); /* bytes of the plan's device memory */
    /* State that one backward pass to parameters leaves for the next (f16's loss scale): *n float32
     * numbers in the plan's memory, which a checkpoint reads with get() and restores with put().
     * NULL: none. */
    struct mc_buf *(*plan_state)(struct mc_plan *p, size_t *n);
    /* Gathers, augments and normalizes a batch into the plan. */
    void (*load)(struct mc_plan *p, const struct mc_source *src, const struct mc_buf *ctl);
    /* The pixels that load reads from the same source, augmented but not normalized: (B,C,H,W)
     * float32 in [0,1], 0 if masked. */
    void (*pixels)(struct mc_plan *p, const struct mc_source *src, const struct mc_buf *ctl,
                   struct mc_buf *out);
    /* Replaces the pixels of the loaded batch by `pixels`, (B,C,H,W) float32. Labels, samples and
     * mask stay. */
    void (*set_pixels)(struct mc_plan *p, const struct mc_buf *pixels);
    /* stats (S): read in MC_MODE_EVAL, updated in MC_MODE_TRAIN, otherwise unused and may be NULL.
     * acc: MC_REESTIMATE_SIZE(S) doubles, in MC_MODE_REESTIMATE only. */
    void (*forward)(struct mc_plan *p, enum mc_mode mode, const struct mc_buf *params,
                    struct mc_buf *stats, struct mc_buf *acc, const struct mc_buf *ctl);
    /* Gradient of the batch's mean objective (all heads, weighted) without weight decay. Call it
     * once after forward with the same parameters. grad: (P), overwritten, gaps 0; NULL: only the
     * pixels' gradient is computed. In f16, grad is all NaN if a number overflowed; f16's sgd then
     * leaves p and m unchanged. */
    void (*backward)(struct mc_plan *p, const struct mc_buf *params, struct mc_buf *grad);
    /* The pixels' gradient of the batch's mean objective, per unit of pixel: (B,C,H,W) float32. */
    void (*input_grad)(struct mc_plan *p, struct mc_buf *out);
    /* Adversarial examples x (B,C,H,W) of the loaded batch, whose pixels are `clean`. Masked images
     * are unchanged. attack_start: x is uniform in the ball, clamped to [0,1]. Its random numbers
     * are Philox (seed, purpose, epoch, sample, counter = restart << 24 | block). l-inf: the four
     * numbers of block i are for pixels 4i to 4i + 3. l2: a Gaussian direction by Box and Muller,
     * two pixels from two numbers, and the radius eps u^(1/CHW), u from block 2^24 - 1.
     * attack_step: moves x along its gradient g by step * sign(g) (0 if g is 0) or step * g / |g|,
     * then back into the ball, then into [0,1]. */
    void (*attack_start)(struct mc_plan *p, const struct mc_ball *b, uint32_t restart,
                         const struct mc_buf *clean, struct mc_buf *x);
    void (*attack_step)(struct mc_plan *p, const struct mc_ball *b, const struct mc_buf *clean,
                        const struct mc_buf *grad, struct mc_buf *x);
    /* Keeps the best restart. For images whose main head's loss of the last forward is above
     * best_loss (B), or below it if `descend`, or whose best_loss is NaN, copies the loss and the
     * image of x to the best. */
    void (*attack_keep)(struct mc_plan *p, int descend, const struct mc_buf *x,
                        struct mc_buf *best_loss, struct mc_buf *best);
    /* acc[MC_N_METRICS] doubles += images, sums of the objective, the main head's loss and its
     * squares, and correct images. */
    void (*metrics)(struct mc_plan *p, struct mc_buf *acc);
    /* float32 outputs: logits (B, classes); each sample's loss or correctness of the main head (B);
     * tap `index` (B, count, H, W). Masked samples have 0. */
    void (*output)(struct mc_plan *p, enum mc_output kind, size_t index, struct mc_buf *out);
    /* Runs two plans of equal graphs and taps, which loaded the same batch, forward in MC_MODE_EVAL.
     * acc[i] += the joint moments of tap i, as soon as both have computed it, in float64. If
     * `products` is f32, values are first shifted by a median. Shifted values and their products
     * are summed in float32 per block of 64 samples, and up to 8 blocks are added in float32. A
     * correlation is then within 1e-6 of float64's (3e-6 if units have only two values) if means
     * are at most 1e4 deviations, and deviations between 1e-16 and 1e16. A batch adds the same bits
     * whatever arrived before it. */
    void (*moments)(struct mc_plan *const p[2], const struct mc_buf *const params[2],
                    struct mc_buf *const stats[2], const struct mc_buf *ctl,
                    struct mc_buf *const *acc);
    /* The same for activations a and b (n, K, hw) in buffers. Allocates temporary memory. An error
     * leaves `acc` unchanged. */
    int (*moments_of)(struct mc_backend *be, size_t n, size_t K, size_t hw, const struct mc_buf *a,
                      const struct mc_buf *b, struct mc_buf *acc, struct mc_error *err);
    /* Writes the accumulator's pooled mean and unbiased variance to stats. */
    void (*reestimate)(struct mc_backend *be, const struct mc_graph *g, const struct mc_buf *acc,
                       struct mc_buf *stats);

    /* -- flat vectors (n float32) -- */
    /* dst = sum over i of coefs[ctl.row * k + i] * src[i]; coefs float32. dst may be a src (one of
     * the first 16 if there are more: 16 are summed at a time). */
    void (*lincomb)(struct mc_backend *be, size_t n, struct mc_buf *dst, size_t k,
                    const struct mc_buf *const *src, const struct mc_buf *coefs,
                    const struct mc_buf *ctl);
    void (*sgd)(struct mc_backend *be, size_t n, const struct mc_sgd *s, const struct mc_buf *ctl);
    /* acc[slot] += scale * sum of squares, in float64. It may overlap the next backward pass, so x
     * must not be that pass's `grad`. */
    void (*sumsq)(struct mc_backend *be, size_t n, const struct mc_buf *x, double scale,
                  struct mc_buf *acc, size_t slot);
    /* dst[i] = src[index[i]]; index uint32. */
    void (*gather)(struct mc_backend *be, size_t n, struct mc_buf *dst, const struct mc_buf *src,
                   const struct mc_buf *index);
    /* The proximal step of p towards `anchor`. It minimizes (lr/2nu) |p - anchor|^2 + |p - q|^2 / 2
     * for a given q: p = (q + lr/nu anchor) / (1 + lr/nu). lr is lrs[ctl.row]. */
    void (*proximal)(struct mc_backend *be, size_t n, struct mc_buf *p, const struct mc_buf *anchor,
                     const struct mc_buf *lrs, double nu, const struct mc_buf *ctl);

    /* -- soft permutations; libcommon/permutation/soft_permutation.h lays out `matrices` (M) -- */
    /* g and s must outlive it. */
    int (*soft_perm_new)(struct mc_backend *be, const struct mc_graph *g,
                         const struct mc_symmetry *s, struct mc_soft_perm **out,
                         struct mc_error *err);
    void (*soft_perm_free)(struct mc_soft_perm *a); /* NULL is fine */
    /* out (P) = theta with every axis of every group multiplied by the group's matrix. For a
     * permutation's matrices this is mc_perm_apply. Axes without a group are unchanged. out must
     * not be theta. */
    void (*soft_permute)(struct mc_soft_perm *a, const struct mc_buf *matrices,
                         const struct mc_buf *theta, struct mc_buf *out);
    /* Gradient with respect to the matrices: grad_matrices (M, overwritten, gaps 0), from the
     * gradient grad (P) at soft_permute's `out`. A group's gradient sums over all axes that it
     * permutes. Call it once or more after soft_permute with the same matrices and theta. */
    void (*soft_permute_grad)(struct mc_soft_perm *a, const struct mc_buf *matrices,
                              const struct mc_buf *theta, const struct mc_buf *grad,
                              struct mc_buf *grad_matrices);
    /* Projects each group's matrix towards the doubly stochastic matrices in float64, by `sweeps`
     * alternating projections (libcommon/assign/doubly_stochastic.h), then rounds to float32.
     * residual[0] (float64) is the maximum of |row or column sum - 1| over all groups before
     * rounding. If a matrix contains a number that is not finite, the whole matrix and the residual
     * become NaN. */
    void (*project)(struct mc_soft_perm *a, struct mc_buf *matrices, size_t sweeps,
                    struct mc_buf *residual);
};

/* Adds an entry to be->facts while the backend is being opened. The backend keeps the pointer
 * `name`. */
void mc_backend_fact(struct mc_backend *be, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Opens a backend. Returns MC_EUSAGE for an unknown device or a precision that it does not support,
 * MC_EFAIL if it is not available, for example "cuda: this build has no CUDA backend". */
MC_USE_RESULT int mc_backend_open(struct mc_backend **out, const struct mc_backend_opts *o,
                                  struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The only interface to a device. A backend offers opaque buffers, plans made once for (graph,
 * batch, what stays readable) and then run without allocating, and arithmetic on flat vectors.
 *
 * No host pointer appears inside a training loop and nothing in it waits for the device: what
 * changes from step to step (learning rate, curve coefficients, sample indices, random-number
 * counters) is data in device buffers, picked by the row counter in a control buffer. So a device
 * may capture several steps once and replay them (repeat). Only put() and get() wait.
 *
 * A backend and its plans are used by one thread at a time.
 *
 * Letters: B images of a batch, C channels, H W, P parameters, S statistics (graph's flat vectors),
 * K channels of a tap or units of a group, M floats of all groups' matrices. Every function that
 * can fail returns 0 or a negative enum mc_err and fills err; what fails while a plan runs, every
 * later get() tells; a shape or mode that a plan was not made for is a bug and asserted. */
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
struct mc_capture;   /* a graph of steps that a device has captured */
struct mc_symmetry;

/* The control block: one lies in device memory, and every function that takes `ctl` reads it
 * there. */
struct mc_ctl {
    uint64_t seed;
    uint32_t epoch;
    uint32_t row; /* the step within whatever was uploaded for several steps */
};

enum mc_mode {
    MC_MODE_TRAIN,      /* batch statistics; running statistics updated */
    MC_MODE_BATCH,      /* batch statistics, no update */
    MC_MODE_REESTIMATE, /* as MC_MODE_BATCH, and the batch's moments are added to `acc` */
    MC_MODE_EVAL        /* the given statistics */
};

/* Channels [offset, offset + count) of a node's output that a plan keeps readable. */
struct mc_tap_request {
    int node;
    size_t offset, count;
};

struct mc_plan_opts {
    size_t batch;   /* B; smaller batches are padded, see mc_source */
    int train_only; /* with what exists only while training: auxiliary heads and,
                       but for MC_MODE_EVAL, dropout */
    int backward;   /* keep what backward needs */
    int input_grad; /* backward reaches the pixels */
    const struct mc_tap_request *taps;
    size_t n_taps;
};

/* Where a batch comes from: a data set (or a part of it) that lies on the device. */
struct mc_source {
    const struct mc_buf *images; /* (N, C, H, W) pixels: uint8 0..255, or float32 in [0,1] */
    enum mc_dtype pixels;        /* MC_U8 or MC_F32 */
    const struct mc_buf *labels; /* (N) int32 */
    const struct mc_buf *order;  /* (rows, B) int32: row ctl.row holds the batch's samples; -1 after
                                    the last one of a short batch: masked, it counts nowhere */
    const struct mc_augment *augment; /* NULL: none */
    uint32_t purpose;                 /* enum mc_rng_purpose of the augmentation */
    uint32_t base; /* added to a sample's index for its random numbers: where this part begins */
};

/* The ball about an image that an adversarial example stays in, and the length of a step in it. */
enum mc_ball_norm {
    MC_BALL_LINF, /* of a pixel's channel */
    MC_BALL_L2    /* of an image: pixels in [0,1], Euclidean */
};
struct mc_ball {
    enum mc_ball_norm norm;
    float eps, step;  /* in pixels of [0,1] */
    uint32_t purpose; /* enum mc_rng_purpose of random starts */
};

/* One SGD step with Nesterov momentum on a free vector p whose point theta = ... + coef * p + ...:
 *     d = coef * (grad + decay * point);  m = momentum * m + d;  p -= lr * (d + momentum * m)
 * Plain training has point = p and coef = 1. lr is lrs[ctl.row], coef is coefs[ctl.row * stride +
 * k]. */
struct mc_sgd {
    struct mc_buf *p, *m;              /* (n) */
    const struct mc_buf *grad, *point; /* (n) */
    const struct mc_buf *lrs;          /* float32 a row */
    const struct mc_buf *coefs;        /* float32, `stride` a row; NULL: 1 */
    size_t stride, k;
    float momentum, decay;
    int nesterov;
};

enum mc_metric {
    MC_METRIC_IMAGES,    /* images counted */
    MC_METRIC_OBJECTIVE, /* sum of all heads' weighted losses */
    MC_METRIC_LOSS,      /* sum of the main head's loss */
    MC_METRIC_LOSS_SQ,   /* and of its squares */
    MC_METRIC_CORRECT,   /* images whose largest logit is their label's (the lowest index wins a
                          * tie) */
    MC_N_METRICS
};
enum mc_output { MC_OUT_LOGITS, MC_OUT_LOSS, MC_OUT_CORRECT, MC_OUT_TAP };

/* Doubles of the re-estimation's accumulator: sum of the channels' batch sums (S), of their batch
 * sums of squares (S), and the images counted. */
#define MC_REESTIMATE_SIZE(S) (2 * (size_t)(S) + 1)

#define MC_MAX_FACTS 10

struct mc_backend {
    const char *name;   /* "cpu", "cuda" */
    char describe[256]; /* instruction set, threads, library version: for logs; a device that
                           cannot repeat what it should adds why */
    struct mc_fact facts[MC_MAX_FACTS]; /* for histories and checkpoints; formats/README.md */
    size_t n_facts;
    int threads;         /* that work: fewer than asked for where no more are to be had */
    size_t launch_steps; /* steps a launch: how many repeat is best given at once */

    void (*close)(struct mc_backend *be);

    /* -- buffers -- */
    int (*buf_new)(struct mc_backend *be, size_t bytes, struct mc_buf **out, struct mc_error *err);
    void (*buf_free)(struct mc_backend *be, struct mc_buf *b); /* NULL is fine */
    /* To `bytes`, at least as many as it has, which it keeps; the others are zero. After an error
     * it is as it was. */
    int (*buf_grow)(struct mc_backend *be, struct mc_buf *b, size_t bytes, struct mc_error *err);
    int (*put)(struct mc_backend *be, struct mc_buf *dst, size_t at, const void *src, size_t bytes,
               struct mc_error *err);
    int (*get)(struct mc_backend *be, const struct mc_buf *src, size_t at, void *dst, size_t bytes,
               struct mc_error *err);
    void (*zero)(struct mc_backend *be, struct mc_buf *b);
    void (*copy)(struct mc_backend *be, struct mc_buf *dst, const struct mc_buf *src, size_t bytes);
    void (*ctl_next)(struct mc_backend *be, struct mc_buf *ctl); /* row += 1 */

    /* -- work that comes again and again -- */
    /* What work(arg) asks of the device, `times` times over. It asks the same every time, of the
     * same buffers and plans and with the same numbers, and neither get() nor put() nor anything
     * that makes, grows or frees; a backward pass belongs in one work with its forward pass. So a
     * device may capture it once as a graph in *capture, NULL at first and for this work alone, and
     * call work more or fewer times than `times`. Where it cannot, the work is done all the
     * same. */
    void (*repeat)(struct mc_backend *be, struct mc_capture **capture, size_t times,
                   void (*work)(void *arg), void *arg);
    void (*capture_free)(struct mc_backend *be, struct mc_capture *capture); /* NULL is fine */

    /* -- plans -- */
    int (*plan_new)(struct mc_backend *be, const struct mc_graph *g, const struct mc_plan_opts *o,
                    struct mc_plan **out, struct mc_error *err); /* g must outlive the plan */
    void (*plan_free)(struct mc_plan *p);
    size_t (*plan_bytes)(const struct mc_plan *p); /* device memory that the plan holds */
    /* What backward passes to parameters leave for the next ones (f16's loss scale): *n float32
     * numbers in memory of the plan, to get() for a checkpoint and put() back; or NULL. */
    struct mc_buf *(*plan_state)(struct mc_plan *p, size_t *n);
    /* Gather, augment and normalise a batch into the plan. */
    void (*load)(struct mc_plan *p, const struct mc_source *src, const struct mc_buf *ctl);
    /* The pixels that load of the same source takes, augmented, not normalised: (B,C,H,W) float32
     * in [0,1], 0 where masked. */
    void (*pixels)(struct mc_plan *p, const struct mc_source *src, const struct mc_buf *ctl,
                   struct mc_buf *out);
    /* Other pixels (B,C,H,W) float32 for the batch that is loaded: labels, samples and mask
     * stay. */
    void (*set_pixels)(struct mc_plan *p, const struct mc_buf *pixels);
    /* stats: (S) read in MC_MODE_EVAL, updated in MC_MODE_TRAIN, else unused and may be NULL.
     * acc: MC_REESTIMATE_SIZE(S) doubles, in MC_MODE_REESTIMATE only. */
    void (*forward)(struct mc_plan *p, enum mc_mode mode, const struct mc_buf *params,
                    struct mc_buf *stats, struct mc_buf *acc, const struct mc_buf *ctl);
    /* Once after forward with the same parameters: grad (P, overwritten, gaps 0; NULL: only the
     * pixels') of the batch's mean objective (all heads, weighted), without weight decay. In f16
     * all NaN where one overflowed, for which f16's sgd leaves p and m as they are. */
    void (*backward)(struct mc_plan *p, const struct mc_buf *params, struct mc_buf *grad);
    /* The pixels' gradient of the batch's mean objective, per unit of pixel: (B,C,H,W) float32. */
    void (*input_grad)(struct mc_plan *p, struct mc_buf *out);
    /* Adversarial examples x (B,C,H,W) of the loaded batch, whose pixels are `clean`, masked images
     * left as they are. attack_start: x uniform in the ball, clamped to [0,1], by Philox (seed,
     * purpose, epoch, sample, counter = restart << 24 | block): l-inf the four numbers of
     * block i are those of pixels 4i to 4i + 3; l2 a Gaussian direction by Box and Muller, two
     * pixels from two numbers, and the radius eps u^(1/CHW), u from block 2^24 - 1.
     * attack_step: x goes up its gradient g, or down for `descend`: by step * sign(g) (0 where g is
     * 0) or step * g / |g|, then back into the ball, then clamped to [0,1]. */
    void (*attack_start)(struct mc_plan *p, const struct mc_ball *b, uint32_t restart,
                         const struct mc_buf *clean, struct mc_buf *x);
    void (*attack_step)(struct mc_plan *p, const struct mc_ball *b, int descend,
                        const struct mc_buf *clean, const struct mc_buf *grad, struct mc_buf *x);
    /* Of restarts: where the main head's loss of the last forward is greater than best_loss (B), or
     * less for `descend`, or best_loss is not a number, it and the image of x go to the best. */
    void (*attack_keep)(struct mc_plan *p, int descend, const struct mc_buf *x,
                        struct mc_buf *best_loss, struct mc_buf *best);
    /* acc[MC_N_METRICS] doubles += images, sum of the objective, of the main head's loss,
     * correct. */
    void (*metrics)(struct mc_plan *p, struct mc_buf *acc);
    /* float32: logits (B, classes); a sample's loss or correctness of the main head (B); tap
     * `index` (B, count, H, W). Masked samples give 0. */
    void (*output)(struct mc_plan *p, enum mc_output what, size_t index, struct mc_buf *out);
    /* Joint moments of tap `index` of two plans that loaded the same batch: acc += float64 products
     * of the float32 activations; exact to float64 rounding, the same bits for a batch whatever
     * came before. */
    void (*moments)(struct mc_plan *a, struct mc_plan *b, size_t index, struct mc_buf *acc);
    /* The same of activations a and b (n, K, hw) that lie in buffers; `acc` is untouched after an
     * error. Takes memory for the time. */
    int (*moments_of)(struct mc_backend *be, size_t n, size_t K, size_t hw, const struct mc_buf *a,
                      const struct mc_buf *b, struct mc_buf *acc, struct mc_error *err);
    /* The accumulator's pooled mean and unbiased variance -> stats. */
    void (*reestimate)(struct mc_backend *be, const struct mc_graph *g, const struct mc_buf *acc,
                       struct mc_buf *stats);

    /* -- flat vectors (n float32) -- */
    /* dst = sum over i of coefs[ctl.row * k + i] * src[i]; coefs float32. dst may be a src
     * (of more than 16 of them, one of the first 16: they are summed 16 at a time). */
    void (*lincomb)(struct mc_backend *be, size_t n, struct mc_buf *dst, size_t k,
                    const struct mc_buf *const *src, const struct mc_buf *coefs,
                    const struct mc_buf *ctl);
    void (*sgd)(struct mc_backend *be, size_t n, const struct mc_sgd *s, const struct mc_buf *ctl);
    /* acc[slot] += scale * sum of squares, float64. It may overlap a backward pass that comes next,
     * so that x is not its `grad`. */
    void (*sumsq)(struct mc_backend *be, size_t n, const struct mc_buf *x, double scale,
                  struct mc_buf *acc, size_t slot);
    /* dst[i] = src[index[i]]; index uint32. */
    void (*gather)(struct mc_backend *be, size_t n, struct mc_buf *dst, const struct mc_buf *src,
                   const struct mc_buf *index);
    /* The proximal step of p towards `anchor`: the least of lr/2nu |p - anchor|^2 + |p - q|^2 / 2
     * for the given q, p = (q + lr/nu anchor) / (1 + lr/nu). lr is lrs[ctl.row]. */
    void (*proximal)(struct mc_backend *be, size_t n, struct mc_buf *p, const struct mc_buf *anchor,
                     const struct mc_buf *lrs, double nu, const struct mc_buf *ctl);

    /* -- soft permutations: `matrices` (M) as
     * libcommon/graph/soft_permutation.h lays them out -- */
    /* g and s must outlive it. */
    int (*soft_perm_new)(struct mc_backend *be, const struct mc_graph *g,
                         const struct mc_symmetry *s, struct mc_soft_perm **out,
                         struct mc_error *err);
    void (*soft_perm_free)(struct mc_soft_perm *a); /* NULL is fine */
    /* out (P) = theta with every axis of every group multiplied by that group's matrix; with a
     * permutation's matrices what mc_perm_apply does. What no group permutes stays. out is not
     * theta. */
    void (*soft_permute)(struct mc_soft_perm *a, const struct mc_buf *matrices,
                         const struct mc_buf *theta, struct mc_buf *out);
    /* Once or more after soft_permute with the same matrices and theta: grad_matrices (M,
     * overwritten, gaps 0) of a function whose gradient at its `out` is grad (P). A group's is the
     * sum over all the axes that it permutes. */
    void (*soft_permute_grad)(struct mc_soft_perm *a, const struct mc_buf *matrices,
                              const struct mc_buf *theta, const struct mc_buf *grad,
                              struct mc_buf *grad_matrices);
    /* Each group's matrix towards the doubly stochastic ones by `sweeps` of alternating projections
     * in float64 (libcommon/assign/doubly_stochastic.h), rounded to float32 at the end. residual[0]
     * (float64): the greatest |row or column sum - 1| of all groups before that rounding. A matrix
     * that is not finite becomes NaN everywhere, and so does the residual. */
    void (*project)(struct mc_soft_perm *a, struct mc_buf *matrices, size_t sweeps,
                    struct mc_buf *residual);
};

/* For a backend that is being opened: one more fact; name is kept by pointer. */
void mc_backend_fact(struct mc_backend *be, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* MC_EUSAGE for an unknown device or a precision that it has not; MC_EFAIL "cuda: no CUDA backend
 * in this build" and the like. */
MC_USE_RESULT int mc_backend_open(struct mc_backend **out, const struct mc_backend_opts *o,
                                  struct mc_error *err);

#endif

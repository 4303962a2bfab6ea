/* SPDX-License-Identifier: Apache-2.0
 *
 * Loss and accuracy at many points of the span of a few parameter vectors, in one pass over each
 * data set and in constant memory: a network (k = 1, T = 1), a curve (its k points, T values of t),
 * a plane. Letters: k vectors, T points, P parameters, S statistics. */
#ifndef MC_EVAL_MEASURE_H
#define MC_EVAL_MEASURE_H

#include "tools/attack/batches.h"

struct mc_span {
    const struct mc_graph *graph;
    size_t k, T;
    const float *const *vectors; /* (k) of (P) */
    const double *coef;          /* (T,k): point i is the sum of coef[i,j] vectors[j] */
    const float *stats;          /* (T,S) to measure with; not NULL even if S is 0 */
};

struct mc_eval_result {
    double images;
    double loss, loss_se;         /* mean cross-entropy and its standard error */
    double accuracy, accuracy_se; /* 0..1 */
};

/* What is found at a span's points. */
struct mc_eval_found {
    struct mc_eval_result *result; /* (T) */
    float *loss;                   /* (T,N) of every image, N as the pass has them; or NULL */
    uint8_t *correct;              /* (T,N) 0 or 1; NULL where loss is */
};

/* The statistics that batch norm has at each point: mean and unbiased variance, first and second
 * moments pooled over the images, each batch normalised by its own statistics on the way. With an
 * attack, of the adversarial examples of every batch at each point, under that batch's statistics.
 * The span's own are not looked at. attack: resolved, or NULL. stats: (T,S). */
MC_USE_RESULT int mc_eval_statistics(const struct mc_span *span, const struct mc_loader_options *o,
                                     const struct mc_attack_options *attack, float *stats,
                                     struct mc_error *err);

/* Loss and accuracy at each point, never augmented. With an attack also those of the adversarial
 * examples that each point has under its statistics, into robust, which is NULL where there is
 * none; `out` is the same to the bit with and without it. */
MC_USE_RESULT int mc_eval_loss(const struct mc_span *span, const struct mc_loader_options *o,
                               const struct mc_attack_options *attack,
                               const struct mc_eval_found *out, const struct mc_eval_found *robust,
                               struct mc_error *err);

/* Device memory that a pass takes beside what it holds for each point: the plan, a batch, the
 * vectors, and what an attack takes (NULL: none). */
MC_USE_RESULT int mc_eval_bytes(struct mc_backend *be, const struct mc_span *span, size_t batch,
                                const struct mc_attack_options *attack, size_t *bytes,
                                struct mc_error *err);

#endif

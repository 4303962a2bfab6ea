/* SPDX-License-Identifier: Apache-2.0
 *
 * Loss and accuracy at many points of the span of a few parameter vectors, in one pass over each
 * data set and in constant memory. Examples: a network (k = 1, T = 1), a curve (its k points, T
 * values of t), a plane. Letters: k vectors, T points, P parameters, S statistics. */
#ifndef MC_EVAL_MEASURE_H
#define MC_EVAL_MEASURE_H

#include "tools/attack/batches.h"

struct mc_span {
    const struct mc_graph *graph;
    size_t k, T;
    const float *const *vectors; /* (k) of (P) */
    const double *coef;          /* (T,k): point i is the sum of coef[i,j] vectors[j] */
    const float *stats;          /* (T,S) statistics to use; not NULL even if S is 0 */
};

struct mc_eval_result {
    double images;
    double loss, loss_se;         /* mean cross-entropy and its standard error */
    double accuracy, accuracy_se; /* 0..1 */
};

/* Results at a span's points. */
struct mc_eval_output {
    struct mc_eval_result *result; /* (T) */
    float *loss;                   /* (T,N) per image, N images in the pass; or NULL */
    uint8_t *correct;              /* (T,N) 0 or 1; NULL if loss is */
};

/* Batch norm's statistics at each point, stats (T,S): mean and unbiased variance from first and
 * second moments pooled over the images, while each batch is normalised by its own statistics.
 * attack: resolved, or NULL. With an attack, the images are the adversarial examples of every batch
 * at each point, under that batch's statistics. The span's own statistics are ignored. */
MC_USE_RESULT int mc_eval_statistics(const struct mc_span *span, const struct mc_loader_options *o,
                                     const struct mc_attack_options *attack, float *stats,
                                     struct mc_error *err);

/* Loss and accuracy at each point, without augmentation. With an attack, robust receives those of
 * the adversarial examples for each point under its statistics; without one it is NULL. `out` is
 * bit-identical with and without an attack. */
MC_USE_RESULT int mc_eval_loss(const struct mc_span *span, const struct mc_loader_options *o,
                               const struct mc_attack_options *attack,
                               const struct mc_eval_output *out,
                               const struct mc_eval_output *robust, struct mc_error *err);

/* Device memory of a pass without its buffers per point: the plan, a batch, the vectors and the
 * attack (NULL: none). */
MC_USE_RESULT int mc_eval_bytes(struct mc_backend *be, const struct mc_span *span, size_t batch,
                                const struct mc_attack_options *attack, size_t *bytes,
                                struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Loss and accuracy at many points of the span of a few parameter vectors, in one pass over each
 * data set and in constant memory: a network (k = 1, T = 1), a curve (its k points, T values of t),
 * a plane. Letters: k vectors, T points, P parameters, S statistics. */
#ifndef MC_EVAL_MEASURE_H
#define MC_EVAL_MEASURE_H

#include "formats/codecs/dataset.h"
#include "kernels/backend.h"
#include "tools/attack/attack.h"

struct mc_span {
    const struct mc_graph *graph;
    size_t k, T;
    const float *const *vectors; /* (k) of (P) */
    const double *coef;          /* (T,k): point i is the sum of coef[i,j] vectors[j] */
};

struct mc_eval_options {
    size_t batch;      /* images at a time; batch statistics are of so many */
    uint64_t samples;  /* first images of the data; 0: all */
    int samples_exact; /* of fewer images: MC_EINPUT, as the user typed it; else all are taken */
    int augment;       /* re-estimation: as in training */
    uint64_t seed;     /* of the augmentation, and of an attack's random starts */
    const struct mc_attack_options *attack; /* resolved; or NULL: none */
};

/* Told after every batch; may be NULL. */
struct mc_eval_watch {
    void (*progress)(void *arg, uint64_t images, uint64_t in_all);
    void *arg;
};

struct mc_eval_result {
    uint64_t images;
    double loss, loss_se;         /* mean cross-entropy and its standard error */
    double accuracy, accuracy_se; /* 0..1 */
};

/* The statistics that batch norm has at each point: mean and unbiased variance, first and second
 * moments pooled over the images, each batch normalised by its own statistics on the way. With an
 * attack, of the adversarial examples of every batch at each point, under that batch's statistics.
 * stats: (T,S). */
MC_USE_RESULT int mc_eval_statistics(struct mc_backend *be, const struct mc_span *span,
                                     struct mc_dataset_reader *data,
                                     const struct mc_eval_options *o,
                                     const struct mc_eval_watch *watch, float *stats,
                                     struct mc_error *err);

/* Loss and accuracy at each point with the given statistics (T,S; not NULL even if S is 0). out:
 * (T). With an attack also those of the adversarial examples that each point has under its
 * statistics, into robust (T), which is NULL where there is none; `out` is the same to the bit
 * with and without it. */
MC_USE_RESULT int mc_eval_loss(struct mc_backend *be, const struct mc_span *span,
                               const float *stats, struct mc_dataset_reader *data,
                               const struct mc_eval_options *o, const struct mc_eval_watch *watch,
                               struct mc_eval_result *out, struct mc_eval_result *robust,
                               struct mc_error *err);

/* Device memory that a pass takes beside what it holds for each point: the plan, a batch, the
 * vectors, and what an attack takes (NULL: none). */
MC_USE_RESULT int mc_eval_bytes(struct mc_backend *be, const struct mc_span *span, size_t batch,
                                const struct mc_attack_options *attack, size_t *bytes,
                                struct mc_error *err);

#endif

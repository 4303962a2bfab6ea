/* SPDX-License-Identifier: Apache-2.0
 *
 * Projected gradient descent on the pixels (Madry et al., ICLR 2018) of a loaded batch, for
 * training, evaluation, alignment and mc-pgd. It never changes batch norm's running statistics. */
#ifndef MC_ATTACK_H
#define MC_ATTACK_H

#include "formats/codecs/dataset.h"
#include "kernels/model.h"

#define MC_ATTACK_TEXT 120
#define MC_ATTACK_MAX_RESTARTS 256

struct mc_attack_options {
    enum mc_ball_norm norm;
    double eps, step; /* pixels in [0,1]; NAN: the data set's default */
    uint64_t steps;
    uint64_t restarts; /* keeps the example with the largest loss */
    int clean_start;   /* start at the image, not at a random point of its ball */
    int targeted;      /* descend the loss of a target label */
    int shift;         /* the target is the image's own label plus `target`, modulo the classes */
    int target;        /* the target label, or the shift */
};

/* Set eps and step, if they are NAN, to the data set's defaults: l-inf 8/255 and 2/255 (Tiny
 * ImageNet 4/255 and 1/255), l2 0.5 and 0.125. If only eps is given, step is a quarter of it.
 * MC_EUSAGE: an l-inf length above 1, a target that is not a class or is the image's own, several
 * restarts from the same start. */
MC_USE_RESULT int mc_attack_resolve(struct mc_attack_options *o, const struct mc_dataset_info *info,
                                    struct mc_error *err);
/* Write all settings that determine the examples, in the syntax of --attack
 * (tools/options/attack.h), for histories and checkpoints. */
void mc_attack_text(const struct mc_attack_options *o, char text[MC_ATTACK_TEXT]);

/* An attack on a device, for plans of one graph and batch size with backward and input_grad. */
struct mc_attack {
    struct mc_attack_options options; /* resolved */
    uint32_t purpose;
    struct mc_backend *be;
    size_t bytes; /* pixels of one batch */
    size_t batch;
    struct mc_buf *clean;    /* (B,C,H,W): the batch's own pixels, after a run */
    struct mc_buf *examples; /* (B,C,H,W): its adversarial examples */
    struct mc_buf *targets;  /* target labels in the source's order; the owner sets it if the attack
                                has a target */
    struct mc_buf *x, *grad;
    struct mc_buf *worst, *nan_losses; /* (B): losses of the best restart; all NAN */
    struct mc_bufs bufs;
};

/* purpose: enum mc_rng_purpose of the random starts. Release a also after an error. */
MC_USE_RESULT int mc_attack_open(struct mc_attack *a, const struct mc_attack_options *o,
                                 uint32_t purpose, struct mc_backend *be, const struct mc_graph *g,
                                 size_t batch, struct mc_error *err);
void mc_attack_release(struct mc_attack *a);
/* Device memory of an attack. */
size_t mc_attack_bytes(const struct mc_attack_options *o, const struct mc_graph *g, size_t batch);
/* Target labels of n images: their own if the attack has no target. */
void mc_attack_targets(const struct mc_attack_options *o, int classes, size_t n,
                       const int32_t *labels, int32_t *targets);

/* Attack the batch that was loaded from src at ctl. Afterwards the plan contains its adversarial
 * examples with the batch's own labels, as if they had been loaded. mode: MC_MODE_BATCH or
 * MC_MODE_EVAL. params, stats: as for forward. Does not wait for the device. */
void mc_attack_run(struct mc_attack *a, struct mc_plan *p, const struct mc_source *src,
                   const struct mc_buf *ctl, enum mc_mode mode, const struct mc_buf *params,
                   struct mc_buf *stats);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Projected gradient descent on the pixels (Madry et al., ICLR 2018): what training, evaluation,
 * alignment and mc-pgd do to a batch that is loaded. It never changes batch norm's running
 * statistics. */
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
    uint64_t restarts; /* of which the greatest loss is kept */
    int clean_start;   /* at the image itself, not at random in its ball */
    int targeted;      /* towards a label, by going down its loss */
    int shift;         /* that label: the image's own plus `target`, modulo the classes */
    int target;        /* or `target` itself */
};

/* eps and step, where they are left to the data: l-inf 8/255 and 2/255, Tiny ImageNet 4/255 and
 * 1/255; l2 0.5 and 0.125; a step alone is a quarter of the radius. MC_EUSAGE: an l-inf
 * length over 1, a target that is no class or the image's own, restarts from one and the same
 * start. */
MC_USE_RESULT int mc_attack_resolve(struct mc_attack_options *o, const struct mc_dataset_info *info,
                                    struct mc_error *err);
/* As --attack takes it (tools/options/attack.h), all that decides the examples: for histories and
 * checkpoints. */
void mc_attack_text(const struct mc_attack_options *o, char text[MC_ATTACK_TEXT]);

/* On a device, for plans of one graph and batch size that have backward and input_grad. */
struct mc_attack {
    struct mc_attack_options options; /* resolved */
    uint32_t purpose;
    struct mc_backend *be;
    size_t bytes; /* of a batch's pixels */
    size_t batch;
    struct mc_buf *clean;    /* after a run: the batch's own pixels, (B,C,H,W) */
    struct mc_buf *examples; /* and its adversarial examples */
    struct mc_buf *targets;  /* the owner's, to be set where there is a target: the labels to go
                                towards, as the source's labels */
    struct mc_buf *x, *grad;
    struct mc_buf *worst, *nothing; /* (B): losses of the best restart; not a number */
    struct mc_bufs bufs;
};

/* purpose: enum mc_rng_purpose of the random starts. Release, also after an error. */
MC_USE_RESULT int mc_attack_open(struct mc_attack *a, const struct mc_attack_options *o,
                                 uint32_t purpose, struct mc_backend *be, const struct mc_graph *g,
                                 size_t batch, struct mc_error *err);
void mc_attack_release(struct mc_attack *a);
/* Device memory that it holds. */
size_t mc_attack_bytes(const struct mc_attack_options *o, const struct mc_graph *g, size_t batch);
/* The labels to go towards, of n images; their own where the attack has no target. */
void mc_attack_targets(const struct mc_attack_options *o, int classes, size_t n,
                       const int32_t *labels, int32_t *targets);

/* Attack the batch that was loaded from src at ctl: afterwards the plan holds its adversarial
 * examples, under the batch's own labels, as if they had been loaded. mode: MC_MODE_BATCH or
 * MC_MODE_EVAL; params, stats as for forward. Nothing waits for the device. */
void mc_attack_run(struct mc_attack *a, struct mc_plan *p, const struct mc_source *src,
                   const struct mc_buf *ctl, enum mc_mode mode, const struct mc_buf *params,
                   struct mc_buf *stats);

#endif

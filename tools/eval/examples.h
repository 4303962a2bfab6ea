/* SPDX-License-Identifier: Apache-2.0
 *
 * Adversarial examples of a data set: every image is attacked against one network in evaluation
 * mode and written to a new data set, in one pass and constant memory. */
#ifndef MC_EXAMPLES_H
#define MC_EXAMPLES_H

#include "formats/codecs/weights.h"
#include "tools/attack/batches.h"

/* Sums over the images so far. */
struct mc_adversarial_sums {
    uint64_t images;
    uint64_t clean_correct, correct; /* before and after the attack */
    uint64_t reached;                /* classified as the target, if the attack has one */
    double clean_loss, loss;         /* main head's */
    double distance;                 /* from the image, in the attack's norm; pixels in [0,1] */
};

struct mc_adversarial {
    const char *path;                       /* NULL: standard output */
    const struct mc_attack_options *attack; /* resolved */
    const struct mc_history *history;
    struct mc_adversarial_sums sums; /* set, and current at every progress call */
};

/* Attack the data (just opened) and write them to a->path as float32 pixels. Split, order, labels,
 * classes, normalisation and augmentation are unchanged; "-pgd" is appended to the name if it is
 * not there yet and fits. The data is read to its end before the output is committed. MC_EINPUT:
 * network and data do not fit, or a loss is not finite. */
MC_USE_RESULT int mc_adversarial_write(struct mc_adversarial *a, const struct mc_weights *w,
                                       const struct mc_loader_options *o, struct mc_error *err);

#endif

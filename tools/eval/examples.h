/* SPDX-License-Identifier: Apache-2.0
 *
 * A data set's adversarial examples: every image attacked against one network in evaluation mode
 * and written as a data set again, in one pass and constant memory. */
#ifndef MC_ADVERSARIAL_H
#define MC_ADVERSARIAL_H

#include "formats/codecs/weights.h"
#include "tools/attack/batches.h"

/* What became of the images so far: sums over them. */
struct mc_adversarial_sums {
    uint64_t images;
    uint64_t clean_correct, correct; /* before and after */
    uint64_t reached;                /* taken for the target, where the attack has one */
    double clean_loss, loss;         /* the main head's */
    double distance;                 /* from the image, in the attack's norm; pixels in [0,1] */
};

struct mc_adversarial {
    const char *path;                       /* NULL: standard output */
    const struct mc_attack_options *attack; /* resolved */
    const struct mc_history *history;
    struct mc_adversarial_sums sums; /* set: up to date whenever progress is told */
};

/* The data (just opened) attacked, to a->path, as float32 pixels: split, order, labels, classes,
 * normalisation and augmentation as they were, "-pgd" behind the name where it is not there and has
 * room. The data is read to its end first, before the output is committed. MC_EINPUT: network and
 * data do not fit, or a loss is not finite. */
MC_USE_RESULT int mc_adversarial_write(struct mc_adversarial *a, const struct mc_weights *w,
                                       const struct mc_loader_options *o, struct mc_error *err);

#endif

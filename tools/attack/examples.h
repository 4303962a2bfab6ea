/* SPDX-License-Identifier: Apache-2.0
 *
 * A data set's adversarial examples: every image attacked against one network in evaluation mode
 * and written as a data set again, in one pass and constant memory. */
#ifndef MC_ADVERSARIAL_H
#define MC_ADVERSARIAL_H

#include "formats/codecs/weights.h"
#include "tools/attack/attack.h"

/* What became of the images so far: sums over them. */
struct mc_adversarial_sums {
    uint64_t images;
    uint64_t clean_correct, correct; /* before and after */
    uint64_t reached;                /* taken for the target, where the attack has one */
    double clean_loss, loss;         /* the main head's */
    double distance;                 /* from the image, in the attack's norm; pixels in [0,1] */
};

struct mc_adversarial_options {
    struct mc_attack_options attack; /* resolved */
    size_t batch;
    uint64_t samples; /* the first so many images, at most the data's; 0: all */
    uint64_t seed;    /* of the random starts: epoch 0, the sample's number in the stream */
    /* Told after every batch; may be NULL. */
    void (*progress)(void *arg, const struct mc_adversarial_sums *so_far);
    void *arg;
};

/* The data (just opened) attacked, to `path` (NULL: standard output), as float32 pixels: split,
 * order, labels, classes, normalisation and augmentation as they were, "-pgd" behind the name where
 * it is not there and has room. The data is read to its end first, before the output is committed.
 * MC_EINPUT: network and data do not fit, or a loss is not finite. */
MC_USE_RESULT int mc_adversarial_write(const char *path, struct mc_backend *be,
                                       const struct mc_weights *w, struct mc_dataset_reader *data,
                                       const struct mc_adversarial_options *o,
                                       const struct mc_history *h, struct mc_adversarial_sums *out,
                                       struct mc_error *err);

#endif

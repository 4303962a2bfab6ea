/* SPDX-License-Identifier: Apache-2.0
 *
 * Are two networks the same function? Their logits compared on data, image by image, and the losses
 * of all their heads, those included that exist while training only. */
#ifndef MC_VERIFY_H
#define MC_VERIFY_H

#include "formats/codecs/weights.h"
#include "tools/load/loader.h"

#define MC_VERIFY_BATCH 128
/* The most by which the same network's logits differ when its sums run in another order, relative
 * to the largest logit: a hundred times what the networks here show. */
#define MC_VERIFY_TOLERANCE 1e-4

struct mc_verified {
    uint64_t images;
    uint64_t changed;  /* images whose prediction (the lowest index of the largest logit) differs */
    double difference; /* the largest |logit of one - logit of the other| */
    double logit;      /* the largest |logit| of either */
    double loss; /* the largest difference of a batch's mean loss, of all heads as they are weighted
                    in training */
};

/* Both networks are of a's graph, in evaluation mode. Of the options the batch is not looked at:
 * MC_VERIFY_BATCH. MC_EINPUT: other data than the network's, fewer images than samples or none, a
 * logit that is not finite. */
MC_USE_RESULT int mc_verify(const struct mc_weights *a, const struct mc_weights *b,
                            const struct mc_loader_options *o, struct mc_verified *out,
                            struct mc_error *err);

/* The differences are ones of rounding; a mean loss differs by no more than the logits of its heads
 * do, twice. Predictions need no rule of their own: one can only change
 * where the two largest logits are within twice the difference, which is then as small. */
int mc_verified_same(const struct mc_verified *v);

#endif

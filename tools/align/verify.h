/* SPDX-License-Identifier: Apache-2.0
 *
 * Check whether two networks compute the same function: compare their logits image by image, and
 * the losses of all heads, including heads that exist only in training. */
#ifndef MC_VERIFY_H
#define MC_VERIFY_H

#include "formats/codecs/weights.h"
#include "tools/load/loader.h"

#define MC_VERIFY_BATCH 128
/* Largest relative difference of the same network's logits if its sums run in another order, with a
 * margin: networks here show a hundredth of it. */
#define MC_VERIFY_TOLERANCE 1e-4

struct mc_verified {
    uint64_t images;
    uint64_t changed;  /* images with another prediction (first index of the largest logit) */
    double difference; /* largest |difference| of two logits */
    double logit;      /* largest |logit| of either network */
    double loss; /* largest difference of a batch's mean loss, heads weighted as in training */
};

/* Measures the device memory of a batch's activations. */
MC_USE_RESULT int mc_verify_bytes(struct mc_backend *be, const struct mc_graph *g, size_t *bytes,
                                  struct mc_error *err);

/* Both networks have a's graph and run in evaluation mode. The batch is always MC_VERIFY_BATCH;
 * that of the options is ignored. MC_EINPUT: data of another shape, no images or fewer than
 * samples, a logit that is not finite. */
MC_USE_RESULT int mc_verify(const struct mc_weights *a, const struct mc_weights *b,
                            const struct mc_loader_options *o, struct mc_verified *out,
                            struct mc_error *err);

/* Returns 1 if the differences are only rounding. A mean loss differs by at most twice the logits
 * of its heads. Predictions need no rule: one can only change if the two largest logits are within
 * twice the difference, which is then rounding too. */
int mc_verified_same(const struct mc_verified *v);

#endif

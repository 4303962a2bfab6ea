/* SPDX-License-Identifier: Apache-2.0
 *
 * Joint moments of two networks' activations, as mc-acts counts them: for people who measured,
 * changed or made the activations elsewhere (raw streams). */
#ifndef MC_RAW_MOMENTS_H
#define MC_RAW_MOMENTS_H

#include "formats/codecs/activations.h"
#include "formats/codecs/moments.h"
#include "kernels/backend.h"

/* n images' activations in two networks, of one tap, whose K = count channels have hw pixels each;
 * a, b: (n, K, hw) on the host. */
struct mc_raw_batch {
    size_t tap, n, hw;
    const float *a, *b;
};
/* m->sums[tap] and the tap's samples += those of the batch. m->images is the caller's. m is
 * untouched after an error. */
MC_USE_RESULT int mc_joint_moments_batch(struct mc_moments *m, struct mc_backend *be,
                                         const struct mc_raw_batch *batch, struct mc_error *err);

/* Moments of two raw streams, read in lockstep to their verified ends in the memory of one record
 * of each. They must be of the same taps, images and batches, and of the same data where both say
 * what they were made from; MC_EINPUT if not. Release out with mc_moments_release, also after an
 * error. progress (may be NULL) is told the images that are done. */
MC_USE_RESULT int mc_joint_moments_of_streams(struct mc_moments *out,
                                              struct mc_activations_reader *a,
                                              struct mc_activations_reader *b,
                                              struct mc_backend *be,
                                              void (*progress)(void *arg, uint64_t done), void *arg,
                                              struct mc_error *err);

#endif

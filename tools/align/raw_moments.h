/* SPDX-License-Identifier: Apache-2.0
 *
 * Joint moments of two networks' activations, computed as mc-acts does, for activations (raw
 * streams) that were measured, changed or made elsewhere. */
#ifndef MC_RAW_MOMENTS_H
#define MC_RAW_MOMENTS_H

#include "formats/codecs/activations.h"
#include "formats/codecs/moments.h"
#include "kernels/backend.h"

/* Activations of n images in two networks at one tap, whose K = count channels have hw pixels. a,
 * b: (n, K, hw) on the host. */
struct mc_raw_batch {
    size_t tap, n, hw;
    const float *a, *b;
};
/* Add the batch to m->sums[tap] and to the tap's samples. The caller sets m->images. m is unchanged
 * after an error. */
MC_USE_RESULT int mc_joint_moments_batch(struct mc_moments *m, struct mc_backend *be,
                                         const struct mc_raw_batch *batch, struct mc_error *err);

/* Moments of two raw streams, read in lockstep to their verified ends. Memory: one record of each.
 * The streams must have the same taps, images and batches, and the same data if both record their
 * inputs; otherwise MC_EINPUT. Release out with mc_moments_release, also after an error. progress
 * receives the number of images done. */
MC_USE_RESULT int mc_joint_moments_of_streams(struct mc_moments *out,
                                              struct mc_activations_reader *a,
                                              struct mc_activations_reader *b,
                                              struct mc_backend *be,
                                              void (*progress)(void *arg, uint64_t images),
                                              void *arg, struct mc_error *err);

#endif

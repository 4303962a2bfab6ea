/* SPDX-License-Identifier: Apache-2.0
 *
 * Synthetic images, so that everything can be tried without a data set: ten classes of shapes and
 * textures. Position, size, rotation, aspect, colour, mottled background, distractors and noise
 * vary. An image depends only on (seed, split, index, size), with the same bytes on every machine:
 * it uses only + - * / and square roots, which IEEE 754 defines exactly. */
#ifndef MC_SYNTH_H
#define MC_SYNTH_H

#include <stdint.h>

#define MC_SYNTH_CLASSES 10
#define MC_SYNTH_MIN_SIZE 8
#define MC_SYNTH_MAX_SIZE 256

extern const char *const mc_synth_class_names[MC_SYNTH_CLASSES];
/* Mean and deviation of the pixels of 32x32 training images of seed 1; the same for every seed. */
extern const float mc_synth_mean[3], mc_synth_std[3];

/* Draw image `index` of a split (0 train, 1 test; they share no random numbers) to (3,size,size)
 * uint8. Returns the label. */
int32_t mc_synth_image(uint64_t seed, int split, uint32_t index, int size, uint8_t *image);

#endif

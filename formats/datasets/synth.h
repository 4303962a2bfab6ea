/* SPDX-License-Identifier: Apache-2.0
 *
 * Synthetic images, so that everything can be tried without a data set: ten classes of shapes and
 * textures of any place, size, turn, aspect and colour, before a mottled ground, among distractors,
 * under noise. An image is a function of (seed, split, index, size) alone, the same bytes on every
 * machine: only + - * / and square roots are used, which IEEE 754 fixes. */
#ifndef MC_SYNTH_H
#define MC_SYNTH_H

#include <stdint.h>

#define MC_SYNTH_CLASSES 10
#define MC_SYNTH_MIN_SIZE 8
#define MC_SYNTH_MAX_SIZE 256

extern const char *const mc_synth_class_names[MC_SYNTH_CLASSES];
/* Of the pixels of 32x32 training images, seed 1; fixed for every seed. */
extern const float mc_synth_mean[3], mc_synth_std[3];

/* Image `index` of a split (0 train, 1 test: they share no random numbers): (3,size,size) uint8.
 * Returns the label. */
int32_t mc_synth_image(uint64_t seed, int split, uint32_t index, int size, uint8_t *image);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Augmentation: random changes of training images. */
#ifndef MC_AUGMENTATION_H
#define MC_AUGMENTATION_H

/* Random changes to a batch of training images; part of a data set. All fields 0: no change.
 * 1. rotation about the centre (nearest pixel), then flip
 * 2. padding by `pad`, then a crop of the image's size
 * 3. turn and scaling about the centre (nearest pixel of the crop); pixels from outside are 0
 * 4. contrast and saturation, in either order with probability 1/2, as torchvision's ColorJitter
 * Step 4 accepts 1 or 3 channels in [0,1] and clamps to [0,1]. Grey is g = .2989 R + .587 G +
 * .114 B, and m is the mean grey of the image, black pixels included. Contrast by factor f is
 * f x + (1 - f) m; saturation is f x + (1 - f) g. A single channel has no saturation.
 * Random numbers are Philox (seed, purpose, epoch, sample, counter). Counter 0: v[0] angle, v[1]
 * flip, v[2] and v[3] crop offsets; 1: turn, scale, contrast, saturation; 2: v[0] order of step
 * 4. */
struct mc_augment {
    float rotate; /* degrees, uniform in [-rotate, rotate] */
    int flip;     /* horizontally, with probability 1/2 */
    int pad;
    float turn;       /* degrees, uniform in [-turn, turn] */
    float scale;      /* factor uniform in [1 - scale, 1 + scale] */
    float contrast;   /* factor uniform in [1 - contrast, 1 + contrast] */
    float saturation; /* factor uniform in [1 - saturation, 1 + saturation] */
};

#endif

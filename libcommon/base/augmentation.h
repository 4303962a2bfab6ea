/* SPDX-License-Identifier: Apache-2.0
 *
 * Augmentation: random changes of training images. */
#ifndef MC_AUGMENTATION_H
#define MC_AUGMENTATION_H

/* What training does to a batch of pixels; part of a data set. All zero: nothing. Rotation by
 * nearest pixel about the centre, then flip, then a crop of the size of the image after padding by
 * `pad`, then a turn and a scaling about the centre, by nearest pixel of what the crop left; what
 * comes from outside is 0 (black). Then contrast and saturation as torchvision's ColorJitter has
 * them, in either order with probability 1/2, of images of 1 or 3 channels in [0,1], grey g = .2989
 * R + .587 G + .114 B: contrast by a factor f is f x + (1 - f) m, m the image's mean grey (black
 * included), saturation f x + (1 - f) g of the pixel, both clamped to [0,1]; one channel is its own
 * grey and has no saturation.
 * Philox (seed, purpose, epoch, sample, counter), counter 0: v[0] angle, v[1] flip, v[2] and v[3]
 * crop offsets; 1: turn, scale, contrast, saturation; 2: v[0] saturation first. */
struct mc_augment {
    float rotate; /* degrees, uniform in [-rotate, rotate] */
    int flip;     /* horizontally, with probability 1/2 */
    int pad;
    float turn;       /* degrees, uniform in [-turn, turn] */
    float scale;      /* factor uniform in [1 - scale, 1 + scale] */
    float contrast;   /* factor uniform in [1 - contrast, 1 + contrast] */
    float saturation; /* and of saturation */
};

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions shared by sets of arrays (npz and idx files): all images and labels of a split are in
 * memory. Used by formats/ only. */
#ifndef MC_ARRAYS_H
#define MC_ARRAYS_H

#include "formats/datasets/source.h"

/* images: (N,H,W) or (N,C,H,W) or (N,H,W,C), uint8 or float32; labels: (N). */
struct mc_arrays {
    int ndim;
    uint64_t shape[4];
    enum mc_dtype pixels;
    void *images;      /* freed by the set */
    int64_t *labels;   /* freed by the set, also after an error */
    int64_t max_label; /* largest label of the other split, or 0 */
};

/* Fill info's n and spec, except mean and std, from the images' shape, before memory is allocated
 * for them. Sets whether the channels come last. MC_EINPUT if the shape is invalid, too large, or
 * ambiguous without o->layout. */
MC_USE_RESULT int mc_arrays_shape(const struct mc_arrays *a, const struct mc_image_source_opts *o,
                                  struct mc_dataset_info *info, int *channels_last,
                                  struct mc_error *err);
/* Make a set that owns the arrays. Its normalisation is the images' mean and standard deviation.
 * Its classes are o's, or one more than the largest label of both splits. MC_EINPUT if a label is
 * out of range or a pixel outside [0,1]. */
MC_USE_RESULT int mc_arrays_open(struct mc_image_source **out, struct mc_arrays *a,
                                 const struct mc_image_source_opts *o, struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the sets of arrays share: all images and labels of a split in memory, as npz and idx files
 * hold them. Used by formats/ only. */
#ifndef MC_ARRAYS_H
#define MC_ARRAYS_H

#include "formats/datasets/source.h"

/* images: (N,H,W) or (N,C,H,W) or (N,H,W,C), uint8 or float32; labels: (N). */
struct mc_arrays {
    int ndim;
    uint64_t shape[4];
    enum mc_dtype pixels;
    void *images;    /* freed by the set */
    int64_t *labels; /* freed by the set, after an error too */
    int64_t most;    /* the largest label of another split, or 0 */
};

/* From the images' shape alone, before anybody makes room for them: info's n, spec without mean and
 * std, and whether the channels come last. MC_EINPUT: it is none, too large, or, unless o says the
 * layout, it could be either. */
MC_USE_RESULT int mc_arrays_shape(const struct mc_arrays *a, const struct mc_image_source_opts *o,
                                  struct mc_dataset_info *info, int *channels_last,
                                  struct mc_error *err);
/* A set that owns the arrays. Its normalisation is the images' mean and standard deviation, its
 * classes are o's, or as many as the largest label says, of the other split too. MC_EINPUT: a label
 * is negative or none of the classes, a pixel is not in [0,1]. */
MC_USE_RESULT int mc_arrays_open(struct mc_image_source **out, struct mc_arrays *a,
                                 const struct mc_image_source_opts *o, struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Image sets in their publishers' layouts, and synthetic ones: one interface, one table. A set
 * returns any image by its number, so a shuffled order needs memory for the order alone. To add a
 * set, write its open function and add a line to the table. */
#ifndef MC_IMAGE_SOURCE_H
#define MC_IMAGE_SOURCE_H

#include "formats/codecs/dataset.h"

enum mc_image_layout { MC_LAYOUT_AUTO, MC_LAYOUT_NCHW, MC_LAYOUT_NHWC }; /* AUTO: by the shape */

struct mc_image_source_opts {
    const char *dir;    /* its folder, or file for some; NULL for synthetic sets */
    const char *labels; /* idx: file of labels, dir being that of images; or NULL */
    const char *split;  /* "train", "test" */
    uint64_t seed;      /* synthetic sets: seed */
    uint64_t samples;   /* 0: the set's own number */
    int size;           /* height and width, for sets that can be resized; 0: own size */
    const char *arrays; /* npz: "images,labels"; NULL: by their names */
    int layout;         /* sets of arrays: enum mc_image_layout */
    int classes;        /* sets of arrays, folders; 0: from the largest label, any from 2 */
};

#define MC_IMAGE_THREADS 64

/* An open set. */
struct mc_image_source {
    struct mc_dataset_info info; /* n: all images of the split; order: of their numbers */
    int sorted;                  /* sorted by class: shuffle unless the user decides otherwise */
    char note[400];              /* message for the user about how the set was read, or "" */
    int parallel; /* up to MC_IMAGE_THREADS threads, of one team of OpenMP, may call get at once */
    int (*get)(struct mc_image_source *s, uint64_t index, void *image, int32_t *label,
               struct mc_error *err);
    void (*close)(struct mc_image_source *s);
};

/* Open a set. MC_EUSAGE for an unknown set (lists all) or split, or for options that the set does
 * not have; MC_EFAIL if its folder cannot be opened; MC_EINPUT if something in it is missing,
 * damaged or of the wrong size. */
MC_USE_RESULT int mc_image_source_open(struct mc_image_source **out, const char *name,
                                       const struct mc_image_source_opts *o, struct mc_error *err);
void mc_image_source_close(struct mc_image_source *s); /* s may be NULL */

/* MC_EFAIL if it does not exist, MC_EINPUT if it is not a folder. */
MC_USE_RESULT int mc_image_source_folder(const char *dir, struct mc_error *err);

struct mc_image_choice {
    uint64_t samples;        /* the first N; 0: all */
    const uint64_t *shuffle; /* NULL, or the seed of a shuffle (Philox, purpose MC_RNG_DATA) */
    int threads;             /* 0: all cores; the stream does not depend on it */
    void (*progress)(void *arg, uint64_t images); /* or NULL: called with the images done */
    void *arg;
};
/* Write these images in order. MC_EUSAGE if the set has fewer. If several images are damaged, the
 * error is the first one's. */
MC_USE_RESULT int mc_image_source_write(struct mc_image_source *s, const char *path,
                                        const struct mc_image_choice *c, const struct mc_history *h,
                                        struct mc_error *err);

/* The sets' open functions. mc_image_source_open then fills in info's name and split, and order and
 * pixels if the table has them. */
typedef int mc_image_source_opener(struct mc_image_source **out,
                                   const struct mc_image_source_opts *o, struct mc_error *err);
mc_image_source_opener mc_cifar10_open, mc_cifar100_open, mc_tiny_imagenet_open, mc_folder_open,
    mc_npz_set_open, mc_idx_open, mc_synth_open;

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of images as their publishers lay them out, or made here: one interface, one table. A set
 * gives any image by its number, so that a shuffled order needs no memory but the order itself. To
 * add one, write its open function and a line of the table. */
#ifndef MC_IMAGE_SOURCE_H
#define MC_IMAGE_SOURCE_H

#include "formats/codecs/dataset.h"

enum mc_image_layout { MC_LAYOUT_TOLD, MC_LAYOUT_NCHW, MC_LAYOUT_NHWC }; /* told by the shape */

struct mc_image_source_opts {
    const char *dir;    /* where it lies, a file for some; NULL for sets that are made */
    const char *labels; /* of idx: their file, dir being that of the images; or NULL */
    const char *split;  /* "train", "test" */
    uint64_t seed;      /* of sets that are made, which also take the next one */
    uint64_t samples;   /* 0: the set's own number */
    int size;           /* height and width, of sets that take it; 0: the set's own */
    const char *arrays; /* of npz: "images,labels"; NULL: by their names */
    int layout;         /* of sets of arrays: enum mc_image_layout */
    int classes;        /* of sets of arrays; 0: the largest label says */
};

/* An open set. */
struct mc_image_source {
    struct mc_dataset_info info; /* n: all images of the split; order: as they are numbered */
    int sorted;                  /* class by class: to be shuffled unless told otherwise */
    char note[400]; /* what the user should know of how the set was read: a sentence, or "" */
    int (*get)(struct mc_image_source *s, uint64_t index, void *image, int32_t *label,
               struct mc_error *err);
    void (*close)(struct mc_image_source *s); /* frees s */
};

/* MC_EUSAGE for an unknown set (lists what there is) or split, or a size where none is taken;
 * MC_EFAIL when the folder cannot be opened; MC_EINPUT when something in it is missing, damaged or
 * of the wrong size. */
MC_USE_RESULT int mc_image_source_open(struct mc_image_source **out, const char *name,
                                       const struct mc_image_source_opts *o, struct mc_error *err);
void mc_image_source_close(struct mc_image_source *s); /* NULL is fine */

/* MC_EFAIL when there is nothing of that name, MC_EINPUT when it is no folder. */
MC_USE_RESULT int mc_image_source_folder(const char *dir, struct mc_error *err);

struct mc_image_choice {
    uint64_t samples;        /* the first ones; 0: all */
    const uint64_t *shuffle; /* not NULL: after a shuffle (Philox, purpose MC_RNG_DATA, keyed by
                                the seed it points to; info.order says so) */
    void (*tell)(void *arg, uint64_t done); /* or NULL: called with the images done */
    void *arg;
};
/* Write those images in order. MC_EUSAGE when there are not so many. */
MC_USE_RESULT int mc_image_source_write(struct mc_image_source *s, const char *path,
                                        const struct mc_image_choice *c, const struct mc_history *h,
                                        struct mc_error *err);

/* The sets' open functions. mc_image_source_open fills info's name and split after them, and order
 * and pixels where the table says. */
typedef int mc_image_source_opener(struct mc_image_source **out,
                                   const struct mc_image_source_opts *o, struct mc_error *err);
mc_image_source_opener mc_cifar10_open, mc_cifar100_open, mc_tiny_imagenet_open, mc_folder_open,
    mc_npz_set_open, mc_idx_open, mc_synth_open;

#endif

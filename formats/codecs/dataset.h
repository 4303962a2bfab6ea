/* SPDX-License-Identifier: Apache-2.0
 *
 * Dataset streams: labelled images, always as pixels. formats/codecs/dataset.md is the
 * specification.
 *
 * meta: name, split, order, classes, class_names, mean and std (the normalisation for a network's
 * input), augment. Tensors: images (N,C,H,W) uint8 0..255 or float32 in [0,1]; labels (N) int32. At
 * most one record of images may precede its labels, so that a reader needs one record at a time.
 * The programs write records of images, each followed by its labels. All labels first is valid
 * too. */
#ifndef MC_DATASET_H
#define MC_DATASET_H

#include "formats/stream/history.h"
#include "formats/stream/pack.h"
#include "formats/stream/reader.h"
#include "libcommon/base/augmentation.h"
#include "libcommon/nets/nets.h"

#define MC_DATASET_MAX_CLASSES 65536
#define MC_DATASET_MAX_SIDE 8192
#define MC_DATASET_MAX_IMAGE (16u << 20)
#define MC_DATASET_MAX_IMAGES INT32_MAX /* sample indices are int32 */
#define MC_DATASET_MAX_LABELS_KEPT                                                                 \
    (1 << 24) /* labels that a reader stores before their images
                                              * arrive */

struct mc_dataset_info {
    char name[64];  /* "cifar10", "synth" */
    char split[16]; /* "train", "test" */
    char order[64]; /* "publisher", "shuffled with seed 1" */
    uint64_t n;     /* N images */
    enum mc_dtype pixels;
    struct mc_net_spec spec;   /* C, H, W, classes, mean, std */
    struct mc_augment augment; /* default augmentation of training batches */
    char **class_names;        /* (classes), or NULL */
};

void mc_dataset_info_release(struct mc_dataset_info *info);
/* Make a deep copy, to be released. */
MC_USE_RESULT int mc_dataset_info_copy(struct mc_dataset_info *out,
                                       const struct mc_dataset_info *info, struct mc_error *err);
size_t mc_dataset_image_bytes(const struct mc_dataset_info *info);
/* 1 if a data set's name (n bytes) identifies its images. The names of layouts (mc-data folder,
 * npz, idx), mcz.data's default and "" do not. */
int mc_dataset_is_named(const char *name, size_t n);
/* Suffix of the name of a set of adversarial examples. */
#define MC_DATASET_EXAMPLES "-pgd"

/* Read in order, in constant memory. */
struct mc_dataset_reader;
MC_USE_RESULT int mc_dataset_open(struct mc_dataset_reader **out, const char *path,
                                  struct mc_error *err);
const struct mc_dataset_info *mc_dataset_get_info(const struct mc_dataset_reader *d);
struct mc_reader *mc_dataset_stream(struct mc_dataset_reader *d);
/* Lend the next 1 to max images (n,C,H,W) and labels (n), valid until the next call. *n is 0 at the
 * end and after an error. Checks that labels are in [0, classes) and float pixels are finite and in
 * [0,1]. The last image is lent only after the stream's end is verified. */
MC_USE_RESULT int mc_dataset_lend(struct mc_dataset_reader *d, size_t max, const void **images,
                                  const int32_t **labels, size_t *n, struct mc_error *err);
void mc_dataset_close(struct mc_dataset_reader *d);
/* Check all of an open reader, which remains the caller's, as mc_dataset_lend does. */
MC_USE_RESULT int mc_dataset_check(struct mc_reader *r, struct mc_error *err);

/* Write in order. The stream has its own record size, so its bytes do not depend on the caller's
 * calls. */
struct mc_dataset_writer;
MC_USE_RESULT int mc_dataset_create(struct mc_dataset_writer **out, const char *path,
                                    const struct mc_dataset_info *info, const struct mc_history *h,
                                    struct mc_error *err);
MC_USE_RESULT int mc_dataset_write(struct mc_dataset_writer *d, size_t n, const void *images,
                                   const int32_t *labels, struct mc_error *err);
/* If rc, the caller's result so far, is 0, write the last images and commit, as mc_writer_close;
 * otherwise no file remains. Returns rc, or the error of the commit. Frees d, which may be NULL. */
MC_USE_RESULT int mc_dataset_commit(struct mc_dataset_writer *d, int rc, char *id,
                                    struct mc_error *err);

/* ---- the meta, for formats/ only ---- */

#define MC_DATASET_MAX_CLASS_NAME 256        /* bytes per name */
#define MC_DATASET_MAX_CLASS_NAMES (3 << 19) /* bytes of all names: they fit in a header of 2 MiB */

/* Check the limits of formats/codecs/dataset.md, for writer and reader. MC_EINPUT. */
MC_USE_RESULT int mc_dataset_meta_check(const struct mc_dataset_info *info, struct mc_error *err);
void mc_dataset_meta_pack(const struct mc_dataset_info *info, struct mc_pack *p);
/* Read and check a stream's meta and announced tensors. The caller zeroes info before and releases
 * it after, also after an error. */
MC_USE_RESULT int mc_dataset_meta_unpack(struct mc_dataset_info *info, const struct mc_reader *r,
                                         struct mc_error *err);

#endif

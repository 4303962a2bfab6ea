/* SPDX-License-Identifier: Apache-2.0
 *
 * Dataset streams: images with labels, always pixels. formats/codecs/dataset.md is the
 * specification.
 *
 * meta: name, split, order, classes, class_names, mean, std (the normalisation that a network for
 * it uses), augment. Tensors: images (N,C,H,W) uint8 0..255 or float32 in [0,1]; labels (N) int32.
 * Images never come before their labels but for one record, so that a reader needs one block at a
 * time: the programs write blocks of images, each followed by its labels; labels first do as
 * well. */
#ifndef MC_DATASET_H
#define MC_DATASET_H

#include "formats/stream/history.h"
#include "formats/stream/pack.h"
#include "formats/stream/reader.h"
#include "libcommon/base/augmentation.h"
#include "libcommon/nets/nets.h"

#define MC_DATASET_MAX_CLASSES 65536
#define MC_DATASET_MAX_SIDE 8192
#define MC_DATASET_MAX_IMAGE (16u << 20)     /* bytes of one image */
#define MC_DATASET_MAX_IMAGES INT32_MAX      /* sample indices are int32 */
#define MC_DATASET_MAX_LABELS_KEPT (1 << 24) /* by a reader, for images that are to come */

struct mc_dataset_info {
    char name[64];  /* "cifar10", "synth" */
    char split[16]; /* "train", "test" */
    char order[64]; /* "publisher", "shuffled with seed 1" */
    uint64_t n;     /* N images */
    enum mc_dtype pixels;
    struct mc_net_spec spec;   /* C, H, W, classes, mean, std */
    struct mc_augment augment; /* what training does to a batch by default */
    char **class_names;        /* (classes) or NULL */
};

void mc_dataset_info_release(struct mc_dataset_info *info);
/* A deep copy; release it. */
MC_USE_RESULT int mc_dataset_info_copy(struct mc_dataset_info *out,
                                       const struct mc_dataset_info *info, struct mc_error *err);
size_t mc_dataset_image_bytes(const struct mc_dataset_info *info);
/* Whether the first n bytes of a data set's name say which images it holds. A layout's name
 * (mc-data folder, npz, idx) and mcz.data's default do not, nor does an empty one. */
int mc_dataset_is_named(const char *name, size_t n);
/* The end of the name of a data set's adversarial examples. */
#define MC_DATASET_EXAMPLES "-pgd"

/* Reading in order, in constant memory. */
struct mc_dataset_reader;
MC_USE_RESULT int mc_dataset_open(struct mc_dataset_reader **out, const char *path,
                                  struct mc_error *err);
const struct mc_dataset_info *mc_dataset_get_info(const struct mc_dataset_reader *d);
struct mc_reader *mc_dataset_stream(struct mc_dataset_reader *d); /* for mc_history_input, the id */
/* From 1 to max next images (n,C,H,W) and their labels (n), lent until the next call; *n is 0 at
 * the end, and after an error. Labels are checked to be in [0, classes), float pixels to be finite
 * and in [0,1]. The last image is only lent when the stream's end has been verified. */
MC_USE_RESULT int mc_dataset_lend(struct mc_dataset_reader *d, size_t max, const void **images,
                                  const int32_t **labels, size_t *n, struct mc_error *err);
void mc_dataset_close(struct mc_dataset_reader *d);
/* All of an open reader, which stays the caller's, as mc_dataset_lend checks it. */
MC_USE_RESULT int mc_dataset_check(struct mc_reader *r, struct mc_error *err);

/* Writing in order. The stream is cut into blocks of its own, so that its bytes do not depend on
 * how the caller cuts his calls. */
struct mc_dataset_writer;
MC_USE_RESULT int mc_dataset_create(struct mc_dataset_writer **out, const char *path,
                                    const struct mc_dataset_info *info, const struct mc_history *h,
                                    struct mc_error *err);
MC_USE_RESULT int mc_dataset_write(struct mc_dataset_writer *d, size_t n, const void *images,
                                   const int32_t *labels, struct mc_error *err);
MC_USE_RESULT int mc_dataset_commit(struct mc_dataset_writer *d, char *id, struct mc_error *err);
void mc_dataset_abandon(struct mc_dataset_writer *d); /* NULL is fine */

/* ---- the meta, for formats/ only ---- */

#define MC_DATASET_MAX_CLASS_NAME 256        /* bytes of one */
#define MC_DATASET_MAX_CLASS_NAMES (3 << 19) /* of all: a header of 2 MiB holds them */

/* Writer and reader alike: MC_EINPUT for what is not within formats/codecs/dataset.md's limits. */
MC_USE_RESULT int mc_dataset_meta_check(const struct mc_dataset_info *info, struct mc_error *err);
void mc_dataset_meta_pack(const struct mc_dataset_info *info, struct mc_pack *p);
/* From a stream's meta and its announced tensors; checked. info is zeroed before and released
 * after, also after an error. */
MC_USE_RESULT int mc_dataset_meta_unpack(struct mc_dataset_info *info, const struct mc_reader *r,
                                         struct mc_error *err);

#endif

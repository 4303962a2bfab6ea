/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over a data set, batch by batch into plans and in constant memory, and the questions
 * that come before it: do network and data fit, how many images are meant. */
#ifndef MC_LOADER_H
#define MC_LOADER_H

#include "formats/codecs/dataset.h"
#include "kernels/backend.h"

/* Network and data fit together: same image shape and classes; MC_EINPUT names both. */
MC_USE_RESULT int mc_data_fits(const struct mc_graph *g, const struct mc_dataset_info *info,
                               const char *path, struct mc_error *err);

/* How many images of the data `samples` means; 0 is all. Where the data hold fewer, a number that
 * the user typed (exact) is MC_EINPUT and a default becomes all. MC_EINPUT too: no images. */
MC_USE_RESULT int mc_data_samples(const struct mc_dataset_info *info, const char *path,
                                  uint64_t samples, int exact, uint64_t *out, struct mc_error *err);

struct mc_loader_options {
    size_t batch;
    uint64_t samples; /* the first so many images, as for mc_data_samples */
    int exact;
    const struct mc_augment *augment; /* NULL: none */
    uint32_t purpose;                 /* enum mc_rng_purpose of the augmentation */
    uint64_t seed;                    /* of the control block */
};

struct mc_loader {
    uint64_t wanted;    /* images of the whole pass */
    uint64_t from, to;  /* of them, those to be loaded: all, unless set after open; from: a batch's
                           first */
    struct mc_buf *ctl; /* the control block that batches are loaded with */

    struct mc_backend *be;
    struct mc_dataset_reader *data;
    size_t batch, image_bytes;
    uint64_t read; /* images read so far */
    int ended;
    struct mc_source source;
    struct mc_buf *images, *labels, *order; /* (B) */
    void *host_images;
    int32_t *host_labels, *host_order;
};

/* Data, just opened, for networks of graph g. MC_EINPUT: they do not fit, or too few images.
 * Release, also after an error. */
MC_USE_RESULT int mc_loader_open(struct mc_loader *f, struct mc_backend *be,
                                 const struct mc_graph *g, struct mc_dataset_reader *data,
                                 const struct mc_loader_options *o, struct mc_error *err);
/* The next batch of *n images into each of the plans, whose batch is the loader's. *n is 0 after
 * the last one, when the stream was read to its end and verified: what was counted before is worth
 * nothing until then. */
MC_USE_RESULT int mc_loader_next(struct mc_loader *f, struct mc_plan *const *plans, size_t n_plans,
                                 size_t *n, struct mc_error *err);
void mc_loader_release(struct mc_loader *f);

#endif

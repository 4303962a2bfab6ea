/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over a data set, batch by batch into models and in constant memory. Also checks that
 * network and data fit and counts the images to use.
 *
 *     rc = mc_loader_open(&f, graph, &options, err);
 *     while (!rc && !(rc = mc_loader_next(&f, models, n_models, &n, err)) && n)
 *         rc = use_the_batch();
 *     mc_loader_release(&f); */
#ifndef MC_LOADER_H
#define MC_LOADER_H

#include "kernels/model.h"
#include "formats/codecs/dataset.h"

/* Check that network and data have the same image shape and classes. MC_EINPUT names both. */
MC_USE_RESULT int mc_data_expect(const struct mc_graph *g, const struct mc_dataset_info *info,
                                 const char *path, struct mc_error *err);

/* Check data that are named on the command line but turn out not to be needed: path opens, is a
 * data set, and fits g (NULL: any network). */
MC_USE_RESULT int mc_data_check(const struct mc_graph *g, const char *path, struct mc_error *err);

/* Number of images to use, at most `samples`; 0 is all. If the data have fewer, a number from the
 * user (exact) is MC_EINPUT; a default becomes all. MC_EINPUT also if the data are empty. */
MC_USE_RESULT int mc_data_samples(const struct mc_dataset_info *info, const char *path,
                                  uint64_t samples, int exact, uint64_t *out, struct mc_error *err);

/* Check that every batch of n images has a variance for each batch norm that it normalises. The last
 * batch can be one image, which has one value per channel if the channels have no pixels. MC_EINPUT
 * names the data. */
MC_USE_RESULT int mc_data_batches(const struct mc_graph *g, const char *path, uint64_t n,
                                  uint64_t batch, struct mc_error *err);

struct mc_loader_options {
    struct mc_backend *be;
    struct mc_dataset_reader *data; /* just opened */
    uint64_t batch;                 /* B: images per batch */
    uint64_t samples;               /* the first images to use, as in mc_data_samples */
    int exact;
    int augment;   /* by the data set's settings, with random numbers of MC_RNG_BN */
    uint64_t seed; /* for the augmentation */
    /* Called after every batch; may be NULL. */
    void (*progress)(void *arg, uint64_t images, uint64_t total);
    void *arg;
};

struct mc_loader {
    uint64_t n_images; /* images of the whole pass */
    uint64_t from, to; /* images to load: all, unless changed after open; from must start a batch */
    struct mc_buf *ctl;      /* control values for loading batches */
    struct mc_source source; /* the loaded batch */
    int32_t *host_labels;    /* (B) of the loaded batch */

    struct mc_backend *be;
    struct mc_loader_options o;
    size_t image_bytes;
    uint64_t read;             /* images read so far */
    uint64_t n_reported, last; /* images delivered and reported; images of the loaded batch */
    int ended;
    struct mc_buf *images, *labels, *order; /* (B) */
    int32_t *host_order;
    struct mc_bufs bufs; /* these, and other buffers of the pass */
};

/* Open the data for networks of graph g. MC_EINPUT: they do not fit, or too few images. Release f
 * also after an error. */
MC_USE_RESULT int mc_loader_open(struct mc_loader *f, const struct mc_graph *g,
                                 const struct mc_loader_options *o, struct mc_error *err);
/* Load the next *n images into each model's plan, whose batch must be the loader's. *n is 0 after
 * the last batch, once the stream is verified to its end. Discard all results if that fails. */
MC_USE_RESULT int mc_loader_next(struct mc_loader *f, const struct mc_model *models,
                                 size_t n_models, size_t *n, struct mc_error *err);
/* Load the same batch into a model's plan again. */
void mc_loader_reload(struct mc_loader *f, const struct mc_model *m);
void mc_loader_release(struct mc_loader *f);

#endif

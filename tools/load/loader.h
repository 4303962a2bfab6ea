/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over a data set, batch by batch into models and in constant memory; and the questions
 * that come before it: do network and data fit, how many images are meant.
 *
 *     rc = mc_loader_open(&f, graph, &options, err);
 *     while (!rc && !(rc = mc_loader_next(&f, models, n_models, &n, err)) && n)
 *         rc = look_at_the_batch();
 *     mc_loader_release(&f); */
#ifndef MC_LOADER_H
#define MC_LOADER_H

#include "kernels/model.h"
#include "formats/codecs/dataset.h"

/* Network and data fit together: same image shape and classes; MC_EINPUT names both. */
MC_USE_RESULT int mc_data_fits(const struct mc_graph *g, const struct mc_dataset_info *info,
                               const char *path, struct mc_error *err);

/* Of data that are named but turn out not to be needed: can `path` be opened, is it a data set,
 * does it fit (g NULL: any network)? */
MC_USE_RESULT int mc_data_look(const struct mc_graph *g, const char *path, struct mc_error *err);

/* How many images of the data `samples` means; 0 is all. Where the data hold fewer, a number that
 * the user typed (exact) is MC_EINPUT and a default becomes all. MC_EINPUT too: no images. */
MC_USE_RESULT int mc_data_samples(const struct mc_dataset_info *info, const char *path,
                                  uint64_t samples, int exact, uint64_t *out, struct mc_error *err);

struct mc_loader_options {
    struct mc_backend *be;
    struct mc_dataset_reader *data; /* just opened */
    uint64_t batch;                 /* B: images at a time */
    uint64_t samples;               /* the first so many images, as for mc_data_samples */
    int exact;
    int augment;   /* as the data set says, by random numbers of MC_RNG_BN */
    uint64_t seed; /* of the augmentation */
    /* Told after every batch; may be NULL. */
    void (*progress)(void *arg, uint64_t images, uint64_t in_all);
    void *arg;
};

struct mc_loader {
    uint64_t wanted;         /* images of the whole pass */
    uint64_t from, to;       /* of them, those to be loaded: all, unless set after open; from: a
                                batch's first */
    struct mc_buf *ctl;      /* the control block that batches are loaded with */
    struct mc_source source; /* of the batch that is loaded */
    int32_t *host_labels;    /* (B), of that batch */

    struct mc_backend *be;
    struct mc_loader_options o;
    size_t image_bytes;
    uint64_t read;       /* images read so far */
    uint64_t done, last; /* handed out and told; in the batch that is loaded */
    int ended;
    struct mc_buf *images, *labels, *order; /* (B) */
    int32_t *host_order;
    struct mc_bufs bufs; /* these, and what else the pass needs */
};

/* The data for networks of graph g. MC_EINPUT: they do not fit, or too few images.
 * Release, also after an error. */
MC_USE_RESULT int mc_loader_open(struct mc_loader *f, const struct mc_graph *g,
                                 const struct mc_loader_options *o, struct mc_error *err);
/* The next batch of *n images into each model's plan, whose batch is the loader's. *n is 0 after
 * the last one, when the stream was read to its end and verified: what was counted before is worth
 * nothing until then. */
MC_USE_RESULT int mc_loader_next(struct mc_loader *f, const struct mc_model *models,
                                 size_t n_models, size_t *n, struct mc_error *err);
/* Load the same batch to a model's plan once more. */
void mc_loader_reload(struct mc_loader *f, const struct mc_model *m);
void mc_loader_release(struct mc_loader *f);

#endif

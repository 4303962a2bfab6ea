/* SPDX-License-Identifier: Apache-2.0
 *
 * Measure many points of a span (a curve or a plane) on several data sets, in chunks of points.
 * Memory stays bounded and each data set is read once per chunk. A killed run resumes after its
 * last chunk and writes the same bytes. */
#ifndef MC_BATCHED_H
#define MC_BATCHED_H

#include "formats/codecs/checkpoint.h"
#include "tools/eval/measure.h"

#define MC_BATCHED_MAX_DATA 8
#define MC_BATCHED_NAME 64

struct mc_batched_data {
    const char *path;                 /* NULL: none */
    char name[MC_BATCHED_NAME];       /* name of its results; unused for batch norm's data */
    struct mc_dataset_reader *reader; /* just opened, or NULL; the run closes it */
    uint64_t samples;                 /* as in mc_loader_options */
    int samples_exact;
    /* Results (T), owned by the caller; unused for batch norm's data. robust: with an attack. With
     * per_image, the run allocates the results per image and the caller frees them. */
    struct mc_eval_output out, robust;
    uint64_t n_images, total; /* set: images to measure, images in the data set */
    char id[MC_ID_LEN];       /* set: its content id */
};

struct mc_batched {
    const struct mc_span *span; /* its stats are ignored */
    /* (k) of (S): a point's statistics are their combination by the span's coefficients. NULL if bn
     * is set or S is 0. */
    const float *const *stats;
    /* Options of every pass. Each data set has its own data, samples and exact; augment applies to
     * bn. progress must not be NULL and counts images of all points of this run. */
    struct mc_loader_options pass;
    const struct mc_attack_options *attack; /* resolved, for the robust results; or NULL */
    struct mc_batched_data bn; /* data to re-estimate each point's statistics on, or none */
    int bn_attack;             /* re-estimate on the attack's examples */
    struct mc_batched_data data[MC_BATCHED_MAX_DATA];
    size_t n_data;

    struct mc_history *history; /* receives the data sets as inputs */
    int per_image;              /* keep every image's loss; not with a checkpoint */
    const char *checkpoint;     /* file, or NULL */
    int resume;                 /* from the checkpoint, if it exists */
    uint64_t checkpoint_every;  /* points */
    int several;                /* other runs read the same data */
    /* Start of a checkpoint, for one run only: the tool and the settings that must agree (version,
     * the vectors' ids, the grid or t that the coefficients come from, method). The run adds
     * points, data, the backend's settings and its results so far. */
    struct mc_checkpoint state;
    /* Called once with pass.arg, after all inputs were found to fit; must not be NULL. Arguments:
     * points done by an earlier run, points per chunk, bytes needed in addition to the caller's,
     * and bytes of the results per image, which are allocated next. An error ends the run. */
    int (*begin)(void *arg, size_t first, size_t chunk, size_t bytes, double per_image,
                 struct mc_error *err);
};

/* Fills out, robust, n_images, total and id of the data. MC_EINPUT: data do not fit, or the
 * checkpoint is from another run. MC_EUSAGE: standard input or a pipe, but the data are read
 * more than once. */
MC_USE_RESULT int mc_batched_run(struct mc_batched *s, struct mc_error *err);

#endif

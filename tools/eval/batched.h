/* SPDX-License-Identifier: Apache-2.0
 *
 * Measuring many points of a span on several data sets, in blocks of points: memory stays bounded,
 * each data set is read once a block, and a run that was killed goes on after its last block to the
 * same bytes. A curve and a plane are measured like this. */
#ifndef MC_BATCHED_H
#define MC_BATCHED_H

#include "formats/codecs/checkpoint.h"
#include "tools/eval/measure.h"

#define MC_BATCHED_MAX_DATA 8
#define MC_BATCHED_NAME 64

struct mc_batched_data {
    const char *path;                 /* NULL: none */
    char name[MC_BATCHED_NAME];       /* of its results; not of batch norm's data */
    struct mc_dataset_reader *reader; /* just opened, or NULL; the evaluation closes it */
    uint64_t samples;                 /* as in mc_loader_options */
    int samples_exact;
    /* The caller's results, (T); not of batch norm's data; robust where there is an attack. Every
     * image's, where `each` asks for them, are the run's own memory until the caller frees it. */
    struct mc_eval_found out, robust;
    uint64_t wanted, in_all; /* images to be measured, and that the data set has: set */
    char id[MC_ID_LEN];      /* its content id: set */
};

struct mc_batched {
    const struct mc_span *span; /* its stats are not looked at */
    /* (k) of (S): a point's statistics are their sum by the span's coefficients. NULL: bn is
     * there, or S is 0. */
    const float *const *stats;
    /* Of every pass. data, samples and exact are each data
     * set's, augment is bn's. progress, not NULL, is told of this run, all points. */
    struct mc_loader_options pass;
    const struct mc_attack_options *attack; /* resolved: robust figures too; or NULL */
    struct mc_batched_data bn; /* to re-estimate statistics on at each point, where there are any */
    int bn_attack;             /* on the attack's examples */
    struct mc_batched_data data[MC_BATCHED_MAX_DATA];
    size_t n_data;

    struct mc_history *history; /* told of the data sets, or NULL */
    int each;                   /* keep every image's loss; not with a checkpoint */
    const char *checkpoint;     /* file, or NULL */
    int resume;                 /* from it, if it is there */
    uint64_t checkpoint_every;  /* points */
    /* What a checkpoint begins with: the tool, and settings that it must share, the version, the
     * vectors' ids, what the coefficients were made from, how is measured; the points, the data and
     * what the backend computes with are added, and while it runs the results. With a checkpoint
     * for one run only. */
    struct mc_checkpoint state;
    /* Not NULL. Told pass.arg once, when all inputs were seen to fit: how many points an earlier
     * run did, how many are measured at a time, the bytes that this takes beside what the caller
     * holds, and those of every image's results, which are taken next. An error ends the run. */
    int (*begin)(void *arg, size_t done, size_t block, size_t bytes, double each,
                 struct mc_error *err);
};

/* Fills the data's out, robust, wanted, in_all and id. MC_EINPUT: data that do not fit, or a
 * checkpoint of another run; MC_EUSAGE: standard input where a data set is read more than once. */
MC_USE_RESULT int mc_batched_run(struct mc_batched *s, struct mc_error *err);

#endif

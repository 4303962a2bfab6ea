/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch-norm statistics of one network, measured on data: what mc-repair and mc-bezier --point do.
 * mc-eval measures those of many points by the same function, mc_eval_statistics. */
#ifndef MC_OPTIONS_STATISTICS_H
#define MC_OPTIONS_STATISTICS_H

#include "formats/codecs/weights.h"
#include "tools/cli/cli.h"

struct mc_statistics_options {
    const char *data;
    uint64_t batch, samples, seed;
    int exact;         /* the user chose the number of samples */
    const char *plain; /* the option that leaves out the augmentation, or NULL: augmented images */
    int augmented;     /* the network was trained on augmented images */
};

/* Set w->stats; with cli's backend, which must be open. The data become an input in cli's history.
 * Warns if the data do not match the network. */
MC_USE_RESULT int mc_statistics_set(struct mc_cli *cli, struct mc_weights *w,
                                    const struct mc_statistics_options *o, struct mc_error *err);

#endif

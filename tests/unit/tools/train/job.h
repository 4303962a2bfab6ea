/* SPDX-License-Identifier: Apache-2.0
 *
 * A run of the training loop for tests. Header only, for test programs. */
#ifndef MC_TEST_JOB_H
#define MC_TEST_JOB_H

#include "tools/train/train.h"

/* epoch: called after each epoch with arg; may be NULL. */
static inline int run_job(struct mc_backend *on, const struct mc_graph *g,
                          struct mc_in_memory *images, struct mc_objective *objective,
                          const struct mc_train_options *o,
                          void (*epoch)(void *arg, const struct mc_train_epoch *e), void *arg,
                          struct mc_error *err)
{
    struct mc_checkpoint state = {.tool = "test"};
    const struct mc_train_job job = {.be = on,
                                     .graph = g,
                                     .data = images,
                                     .objective = objective,
                                     .o = o,
                                     .state = &state,
                                     .watch = {.epoch = epoch, .arg = arg}};

    return mc_train_run(&job, err);
}

#endif

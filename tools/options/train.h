/* SPDX-License-Identifier: Apache-2.0
 *
 * The training loop at the command line: the options, log lines and progress that every trainer
 * shares. */
#ifndef MC_TRAIN_CLI_H
#define MC_TRAIN_CLI_H

#include "tools/options/attack.h"
#include "tools/cli/log.h"
#include "tools/train/train.h"

/* Uses that an option of training may be for (mc_option_idle). */
enum {
    MC_USE_TRAINING = 1,
    MC_USE_CURVE_STEP = 2,
    MC_USE_PERMUTATION_STEP = 4,
    MC_USE_BOTH_STEPS = 8, /* where one of them may be left out by 0 epochs */
    MC_USE_SHAPE = 16      /* a curve's, also of one that is not trained */
};

struct mc_train_cli {
    struct mc_train_options train;
    struct mc_attack_options attack; /* of --attack; train.attack points here */
    const char *data;
    uint64_t samples;
    struct mc_log *log;
    /* More lines of the log after an epoch's own, or NULL. */
    void (*told)(void *arg, struct mc_log *log, const struct mc_train_epoch *e);
    void *told_arg;
    struct mc_cli *cli;
    struct mc_progress progress;
    uint64_t done_before;       /* epochs of an earlier run */
    double loss;                /* of the last epoch */
    struct mc_in_memory images; /* of data */
    /* Begun by mc_train_cli_open_data with the tool and the version; the program's settings come
     * after it and before mc_train_cli_run, which adds the options'. */
    struct mc_checkpoint state;
};

/* Last, also after an error: releases what is left and closes the log, after the result is written,
 * so that a full disk under the log costs no result. Returns rc, the caller's so far, or what
 * failed. */
MC_USE_RESULT int mc_train_cli_close(struct mc_train_cli *f, int rc, struct mc_error *err);

/* The options of training, at this learning rate where none is given. Before mc_cli_parse. */
void mc_train_cli_options(struct mc_train_cli *f, struct mc_cli *cli, const char *lr);
/* Options that contradict each other are usage errors. Call after parsing. */
void mc_train_cli_check(struct mc_train_cli *f);
/* Whether the checkpoint may be begun or resumed; then opens the program's backend. */
MC_USE_RESULT int mc_train_cli_open(struct mc_train_cli *f, struct mc_error *err);
/* Opens the data: what they announce is in f->images.info. */
MC_USE_RESULT int mc_train_cli_open_data(struct mc_train_cli *f, struct mc_error *err);
/* After it: do a network of this graph and the data fit together? Warns if they are not those that
 * the networks were trained on (dataset, other: their names, or ""). Settles what their kind
 * decides (the attack's radius), and notes all options and what the backend computes with in the
 * history. */
MC_USE_RESULT int mc_train_cli_resolve(struct mc_train_cli *f, const struct mc_graph *g,
                                       const char *dataset, const char *other,
                                       struct mc_error *err);
/* With -v how much memory this takes; reads the data and, unless there are 0 epochs, trains:
 * mc_train_run, watched by log lines, progress, a line an epoch with -v. The log is begun only when
 * the checkpoint to resume from was accepted. Warns if the last epoch's loss is more than a
 * hundred times that of guessing. */
MC_USE_RESULT int mc_train_cli_run(struct mc_train_cli *f, const struct mc_graph *g,
                                   struct mc_objective *objective, struct mc_error *err);

#endif

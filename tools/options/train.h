/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options of the training loop, with the log lines and progress that all trainers
 * share. */
#ifndef MC_TRAIN_CLI_H
#define MC_TRAIN_CLI_H

#include "tools/options/attack.h"
#include "tools/cli/log.h"
#include "tools/eval/measure.h"
#include "tools/train/train.h"

/* Uses of a program in which an option of training may have an effect (mc_option_idle). */
enum {
    MC_USE_TRAINING = 1,
    MC_USE_CURVE_STEP = 2,
    MC_USE_PERMUTATION_STEP = 4,
    MC_USE_BOTH_STEPS = 8, /* 0 epochs may leave out one of the two steps */
    MC_USE_SHAPE = 16      /* a curve's shape, even without training */
};

struct mc_train_cli {
    struct mc_train_options train;
    struct mc_attack_options attack; /* --attack; train.attack points here */
    double dropout;                  /* --dropout; train.dropout points here */
    const char *data;
    uint64_t samples;
    /* Results of the last epoch on other data, which the objective measures after each; or NULL. */
    const struct mc_eval_result *val;
    struct mc_log *log;
    /* Called after the log line of each epoch, to add more lines; or NULL. */
    void (*on_epoch)(void *arg, struct mc_log *log, const struct mc_train_epoch *e);
    void *on_epoch_arg;
    struct mc_cli *cli;
    struct mc_progress progress;
    uint64_t resumed;           /* epochs of an earlier run */
    double loss;                /* the last epoch's */
    struct mc_in_memory images; /* contents of data */
    /* Filled by mc_train_cli_open_data (tool and version), then by the program (its own settings),
     * then by mc_train_cli_run (the options). */
    struct mc_checkpoint state;
};

/* Releases everything and closes the log. Call it last, even after an error, and after the result
 * is written: then a full disk under the log does not cost the result. Returns rc (the caller's
 * result so far), or the log's error. */
MC_USE_RESULT int mc_train_cli_close(struct mc_train_cli *f, int rc, struct mc_error *err);

/* Adds the options of training; lr is the default learning rate. Call before mc_cli_parse. */
void mc_train_cli_options(struct mc_train_cli *f, struct mc_cli *cli, const char *lr);
/* Reports options that contradict each other (usage errors). Call after parsing. */
void mc_train_cli_check(struct mc_train_cli *f);
/* Checks that the checkpoint may be started or resumed; then opens the program's backend. */
MC_USE_RESULT int mc_train_cli_open(struct mc_train_cli *f, struct mc_error *err);
/* Opens the data and sets f->images.info from their header. */
MC_USE_RESULT int mc_train_cli_open_data(struct mc_train_cli *f, struct mc_error *err);
/* Call after mc_train_cli_open_data. Checks that networks of this graph accept the data; warns if
 * the networks were trained on other data (dataset, other: names of their data sets, or "").
 * Completes options that depend on the data (the attack's radius). Records all options and the
 * backend's settings in the history. */
MC_USE_RESULT int mc_train_cli_resolve(struct mc_train_cli *f, const struct mc_graph *g,
                                       const char *dataset, const char *other,
                                       struct mc_error *err);
/* Prints with -v how much memory the run uses, reads the data and, unless there are 0 epochs,
 * trains: mc_train_run with log lines, progress and, with -v, one line per epoch. The log starts
 * only after the checkpoint was accepted. Warns if the last epoch's loss is more than a hundred
 * times that of guessing. */
MC_USE_RESULT int mc_train_cli_run(struct mc_train_cli *f, const struct mc_graph *g,
                                   struct mc_objective *objective, struct mc_error *err);

#endif

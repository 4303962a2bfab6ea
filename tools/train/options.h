/* SPDX-License-Identifier: Apache-2.0
 *
 * The training loop at the command line: the options, log lines and progress that every trainer
 * shares. */
#ifndef MC_TRAIN_CLI_H
#define MC_TRAIN_CLI_H

#include "tools/attack/options.h"
#include "tools/cli/log.h"
#include "tools/train/train.h"

enum {
    MC_KEY_EPOCHS = 0x4800,
    MC_KEY_BATCH,
    MC_KEY_LR,
    MC_KEY_MOMENTUM,
    MC_KEY_DECAY,
    MC_KEY_SCHEDULE,
    MC_KEY_NO_NESTEROV,
    MC_KEY_NO_AUGMENT,
    MC_KEY_HUBER,
    MC_KEY_STOP_AFTER,
    MC_KEY_CHECKPOINT,
    MC_KEY_CHECKPOINT_EVERY,
    MC_KEY_RESUME,
    MC_KEY_SAMPLES
};

/* clang-format off */
#define MC_TRAIN_OPTIONS(lr) \
    {"data", 'd', "FILE", 0, "dataset stream to train on (- for standard input)", 10}, \
    {"lr", MC_KEY_LR, "X", 0, "learning rate (default " lr ")", 20}, \
    {"epochs", MC_KEY_EPOCHS, "N", 0, "epochs (default 250)", 20}, \
    {"batch", MC_KEY_BATCH, "N", 0, "images a step (default 128)", 20}, \
    {"momentum", MC_KEY_MOMENTUM, "X", 0, "default 0.9", 20}, \
    {"no-nesterov", MC_KEY_NO_NESTEROV, 0, 0, "plain momentum", 20}, \
    {"weight-decay", MC_KEY_DECAY, "X", 0, "default 5e-4, on all parameters", 20}, \
    {"schedule", MC_KEY_SCHEDULE, "NAME", 0, \
     "of the learning rate: step[:EPOCHS] (the paper's: halved every 20 epochs, times .9996 each; the " \
     "default), linear (its for robust networks: held to half of the epochs, then evenly down to 1% of it at " \
     "90%), cosine, onecycle", 20}, \
    {"no-augment", MC_KEY_NO_AUGMENT, 0, 0, "train on the images as they are", 20}, \
    {"samples", MC_KEY_SAMPLES, "N", 0, "train on the first N images", 20}, \
    {"huber", MC_KEY_HUBER, "DELTA", 0, "while training, smooth every ReLU within DELTA of 0", 20}, \
    MC_OPTION_ATTACK("train on the adversarial examples of every batch", 20), \
    {"stop-after", MC_KEY_STOP_AFTER, "N", 0, "stop after N epochs, the schedule unchanged", 20}, \
    {"checkpoint", MC_KEY_CHECKPOINT, "FILE", 0, "save the run's state there after each epoch; a file that is there is " \
     "refused without --resume", 30}, \
    {"checkpoint-every", MC_KEY_CHECKPOINT_EVERY, "N", 0, "save it after each N epochs only (default 1)", 30}, \
    {"resume", MC_KEY_RESUME, 0, 0, "go on from the checkpoint, if it is there", 30}, \
    MC_OPTION_OUTPUT, MC_OPTION_SEED, MC_OPTION_THREADS, MC_OPTION_DEVICE, MC_OPTION_PRECISION, \
    MC_OPTION_DETERMINISTIC, \
    MC_OPTION_LOG_JSON, MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY
/* clang-format on */

struct mc_train_cli {
    struct mc_train_options train;
    struct mc_attack_options attack; /* of --attack; fit.attack points here */
    const char *data;
    uint64_t samples;
    const char *given; /* a training option that was given, but for --batch; or NULL */
    struct mc_log *log;
    /* More lines of the log after an epoch's own, or NULL. */
    void (*told)(void *arg, struct mc_log *log, const struct mc_train_epoch *e);
    void *told_arg;
    const struct mc_cli *cli;
    struct mc_progress progress;
    uint64_t done_before; /* epochs of an earlier run */
    uint64_t images;      /* an epoch */
};

/* After the result is written: whether the log could be, so that a full disk under the log costs no
 * result. */
MC_USE_RESULT int mc_train_cli_close(struct mc_train_cli *f, struct mc_error *err);

/* The paper's defaults, at this learning rate. */
void mc_train_cli_defaults(struct mc_train_cli *f, double lr);
/* MC_TRAIN_OPTIONS and what mc_cli_option takes; ARGP_ERR_UNKNOWN for anything else. */
error_t mc_train_cli_option(struct mc_train_cli *f, struct mc_cli *cli, int key, char *arg,
                            struct argp_state *state);
/* Options that contradict each other are usage errors. Call after parsing. */
void mc_train_cli_check(const struct mc_train_cli *f);
/* mc_cli_ready with --data and --checkpoint, and whether that one may be begun or resumed. */
MC_USE_RESULT int mc_train_cli_ready(const struct mc_train_cli *f, struct mc_cli *cli,
                                     struct mc_error *err);
/* When the data are known: settles what their kind decides (the attack's radius), and notes all
 * options and what the backend computes with in the history. */
MC_USE_RESULT int mc_train_cli_settle(struct mc_train_cli *f, const struct mc_backend *be,
                                      const struct mc_dataset_info *info, struct mc_history *h,
                                      struct mc_error *err);
/* Before the images are read: with -v, how much memory they, the plan and the vectors will take.
 * plans: of that network, as large as the one that trains; vectors: of P floats, as
 * mc_curve_objective_vectors counts; matrices: floats of permutations' matrices. */
MC_USE_RESULT int mc_train_cli_memory(const struct mc_train_cli *f, const struct mc_cli *cli,
                                      struct mc_backend *be, const struct mc_graph *g,
                                      const struct mc_dataset_info *info, int plans, size_t vectors,
                                      size_t matrices, struct mc_error *err);
/* mc_train_run, watched: log lines, progress, a line an epoch with -v. The log is begun only when
 * the checkpoint to resume from was accepted. */
MC_USE_RESULT int mc_train_cli_run(struct mc_train_cli *f, const struct mc_cli *cli,
                                   struct mc_backend *be, const struct mc_graph *g,
                                   const struct mc_in_memory *data, struct mc_objective *objective,
                                   const struct mc_checkpoint_setting *identity, size_t n_identity,
                                   struct mc_error *err);

#endif

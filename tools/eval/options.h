/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation at the command line: which data to measure on and to re-estimate batch norm on, how
 * many images, checkpoint and progress; shared by networks, curves and planes. */
#ifndef MC_EVAL_CLI_H
#define MC_EVAL_CLI_H

#include "tools/attack/options.h"
#include "tools/cli/cli.h"
#include "tools/eval/batched.h"
#include "tools/eval/report.h"

enum {
    MC_KEY_BN_DATA = 0x4900,
    MC_KEY_BN_SAMPLES,
    MC_KEY_BN_PLAIN,
    MC_KEY_BN_ATTACK,
    MC_KEY_EVAL_SAMPLES,
    MC_KEY_TEST_SAMPLES,
    MC_KEY_FULL,
    MC_KEY_EVAL_BATCH,
    MC_KEY_EVAL_CHECKPOINT,
    MC_KEY_EVAL_EVERY,
    MC_KEY_EVAL_RESUME
};

/* clang-format off */
#define MC_EVAL_OPTIONS \
    {"data", 'd', "[NAME=]FILE", 0, \
     "measure on this dataset stream; NAME (default: its split) heads its columns; repeatable", 10}, \
    {"bn-data", MC_KEY_BN_DATA, "FILE", 0, "re-estimate batch norm on this at each point", 20}, \
    {"bn-samples", MC_KEY_BN_SAMPLES, "N", 0, "first N images of --bn-data (default 10000)", 20}, \
    {"bn-plain", MC_KEY_BN_PLAIN, 0, 0, "re-estimate on images as they are, not augmented", 20}, \
    MC_OPTION_ATTACK("measure adversarial examples too, made at each point under its statistics: columns " \
                     "NAME.robust.loss, NAME.robust.accuracy; eps and step are those of the first --data", 25), \
    {"bn-attack", MC_KEY_BN_ATTACK, 0, 0, "re-estimate batch norm on adversarial examples too, not clean images", 25}, \
    {"samples", MC_KEY_EVAL_SAMPLES, "N", 0, \
     "first N images of a data set whose split is train (default 10000)", 30}, \
    {"test-samples", MC_KEY_TEST_SAMPLES, "N", 0, "first N images of every other data set (default all)", 30}, \
    {"full", MC_KEY_FULL, 0, 0, "all images, of training data and for batch norm too", 30}, \
    {"batch", MC_KEY_EVAL_BATCH, "N", 0, "images at a time (default 128)", 30}, \
    {"checkpoint", MC_KEY_EVAL_CHECKPOINT, "FILE", 0, \
     "of a curve or plane: save the points that are done there; the data sets are read once more " \
     "first, for their ids; a file that is there is refused without --resume", 35}, \
    {"checkpoint-every", MC_KEY_EVAL_EVERY, "N", 0, "save it after each N points (default 16)", 35}, \
    {"resume", MC_KEY_EVAL_RESUME, 0, 0, "go on from the checkpoint, if it is there", 35}
/* clang-format on */

struct mc_eval_cli {
    const struct mc_cli *cli;
    struct mc_report report;
    size_t n_data; /* the first of report.data; with an attack, as many robust ones follow */
    const char *file[MC_BATCHED_MAX_DATA]; /* of these */
    struct mc_dataset_reader
        *open[MC_BATCHED_MAX_DATA]; /* before the work begins; NULL once read */
    struct mc_attack_options attack;
    char attack_text[MC_ATTACK_TEXT]; /* report.attack points here */
    int attacked;
    const char *bn_data, *checkpoint;
    uint64_t batch, samples, test_samples, bn_samples, every; /* test_samples 0: all */
    int bn_plain, full, resume, samples_given, bn_samples_given, every_given;
    int say_memory; /* before the work */
    struct mc_progress progress;
};

void mc_eval_cli_defaults(struct mc_eval_cli *e, const struct mc_cli *cli);
/* ARGP_ERR_UNKNOWN for what is not an option of evaluation. */
error_t mc_eval_cli_option(struct mc_eval_cli *e, int key, const char *arg);
/* Options that contradict each other are usage errors; registers the files. Call after parsing. */
void mc_eval_cli_check(const struct mc_eval_cli *e, struct mc_cli *cli);
/* What is missing is told before anything is measured: the checkpoint, and the data sets. Settles
 * the attack by the first of them. */
MC_USE_RESULT int mc_eval_cli_look_ahead(struct mc_eval_cli *e, struct mc_error *err);
/* After it: does a network of this graph take these data sets? MC_EINPUT if not. */
MC_USE_RESULT int mc_eval_cli_fits(const struct mc_eval_cli *e, const struct mc_graph *g,
                                   struct mc_error *err);
/* Measure the span's points into report.data. own: (S) statistics where --bn-data is none, or NULL:
 * then networks with batch norm are MC_EUSAGE "`what` needs --bn-data". identity: as in mc_batched.
 */
MC_USE_RESULT int mc_eval_cli_measure(struct mc_eval_cli *e, struct mc_backend *be,
                                      const struct mc_span *span, const float *own,
                                      const char *what,
                                      const struct mc_checkpoint_setting *identity,
                                      size_t n_identity, struct mc_error *err);
void mc_eval_cli_release(struct mc_eval_cli *e);

#endif

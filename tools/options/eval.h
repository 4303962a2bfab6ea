/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation at the command line: which data to measure on and to re-estimate batch norm on, how
 * many images, checkpoint and progress; shared by networks, curves and planes. */
#ifndef MC_EVAL_CLI_H
#define MC_EVAL_CLI_H

#include "tools/options/attack.h"
#include "tools/cli/cli.h"
#include "tools/eval/batched.h"
#include "tools/eval/report.h"

struct mc_eval_cli {
    struct mc_cli *cli; /* whose backend is open before anything is measured */
    /* As the options are; a data set's reader is open before the work begins, NULL once read. */
    struct mc_batched sweep;
    struct mc_span span;             /* as mc_eval_cli_measure was given it; sweep's */
    struct mc_report report;         /* of sweep, whose vectors it does not look at */
    struct mc_attack_options attack; /* sweep.attack points here */
    /* networks, or a curve, of which the span's points are (mc_eval_cli_subject) */
    struct mc_eval_subject {
        const char *dataset;
        int augmented;
    } subjects[3];
    size_t n_subjects;
    uint64_t samples, test_samples; /* test_samples 0: all */
    int bn_plain, full;
    struct mc_progress progress;
};

/* The options of evaluation. Before mc_cli_parse. */
void mc_eval_cli_options(struct mc_eval_cli *e, struct mc_cli *cli);
/* Options that contradict each other are usage errors; registers the data. Call after parsing. */
void mc_eval_cli_check(const struct mc_eval_cli *e);
/* What is missing is told before anything is measured: the checkpoint, and the data sets. Settles
 * the attack by the first of them, and begins sweep.state with the tool and the version. */
MC_USE_RESULT int mc_eval_cli_open_data(struct mc_eval_cli *e, struct mc_error *err);
/* After it: does a network of this graph take these data sets? MC_EINPUT if not. */
MC_USE_RESULT int mc_eval_cli_fits(const struct mc_eval_cli *e, const struct mc_graph *g,
                                   struct mc_error *err);
/* Before it: one more network, or curve, of which the span is; what its stream says of its training
 * (struct mc_weights), for warnings. dataset is kept by pointer. */
void mc_eval_cli_subject(struct mc_eval_cli *e, const char *dataset, int augmented);
/* Measure the span's points into sweep.data; a curve's or a plane's are finite (MC_EFAIL), for
 * networks the caller asks mc_report_check. Where --bn-data is none and sweep.stats are
 * not there, networks with batch norm are MC_EUSAGE "a curve needs --bn-data". What
 * else a checkpoint must share is in sweep.state already. */
MC_USE_RESULT int mc_eval_cli_measure(struct mc_eval_cli *e, const struct mc_span *span,
                                      struct mc_error *err);
void mc_eval_cli_release(struct mc_eval_cli *e);

#endif

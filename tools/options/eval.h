/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options of evaluation, shared by networks, curves and planes: data to measure on,
 * data for batch norm, numbers of images, checkpoint and progress. */
#ifndef MC_EVAL_CLI_H
#define MC_EVAL_CLI_H

#include "tools/options/attack.h"
#include "tools/cli/cli.h"
#include "tools/eval/batched.h"
#include "tools/eval/report.h"

struct mc_eval_cli {
    struct mc_cli *cli; /* the caller opens its backend before anything is measured */
    /* Set from the options. A data set's reader is open before the work starts and NULL once it has
     * been read. */
    struct mc_batched sweep;
    struct mc_span span;             /* sweep's copy of mc_eval_cli_measure's argument */
    struct mc_report report;         /* reads sweep, except its vectors */
    struct mc_attack_options attack; /* sweep.attack points here */
    /* the networks or the curve that the span consists of (mc_eval_cli_subject) */
    struct mc_eval_subject {
        const char *dataset;
        int augmented;
    } subjects[3];
    size_t n_subjects;
    uint64_t samples, test_samples; /* test_samples 0: all */
    int bn_plain, full;
    struct mc_progress progress;
};

/* Adds the options of evaluation. Call before mc_cli_parse. */
void mc_eval_cli_options(struct mc_eval_cli *e, struct mc_cli *cli);
/* Reports options that contradict each other (usage errors); registers the data. Call after
 * parsing. */
void mc_eval_cli_check(const struct mc_eval_cli *e);
/* Opens the data sets and checks the checkpoint's path, so that missing files are reported before
 * anything is measured. Completes the attack from the first data set; starts sweep.state with the
 * tool and the version. */
MC_USE_RESULT int mc_eval_cli_open_data(struct mc_eval_cli *e, struct mc_error *err);
/* Checks that networks of this graph accept the data sets, or returns MC_EINPUT. Call after
 * mc_eval_cli_open_data. */
MC_USE_RESULT int mc_eval_cli_expect(const struct mc_eval_cli *e, const struct mc_graph *g,
                                     struct mc_error *err);
/* Records, for warnings, the data set and augmentation (as in struct mc_weights) that a network or
 * curve of the span was trained with. dataset is kept by pointer. Call before
 * mc_eval_cli_measure. */
void mc_eval_cli_subject(struct mc_eval_cli *e, const char *dataset, int augmented);
/* Measures the span's points into sweep.data. MC_EFAIL if a result of a curve or plane is not
 * finite; for networks the caller calls mc_report_check. MC_EUSAGE if the graph has batch norm but
 * neither --bn-data nor sweep.stats is set. sweep.state must already contain the other settings
 * that a checkpoint compares. */
MC_USE_RESULT int mc_eval_cli_measure(struct mc_eval_cli *e, const struct mc_span *span,
                                      struct mc_error *err);
void mc_eval_cli_release(struct mc_eval_cli *e);

#endif

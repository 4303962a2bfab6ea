/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options of proximal alternating minimisation, in addition to those of the training
 * loop (tools/options/train.h), and the messages and log lines after each step. */
#ifndef MC_PAM_CLI_H
#define MC_PAM_CLI_H

#include "tools/pam/pam.h"
#include "tools/options/train.h"

enum mc_pam_stage { MC_PAM_BOTH, MC_PAM_PERMUTATION, MC_PAM_CURVE };

struct mc_pam_cli {
    struct mc_pam_options pam;
    enum mc_pam_stage stage;
    int as_paper;
    const struct mc_train_cli *train;
    const struct mc_pam *run;
};

/* Adds its options and those of training. Call before mc_cli_parse. */
void mc_pam_cli_options(struct mc_pam_cli *p, struct mc_train_cli *f, struct mc_cli *cli);
/* Reports options that contradict each other (usage errors). Sets the epochs of the steps from
 * --stage and --epochs, and applies --as-paper. Call after parsing. */
void mc_pam_cli_check(struct mc_pam_cli *p, struct mc_train_cli *f);
/* Logs every step and iteration, and prints them with -v. `run` is read during the training. */
void mc_pam_cli_watch(struct mc_pam_cli *p, struct mc_train_cli *f, const struct mc_pam *run);

#endif

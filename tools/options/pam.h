/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation at the command line: its options, which are no part of the
 * training loop's (tools/options/train.h); what is told and logged after each step; what the
 * history and a checkpoint hold of them. */
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

/* Its options, and those of training beside them. Before mc_cli_parse. */
void mc_pam_cli_options(struct mc_pam_cli *p, struct mc_train_cli *f, struct mc_cli *cli);
/* Options that contradict each other are usage errors. Settles the steps' epochs by the stage and
 * --epochs, and what --as-paper decides. Call after parsing. */
void mc_pam_cli_check(struct mc_pam_cli *p, struct mc_train_cli *f);
/* What a checkpoint must share of the options: every one of them, reals exactly. */
void mc_pam_cli_identity(const struct mc_pam_cli *p, struct mc_checkpoint *identity);
/* Has the run log each step and iteration, and tell it with -v. `run` is read while training
 * lasts. */
void mc_pam_cli_watch(struct mc_pam_cli *p, struct mc_train_cli *f, const struct mc_pam *run);

#endif

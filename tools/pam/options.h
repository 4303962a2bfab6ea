/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation at the command line: its options, which are no part of the
 * training loop's (tools/train/options.h); what is told and logged after each step; what the
 * history and a checkpoint hold of them. */
#ifndef MC_PAM_CLI_H
#define MC_PAM_CLI_H

#include "tools/pam/pam.h"
#include "tools/train/options.h"

enum {
    MC_KEY_STAGE = 0x4a00,
    MC_KEY_OUTER,
    MC_KEY_PERMUTATION_EPOCHS,
    MC_KEY_PERMUTATION_LR,
    MC_KEY_NU_PERMUTATION,
    MC_KEY_NU_CURVE,
    MC_KEY_SWEEPS,
    MC_KEY_DRAWS,
    MC_KEY_DROP,
    MC_KEY_TERMS,
    MC_KEY_JUDGE_IMAGES,
    MC_KEY_JUDGE_POINTS,
    MC_KEY_ACCEPT,
    MC_KEY_SELECT_BY,
    MC_KEY_AS_PAPER,
    MC_KEY_SPECTRAL
};

/* clang-format off */
#define MC_PAM_OPTIONS \
    {"stage", MC_KEY_STAGE, "NAME", 0, "only the permutation step, or only the curve step: permutation, curve " \
     "(default: both)", 10}, \
    {"outer", MC_KEY_OUTER, "N", 0, "go round N times: a permutation step, then a curve step (default 1)", 11}, \
    {"permutation-epochs", MC_KEY_PERMUTATION_EPOCHS, "N", 0, "epochs of a permutation step (default 20); " \
     "--epochs are those of a curve step", 11}, \
    {"permutation-lr", MC_KEY_PERMUTATION_LR, "X", 0, "learning rate of a permutation step (default 0.5); " \
     "what it moves grows with it and with the epochs", 11}, \
    {"nu-permutation", MC_KEY_NU_PERMUTATION, "X", 0, \
     "moving from permutation P_k to P costs |P - P_k|^2 / 2X: units moved, divided by X (default 1000)", 11}, \
    {"nu-curve", MC_KEY_NU_CURVE, "X", 0, "moving the control point by d costs |d|^2 / 2X (default 1000)", 11}, \
    {"sweeps", MC_KEY_SWEEPS, "N", 0, "after each batch of a permutation step, project to doubly stochastic " \
     "matrices by N sweeps over rows and columns (default 20)", 11}, \
    {"draws", MC_KEY_DRAWS, "N", 0, "at the end of a permutation step, try N permutations drawn from the matrices' " \
     "Birkhoff-von Neumann decomposition, at most 4096 (default 32)", 12}, \
    {"drop", MC_KEY_DROP, "X", 0, "take matrix entries under X for 0 in that decomposition (default 5e-4)", 12}, \
    {"terms", MC_KEY_TERMS, "N", 0, "draw from the decomposition's N heaviest terms; 0: from all (default 10)", 12}, \
    {"judge-images", MC_KEY_JUDGE_IMAGES, "N", 0, "the permutations tried are judged on the first N images, in whole " \
     "batches where there is one (default 5000)", 12}, \
    {"judge-points", MC_KEY_JUDGE_POINTS, "N", 0, "they are judged at N points along the curve (default 5)", 12}, \
    {"accept", MC_KEY_ACCEPT, "HOW", 0, "groups: try each permutation group's candidates alone, then take the groups' " \
     "best one after the other, greatest gain first, and keep those that still help; joint: a candidate permutes all " \
     "groups at once (default: groups)", 12}, \
    {"select-by", MC_KEY_SELECT_BY, "WHAT", 0, "judge permutations by their loss, or by the objective, which is the " \
     "loss and what moving costs: loss, objective (default: loss)", 12}, \
    {"as-paper", MC_KEY_AS_PAPER, 0, 0, "the paper's permutation step: --permutation-lr half of --lr, --accept joint, " \
     "--select-by objective, where these are not given", 12}, \
    {"spectral", MC_KEY_SPECTRAL, "K", 0, "project the control point's weights to spectral norm K, and stop by the " \
     "paper's second theorem; for mlp without batch norm, with --huber", 12}
/* clang-format on */

enum mc_pam_stage { MC_PAM_BOTH, MC_PAM_PERMUTATION, MC_PAM_CURVE };
enum { MC_PAM_IDENTITY = 2 };

struct mc_pam_cli {
    struct mc_pam_options pam;
    enum mc_pam_stage stage;
    int as_paper, accept, select_by; /* the last two: -1 where not given */
    /* options that were given, or NULL: by stage one that only its step uses, and its epochs */
    const char *given[3], *epochs_given[3];
    const char *draws_given; /* one that says how to draw */
    const struct mc_cli *cli;
    const struct mc_train_cli *train;
    const struct mc_pam_report *report;
};

/* mc_pam_defaults, both steps. */
void mc_pam_cli_defaults(struct mc_pam_cli *p);
/* MC_PAM_OPTIONS and what mc_train_cli_option takes; ARGP_ERR_UNKNOWN for anything else. */
error_t mc_pam_cli_option(struct mc_pam_cli *p, struct mc_train_cli *f, struct mc_cli *cli, int key,
                          char *arg, struct argp_state *state);
/* Options that contradict each other are usage errors. Settles the steps' epochs by the stage and
 * --epochs, and what --as-paper decides. Call after parsing. */
void mc_pam_cli_check(struct mc_pam_cli *p, struct mc_train_cli *f);
void mc_pam_cli_note(const struct mc_pam_cli *p, struct mc_history *h);
/* What a checkpoint must share of the options: every one of them, reals exactly. */
void mc_pam_cli_identity(const struct mc_pam_cli *p,
                         struct mc_checkpoint_setting identity[MC_PAM_IDENTITY]);
/* Has f's run log each step and iteration, and tell it with -v; report is mc_pam_init's, and must
 * outlive the run as p and cli must. */
void mc_pam_cli_watch(struct mc_pam_cli *p, struct mc_train_cli *f, const struct mc_cli *cli,
                      const struct mc_pam_report *report);

#endif

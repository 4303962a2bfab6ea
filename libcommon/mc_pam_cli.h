/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation at the command line: its options, which are no part of the
 * training loop's (mc_fit_cli.h); what is told and logged after each step; what the history and a
 * checkpoint hold of them. */
#ifndef MC_PAM_CLI_H
#define MC_PAM_CLI_H

#include "mc_fit_cli.h"
#include "mc_pam.h"

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
    MC_KEY_BARE_LOSS,
    MC_KEY_SPECTRAL
};

/* clang-format off */
#define MC_PAM_OPTIONS \
    {"stage", MC_KEY_STAGE, "NAME", 0, "do one step only: permutation or curve (default: both)", 10}, \
    {"outer", MC_KEY_OUTER, "N", 0, "outer iterations: a permutation step and a curve step each (default 1)", 11}, \
    {"permutation-epochs", MC_KEY_PERMUTATION_EPOCHS, "N", 0, "epochs of a permutation step (default 20); " \
     "--epochs are those of a curve step", 11}, \
    {"permutation-lr", MC_KEY_PERMUTATION_LR, "X", 0, "its learning rate (default: half of --lr)", 11}, \
    {"nu-permutation", MC_KEY_NU_PERMUTATION, "X", 0, \
     "nu of its proximal term |P - P_k|^2 / 2nu (default 1000)", 11}, \
    {"nu-curve", MC_KEY_NU_CURVE, "X", 0, "nu of the curve's (default 1000)", 11}, \
    {"sweeps", MC_KEY_SWEEPS, "N", 0, "of the projection to doubly stochastic matrices, after each step of SGD " \
     "(default 20)", 11}, \
    {"draws", MC_KEY_DRAWS, "N", 0, "permutations drawn from the Birkhoff-von Neumann decomposition, at most 4096 (default " \
     "32)", 12}, \
    {"drop", MC_KEY_DROP, "X", 0, "entries under X are left out of it (default 5e-4)", 12}, \
    {"terms", MC_KEY_TERMS, "N", 0, "its first N terms are drawn from; 0: all (default 10)", 12}, \
    {"judge-images", MC_KEY_JUDGE_IMAGES, "N", 0, "images that judge the permutations, in whole batches " \
     "where there is one (default 5000)", 12}, \
    {"judge-points", MC_KEY_JUDGE_POINTS, "N", 0, "at so many t (default 5)", 12}, \
    {"bare-loss", MC_KEY_BARE_LOSS, 0, 0, "judge them by their loss alone, without the proximal term", 12}, \
    {"spectral", MC_KEY_SPECTRAL, "K", 0, "project the control point's weights to spectral norm K, and stop by the " \
     "paper's second theorem; for mlp without batch norm, with --huber", 12}
/* clang-format on */

enum mc_pam_stage { MC_PAM_BOTH, MC_PAM_PERMUTATION, MC_PAM_CURVE };
enum { MC_PAM_IDENTITY = 2 };

struct mc_pam_cli {
    struct mc_pam_options pam;
    enum mc_pam_stage stage;
    /* options that were given, or NULL: by stage one that only its step uses, and its epochs */
    const char *given[3], *epochs_given[3];
    const char *draws_given; /* one that says how to draw */
    const struct mc_cli *cli;
    const struct mc_fit_cli *fit;
    const struct mc_pam_report *report;
};

/* mc_pam_defaults, both steps. */
void mc_pam_cli_defaults(struct mc_pam_cli *p);
/* MC_PAM_OPTIONS and what mc_fit_cli_option takes; ARGP_ERR_UNKNOWN for anything else. */
error_t mc_pam_cli_option(struct mc_pam_cli *p, struct mc_fit_cli *f, struct mc_cli *cli, int key,
                          char *arg, struct argp_state *state);
/* Options that contradict each other are usage errors. Settles the steps' epochs by the stage and
 * --epochs. Call after parsing. */
void mc_pam_cli_check(struct mc_pam_cli *p, struct mc_fit_cli *f);
void mc_pam_cli_note(const struct mc_pam_cli *p, struct mc_history *h);
/* What a checkpoint must share of the options: every one of them, reals exactly. */
void mc_pam_cli_identity(const struct mc_pam_cli *p,
                         struct mc_state_setting identity[MC_PAM_IDENTITY]);
/* Has f's run log each step and iteration, and tell it with -v; report is mc_pam_init's, and must
 * outlive the run as p and cli must. */
void mc_pam_cli_watch(struct mc_pam_cli *p, struct mc_fit_cli *f, const struct mc_cli *cli,
                      const struct mc_pam_report *report);

#endif

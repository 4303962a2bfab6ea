/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options of proximal alternating minimisation. */
#include "tools/options/pam.h"

#include <math.h>
#include <stdlib.h>

static const char *const stages[] = {"both", "permutation", "curve", NULL};
static const char *const acceptances[] = {"groups", "joint", NULL};
static const char *const selections[] = {"loss", "objective", NULL};

enum { MAX_EPOCHS = 1000000, MAX_DRAWS = 4096 }; /* each draw is compared with all previous ones */

/* clang-format off */
#define AT(member) offsetof(struct mc_pam_cli, member)
/* the checkpoint's `epochs` are those of the whole run, from which those of a curve step follow */
enum { KEPT = MC_OPT_HISTORY | MC_OPT_IDENTITY };
static const struct mc_option rows[] = {
    {"stage", 0, MC_OPT_CHOICE, AT(stage), .names = stages, .def = "both", .group = 10,
     .help = "do both steps, or only the permutation step, or only the curve step"},
    {"outer", 0, MC_OPT_U64, AT(pam.outer), .arg = "N", .min = 1, .max = 10000, .def = "1", .group = 11,
     .flags = KEPT, .help = "outer iterations: a permutation step, then a curve step"},
    {"permutation-epochs", 0, MC_OPT_U64, AT(pam.permutation_epochs), .arg = "N", .max = MAX_EPOCHS, .def = "20",
     .group = 11, .flags = KEPT, .only = MC_USE_PERMUTATION_STEP | MC_USE_BOTH_STEPS,
     .help = "epochs per permutation step; --epochs sets those of a curve step"},
    {"permutation-lr", 0, MC_OPT_REAL, AT(pam.permutation_lr), .arg = "X", .max = 1e6, .def = "0.5", .group = 11,
     .flags = KEPT, .only = MC_USE_PERMUTATION_STEP,
     .help = "learning rate of a permutation step; more units move with a higher rate and more epochs"},
    {"nu-permutation", 0, MC_OPT_REAL, AT(pam.nu_permutation), .arg = "X", .min = 1e-12, .max = 1e300, .def = "1000",
     .group = 11, .flags = KEPT, .only = MC_USE_PERMUTATION_STEP,
     .help = "moving from permutation P_k to P costs |P - P_k|^2 / 2X, the number of moved units divided by X"},
    {"nu-curve", 0, MC_OPT_REAL, AT(pam.nu_curve), .arg = "X", .min = 1e-12, .max = 1e300, .def = "10000", .group = 11,
     .flags = KEPT, .only = MC_USE_CURVE_STEP, .help = "moving the control point by d costs |d|^2 / 2X"},
    {"sweeps", 0, MC_OPT_U64, AT(pam.sweeps), .arg = "N", .min = 1, .max = 1000000, .def = "20", .group = 11,
     .flags = KEPT, .only = MC_USE_PERMUTATION_STEP,
     .help = "after each batch of a permutation step, project to doubly stochastic matrices with N sweeps over rows "
     "and columns"},
    {"draws", 0, MC_OPT_U64, AT(pam.draws), .arg = "N", .max = MAX_DRAWS, .def = "32", .group = 12,
     .flags = KEPT, .only = MC_USE_PERMUTATION_STEP,
     .help = "after a permutation step, try N permutations drawn from the Birkhoff-von Neumann decomposition of its "
     "matrices (at most 4096)"},
    {"prune-below", 0, MC_OPT_REAL, AT(pam.drop), .arg = "X", .max = 1, .def = "5e-4", .group = 12,
     .flags = KEPT, .only = MC_USE_PERMUTATION_STEP,
     .help = "treat matrix entries below X as 0 in that decomposition"},
    {"terms", 0, MC_OPT_U64, AT(pam.terms), .arg = "N", .max = 1000000, .def = "10", .group = 12,
     .flags = KEPT, .only = MC_USE_PERMUTATION_STEP,
     .help = "draw from the N heaviest terms of the decomposition; 0: from all"},
    {"select-images", 0, MC_OPT_U64, AT(pam.images), .arg = "N", .min = 1, .max = INT32_MAX, .def = "5000", .group = 12,
     .flags = KEPT,
     .help = "compare candidate permutations on the first N images, in complete batches if there is one"},
    {"select-points", 0, MC_OPT_U64, AT(pam.points), .arg = "N", .min = 1, .max = 1000, .def = "5", .group = 12,
     .flags = KEPT, .help = "compare them at N points along the curve"},
    {"accept", 0, MC_OPT_CHOICE, AT(pam.jointly), .names = acceptances, .def = "groups", .group = 12,
     .flags = KEPT, .only = MC_USE_PERMUTATION_STEP,
     .help = "groups: try the candidates of each permutation group alone, then add the best one of each group, "
     "highest gain first, if it still helps; joint: a candidate permutes all groups at once"},
    {"select-by", 0, MC_OPT_CHOICE, AT(pam.by_objective), .names = selections, .def = "loss", .group = 12,
     .flags = KEPT, .only = MC_USE_PERMUTATION_STEP,
     .help = "compare permutations by loss, or by the objective (loss plus the cost of moving)"},
    {"as-paper", 0, MC_OPT_FLAG, AT(as_paper), .group = 12, .only = MC_USE_PERMUTATION_STEP,
     .help = "use the paper's permutation step at the authors' rate; changes the defaults: --permutation-lr half of "
     "--lr, --accept joint, --select-by objective"},
    {"spectral", 0, MC_OPT_REAL, AT(pam.spectral), .arg = "K", .min = 1e-12, .max = 1e6, .group = 12,
     .flags = KEPT,
     .help = "project the control point's weights to spectral norm K, and stop as in the paper's second theorem; "
     "requires mlp without batch norm and --huber"},
    {0}};
/* clang-format on */

void mc_pam_cli_options(struct mc_pam_cli *p, struct mc_train_cli *f, struct mc_cli *cli)
{
    p->train = f;
    mc_options_add(cli, rows, p);
    mc_train_cli_options(f, cli, "0.01");
}

/* Refuse an option that affects only a step that does not run. */
static void check_idle(const struct mc_pam_cli *p)
{
    const int both = p->stage == MC_PAM_BOTH;
    const unsigned uses = MC_USE_TRAINING | (both ? MC_USE_BOTH_STEPS : 0) |
                          (p->pam.permutation_epochs ? MC_USE_PERMUTATION_STEP : 0) |
                          (p->pam.curve_epochs ? MC_USE_CURVE_STEP : 0);
    const char *option = mc_option_idle(p->train->cli, uses);

    if (option && both)
        mc_cli_usage("--%s has no effect without a %s step (its epochs are 0)", option,
                     stages[p->pam.curve_epochs ? MC_PAM_PERMUTATION : MC_PAM_CURVE]);
    if (option)
        mc_cli_usage("--%s has no effect with --stage %s", option, stages[p->stage]);
}

void mc_pam_cli_check(struct mc_pam_cli *p, struct mc_train_cli *f)
{
    struct mc_pam_options *o = &p->pam;

    o->curve_epochs = p->stage == MC_PAM_PERMUTATION ? 0 : f->train.epochs;
    if (p->stage == MC_PAM_CURVE)
        o->permutation_epochs = 0;
    f->train.epochs = mc_pam_epochs(o);
    if (!f->train.epochs)
        mc_cli_usage("no epochs to train: set --permutation-epochs or --epochs");
    if (f->train.epochs > MAX_EPOCHS)
        mc_cli_usage("total number of epochs must be at most %d (got %llu)", MAX_EPOCHS,
                     (unsigned long long)f->train.epochs);
    check_idle(p);
    mc_train_cli_check(f); /* before the next line: permutation steps use an attack too */
    f->train.epochs = o->curve_epochs;
    if (o->curve_epochs && f->train.momentum >= 1)
        mc_cli_usage("--momentum must be less than 1 for a curve step (got %g)", f->train.momentum);
    if (!o->draws && (mc_option_given(f->cli, &o->drop) || mc_option_given(f->cli, &o->terms)))
        mc_cli_usage("--%s has no effect with --draws 0",
                     mc_option_given(f->cli, &o->drop) ? "prune-below" : "terms");
    if (o->spectral > 0 && f->train.huber <= 0)
        mc_cli_usage("--spectral requires --huber DELTA");
    if (!p->as_paper)
        return;
    if (!mc_option_given(f->cli, &o->permutation_lr))
        o->permutation_lr = .5 * f->train.lr;
    if (!mc_option_given(f->cli, &o->jointly))
        o->jointly = 1;
    if (!mc_option_given(f->cli, &o->by_objective))
        o->by_objective = 1;
}

/* ---- messages and log ---- */

static void log_finite(struct mc_log *log, const char *key, double value)
{
    if (isfinite(value))
        mc_log_num(log, key, value);
}

/* Return the number of images in a set. */
static uint64_t images(const struct mc_pam_cli *p, enum mc_pam_set_name set)
{
    return p->run->sets[set].images;
}

static void print_permutation(const struct mc_pam_cli *p, uint64_t outer,
                              const struct mc_pam_report *r)
{
    const char *const kinds[] = {"the previous permutation", "the projection",
                                 p->pam.jointly ? "a draw" : "a combination of them"};

    mc_detail(
        p->train->cli,
        "permutation step %llu: loss %.4f, relaxed %.4f (residual %.1e), projected %.4f; of %.0f "
        "permutations%s, compared on %llu images, %s is kept: loss %.4f, %.0f units moved, "
        "proximal term %.4f",
        (unsigned long long)outer + 1, r->before.loss, r->relaxed.loss, r->residual,
        r->projection.loss, r->candidates, p->pam.jointly ? "" : " of single groups",
        (unsigned long long)images(p, MC_PAM_SELECTION), kinds[r->kept < 2 ? (int)r->kept : 2],
        r->permutation.loss, r->moved, r->proximal_permutation);
    if (isfinite(r->loss_others))
        mc_detail(p->train->cli,
                  "permutation step %llu: loss on %llu other images %.4f before, %.4f after",
                  (unsigned long long)outer + 1, (unsigned long long)images(p, MC_PAM_OTHERS),
                  r->loss_others_before, r->loss_others);
}

/* Report that a step kept the previous permutation, and suggest options that may help. */
static void note_unmoved(const struct mc_pam_cli *p, uint64_t outer, const struct mc_pam_report *r)
{
    if (r->moved != 0)
        return;
    if (r->candidates < 2)
        mc_note(p->train->cli,
                "permutation step %llu moved no unit: its matrices stayed near the previous "
                "permutation (a higher --permutation-lr or --permutation-epochs may help)",
                (unsigned long long)outer + 1);
    else
        mc_note(p->train->cli,
                "permutation step %llu moved no unit: none of %.0f other candidates was better "
                "than the previous permutation%s may help)",
                (unsigned long long)outer + 1, r->candidates - 1,
                p->pam.by_objective ? " by more than its proximal term (a higher --nu-permutation "
                                      "or --permutation-epochs"
                                    : " (more --permutation-epochs");
}

/* Return the value after the iteration's last step. */
static struct mc_pam_value value_after(const struct mc_pam_report *r)
{
    return isfinite(r->curve.loss) ? r->curve : r->permutation;
}

static void print_iteration(const struct mc_pam_cli *p, uint64_t outer,
                            const struct mc_pam_report *r)
{
    const char *const decrease = r->decrease > 0    ? "Q decreased by more than their sum"
                                 : r->decrease == 0 ? "Q did not change"
                                                    : "Q decreased by less than their sum";
    /* --spectral ensures the theorem's conditions: no batch norm, bounded weights, smooth ReLU */
    const struct mc_pam_value after = value_after(r);
    const int theorem = r->decrease > 0 && p->pam.spectral > 0 && r->rejected == 0;
    char relu[80] = "";

    if (isfinite(r->relu))
        snprintf(relu, sizeof relu, " (with exact ReLU %.4f to %.4f)",
                 r->relu_before + r->before.decay, r->relu + after.decay);
    mc_detail(p->train->cli,
              "iteration %llu: Q on %llu images %.4f to %.4f%s, proximal terms %.4f and %.4f: %s%s",
              (unsigned long long)outer + 1, (unsigned long long)images(p, MC_PAM_SELECTION),
              r->before.loss + r->before.decay, after.loss + after.decay, relu,
              isfinite(r->proximal_permutation) ? r->proximal_permutation : 0,
              isfinite(r->proximal_curve) ? r->proximal_curve : 0, decrease,
              theorem ? ", as the theorem requires" : "");
}

static void log_permutation(const struct mc_pam_cli *p, struct mc_log *log, uint64_t outer,
                            const struct mc_pam_report *r)
{
    mc_log_begin(log, "permutation");
    mc_log_int(log, "outer", (int64_t)outer + 1);
    log_finite(log, "loss_before", r->before.loss);
    log_finite(log, "decay_before", r->before.decay);
    log_finite(log, "loss_relaxed", r->relaxed.loss);
    log_finite(log, "decay_relaxed", r->relaxed.decay);
    log_finite(log, "residual", r->residual);
    log_finite(log, "loss_projection", r->projection.loss);
    log_finite(log, "decay_projection", r->projection.decay);
    log_finite(log, "loss", r->permutation.loss);
    log_finite(log, "decay", r->permutation.decay);
    log_finite(log, "proximal", r->proximal_permutation);
    log_finite(log, "moved", r->moved);
    mc_log_int(log, "joint", p->pam.jointly);
    log_finite(log, "candidates", r->candidates);
    log_finite(log, "kept", r->kept);
    log_finite(log, "loss_others_before", r->loss_others_before);
    log_finite(log, "loss_others", r->loss_others);
    mc_log_int(log, "other_images", (int64_t)images(p, MC_PAM_OTHERS));
    mc_log_int(log, "judge_images", (int64_t)images(p, MC_PAM_SELECTION));
    mc_log_end(log);
}

static void log_iteration(const struct mc_pam_cli *p, struct mc_log *log, uint64_t outer,
                          const struct mc_pam_report *r)
{
    const struct mc_pam_value after = value_after(r);

    mc_log_begin(log, "iteration");
    mc_log_int(log, "outer", (int64_t)outer + 1);
    log_finite(log, "q_before", r->before.loss + r->before.decay);
    log_finite(log, "q", after.loss + after.decay);
    log_finite(log, "q_relu_before", r->relu_before + r->before.decay);
    log_finite(log, "q_relu", r->relu + after.decay);
    log_finite(log, "loss_curve", r->curve.loss);
    log_finite(log, "decay_curve", r->curve.decay);
    log_finite(log, "proximal_permutation", r->proximal_permutation);
    log_finite(log, "proximal_curve", r->proximal_curve);
    log_finite(log, "decrease", r->decrease);
    log_finite(log, "least_move", r->least_move);
    log_finite(log, "rejected", r->rejected);
    mc_log_int(log, "judge_images", (int64_t)images(p, MC_PAM_SELECTION));
    mc_log_end(log);
}

static void report_epoch(void *arg, struct mc_log *log, const struct mc_train_epoch *e)
{
    const struct mc_pam_cli *p = arg;
    const uint64_t length = p->pam.permutation_epochs + p->pam.curve_epochs;
    const uint64_t outer = (e->epoch - 1) / length, phase = (e->epoch - 1) % length + 1;
    const struct mc_pam_report *r = &p->run->report[outer];

    if (phase == p->pam.permutation_epochs) {
        log_permutation(p, log, outer, r);
        if (e->seconds > 0) {
            print_permutation(p, outer, r);
            note_unmoved(p, outer, r);
        }
    }
    if (phase == length) {
        log_iteration(p, log, outer, r);
        if (e->seconds > 0)
            print_iteration(p, outer, r);
        if (r->rejected == 1) /* also if a checkpoint was rejected, because nothing is trained */
            mc_note(p->train->cli,
                    "iteration %llu moved by less than %g, the theorem's minimum: rejected, the "
                    "run ends",
                    (unsigned long long)outer + 1, r->least_move);
    }
    if (e->epoch == p->train->train.stop_after && phase < p->pam.permutation_epochs)
        mc_note(p->train->cli,
                "stopped within a permutation step: its matrices are %s, and the curve has the "
                "previous permutation",
                p->train->train.checkpoint ? "only in the checkpoint"
                                           : "lost (--checkpoint would save them)");
}

void mc_pam_cli_watch(struct mc_pam_cli *p, struct mc_train_cli *f, const struct mc_pam *run)
{
    p->run = run;
    f->on_epoch = report_epoch;
    f->on_epoch_arg = p;
}

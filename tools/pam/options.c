/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation at the command line. */
#include "tools/pam/options.h"

#include <math.h>
#include <stdlib.h>

static const char *const stages[] = {"both", "permutation", "curve", NULL};
static const char *const acceptances[] = {"groups", "joint", NULL};
static const char *const selections[] = {"loss", "objective", NULL};

enum { MOST_EPOCHS = 1000000, MOST_DRAWS = 4096 }; /* each draw is compared with all before it */

void mc_pam_cli_defaults(struct mc_pam_cli *p)
{
    *p = (struct mc_pam_cli){.stage = MC_PAM_BOTH, .accept = -1, .select_by = -1};
    mc_pam_defaults(&p->pam);
    p->pam.permutation_lr = NAN; /* until it is given, or --as-paper */
}

/* ---- options ---- */

static error_t take(struct mc_pam_cli *p, int key, const char *arg)
{
    struct mc_pam_options *o = &p->pam;

    switch (key) {
    case MC_KEY_STAGE:
        p->stage = (enum mc_pam_stage)mc_parse_choice("--stage", arg, stages);
        return 0;
    case MC_KEY_OUTER:
        o->outer = mc_parse_u64("--outer", arg, 1, 10000);
        return 0;
    case MC_KEY_PERMUTATION_EPOCHS:
        p->epochs_given[MC_PAM_PERMUTATION] = "permutation-epochs";
        o->permutation_epochs = mc_parse_u64("--permutation-epochs", arg, 0, 1000000);
        return 0;
    case MC_KEY_PERMUTATION_LR:
        p->given[MC_PAM_PERMUTATION] = "permutation-lr";
        o->permutation_lr = mc_parse_f64("--permutation-lr", arg, 0, 1e6);
        return 0;
    case MC_KEY_NU_PERMUTATION:
        p->given[MC_PAM_PERMUTATION] = "nu-permutation";
        o->nu_permutation = mc_parse_f64("--nu-permutation", arg, 1e-12, 1e300);
        return 0;
    case MC_KEY_NU_CURVE:
        p->given[MC_PAM_CURVE] = "nu-curve";
        o->nu_curve = mc_parse_f64("--nu-curve", arg, 1e-12, 1e300);
        return 0;
    case MC_KEY_SWEEPS:
        p->given[MC_PAM_PERMUTATION] = "sweeps";
        o->sweeps = mc_parse_u64("--sweeps", arg, 1, 1000000);
        return 0;
    case MC_KEY_DRAWS:
        p->given[MC_PAM_PERMUTATION] = "draws";
        o->draws = mc_parse_u64("--draws", arg, 0, MOST_DRAWS);
        return 0;
    case MC_KEY_DROP:
        p->given[MC_PAM_PERMUTATION] = p->draws_given = "drop";
        o->drop = mc_parse_f64("--drop", arg, 0, 1);
        return 0;
    case MC_KEY_TERMS:
        p->given[MC_PAM_PERMUTATION] = p->draws_given = "terms";
        o->terms = mc_parse_u64("--terms", arg, 0, 1000000);
        return 0;
    case MC_KEY_JUDGE_IMAGES:
        o->images = mc_parse_u64("--judge-images", arg, 1, INT32_MAX);
        return 0;
    case MC_KEY_JUDGE_POINTS:
        o->points = mc_parse_u64("--judge-points", arg, 1, 1000);
        return 0;
    case MC_KEY_ACCEPT:
        p->given[MC_PAM_PERMUTATION] = "accept";
        p->accept = mc_parse_choice("--accept", arg, acceptances);
        return 0;
    case MC_KEY_SELECT_BY:
        p->given[MC_PAM_PERMUTATION] = "select-by";
        p->select_by = mc_parse_choice("--select-by", arg, selections);
        return 0;
    case MC_KEY_AS_PAPER:
        p->given[MC_PAM_PERMUTATION] = "as-paper";
        p->as_paper = 1;
        return 0;
    case MC_KEY_SPECTRAL:
        o->spectral = mc_parse_f64("--spectral", arg, 1e-12, 1e6);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

error_t mc_pam_cli_option(struct mc_pam_cli *p, struct mc_train_cli *f, struct mc_cli *cli, int key,
                          char *arg, struct argp_state *state)
{
    if (key == MC_KEY_EPOCHS)
        p->epochs_given[MC_PAM_CURVE] = "epochs";
    if (key == MC_KEY_MOMENTUM)
        p->given[MC_PAM_CURVE] = "momentum";
    if (key == MC_KEY_NO_NESTEROV)
        p->given[MC_PAM_CURVE] = "no-nesterov";
    return take(p, key, arg) ? mc_train_cli_option(f, cli, key, arg, state) : 0;
}

/* One of the two steps is not done: what was given for it alone is refused. */
static void check_idle(const struct mc_pam_cli *p, enum mc_pam_stage step)
{
    const char *option = p->given[step];

    if (p->stage != MC_PAM_BOTH && p->stage != step && !option)
        option = p->epochs_given[step];
    if (!option)
        return;
    if (p->stage != MC_PAM_BOTH && p->stage != step)
        mc_cli_usage("--%s is not for --stage %s", option, stages[p->stage]);
    mc_cli_usage("--%s is for a %s step, and there is none without epochs", option, stages[step]);
}

/* What was not given is the default, or the paper's. */
static void settle(struct mc_pam_cli *p, const struct mc_train_cli *f)
{
    struct mc_pam_options *o = &p->pam, defaults;

    mc_pam_defaults(&defaults);
    if (isnan(o->permutation_lr))
        o->permutation_lr = p->as_paper ? .5 * f->train.lr : defaults.permutation_lr;
    o->jointly = p->accept < 0 ? p->as_paper : p->accept;
    o->by_objective = p->select_by < 0 ? p->as_paper : p->select_by;
}

void mc_pam_cli_check(struct mc_pam_cli *p, struct mc_train_cli *f)
{
    struct mc_train_cli whole;

    if (p->stage == MC_PAM_PERMUTATION)
        f->train.epochs = 0;
    p->pam.curve_epochs = f->train.epochs;
    if (p->stage == MC_PAM_CURVE)
        p->pam.permutation_epochs = 0;
    if (!mc_pam_epochs(&p->pam))
        mc_cli_usage("has no epoch to train: see --permutation-epochs and --epochs");
    if (mc_pam_epochs(&p->pam) > MOST_EPOCHS)
        mc_cli_usage("has %llu epochs to train in all, more than %d",
                     (unsigned long long)mc_pam_epochs(&p->pam), MOST_EPOCHS);
    if (!p->pam.permutation_epochs)
        check_idle(p, MC_PAM_PERMUTATION);
    if (!p->pam.curve_epochs)
        check_idle(p, MC_PAM_CURVE);
    if (p->pam.curve_epochs && f->train.momentum >= 1)
        mc_cli_usage("--momentum %g: the curve step wants less than 1", f->train.momentum);
    if (!p->pam.draws && p->draws_given)
        mc_cli_usage("--%s is for draws, and there are none with --draws 0", p->draws_given);
    if (p->pam.spectral > 0 && f->train.huber <= 0)
        mc_cli_usage("--spectral needs --huber DELTA");
    settle(p, f);
    whole = *f; /* an attack is for permutation steps too */
    whole.train.epochs = mc_pam_epochs(&p->pam);
    mc_train_cli_check(&whole);
}

void mc_pam_cli_note(const struct mc_pam_cli *p, struct mc_history *h)
{
    const struct mc_pam_options *o = &p->pam;

    mc_history_int(h, "outer", (int64_t)o->outer);
    mc_history_int(h, "permutation-epochs", (int64_t)o->permutation_epochs);
    mc_history_num(h, "permutation-lr", o->permutation_lr);
    mc_history_num(h, "nu-permutation", o->nu_permutation);
    mc_history_num(h, "nu-curve", o->nu_curve);
    mc_history_int(h, "sweeps", (int64_t)o->sweeps);
    mc_history_int(h, "draws", (int64_t)o->draws);
    mc_history_num(h, "drop", o->drop);
    mc_history_int(h, "terms", (int64_t)o->terms);
    mc_history_int(h, "judge-images", (int64_t)o->images);
    mc_history_int(h, "judge-points", (int64_t)o->points);
    mc_history_str(h, "accept", acceptances[o->jointly]);
    mc_history_str(h, "select-by", selections[o->by_objective]);
    if (o->spectral > 0)
        mc_history_num(h, "spectral", o->spectral);
}

void mc_pam_cli_identity(const struct mc_pam_cli *p,
                         struct mc_checkpoint_setting identity[MC_PAM_IDENTITY])
{
    const struct mc_pam_options *o = &p->pam;

    identity[0].name = "pam";
    snprintf(identity[0].value, sizeof identity[0].value,
             "%llu*(%llu+%llu) sweeps %llu draws %llu terms %llu judge %llu %llu %s %s",
             (unsigned long long)o->outer, (unsigned long long)o->permutation_epochs,
             (unsigned long long)o->curve_epochs, (unsigned long long)o->sweeps,
             (unsigned long long)o->draws, (unsigned long long)o->terms,
             (unsigned long long)o->images, (unsigned long long)o->points, acceptances[o->jointly],
             selections[o->by_objective]);
    identity[1].name = "pam-reals";
    snprintf(identity[1].value, sizeof identity[1].value,
             "lr %.17g nu %.17g %.17g drop %.17g spectral %.17g", o->permutation_lr,
             o->nu_permutation, o->nu_curve, o->drop, o->spectral);
}

/* ---- what is told ---- */

static void number(struct mc_log *log, const char *key, double value)
{
    if (isfinite(value))
        mc_log_num(log, key, value);
}

static uint64_t judge_images(const struct mc_pam_cli *p)
{
    return mc_pam_judge_images(&p->pam, p->train->images, p->train->train.batch);
}

static uint64_t other_images(const struct mc_pam_cli *p)
{
    return mc_pam_other_images(&p->pam, p->train->images, p->train->train.batch);
}

static void tell_permutation(const struct mc_pam_cli *p, uint64_t outer,
                             const struct mc_pam_report *r)
{
    const char *const kinds[] = {"the previous permutation", "the projection",
                                 p->pam.jointly ? "a draw" : "a combination of them"};

    mc_detail(
        p->cli,
        "permutation step %llu: loss %.4f, relaxed %.4f (residual %.1e), projected %.4f; of %.0f "
        "permutations%s, judged on %llu images, %s is kept: loss %.4f, %.0f units moved, proximal "
        "term %.4f",
        (unsigned long long)outer + 1, r->loss_before, r->loss_relaxed, r->residual,
        r->loss_projection, r->candidates, p->pam.jointly ? "" : " of single groups",
        (unsigned long long)judge_images(p), kinds[r->kept < 2 ? (int)r->kept : 2],
        r->loss_permutation, r->moved, r->proximal_permutation);
    if (isfinite(r->loss_others))
        mc_detail(p->cli, "permutation step %llu: on %llu other images loss %.4f before, %.4f kept",
                  (unsigned long long)outer + 1, (unsigned long long)other_images(p),
                  r->loss_others_before, r->loss_others);
}

/* A step that kept the previous permutation: what to do about it depends on whether there was
 * another to choose. */
static void tell_unmoved(const struct mc_pam_cli *p, uint64_t outer, const struct mc_pam_report *r)
{
    if (r->moved != 0)
        return;
    if (r->candidates < 2)
        mc_note(p->cli,
                "permutation step %llu moved no unit: its matrices hardly left the previous "
                "permutation (a greater --permutation-lr or --permutation-epochs may help)",
                (unsigned long long)outer + 1);
    else
        mc_note(p->cli,
                "permutation step %llu moved no unit: none of %.0f others was better than the "
                "previous permutation%s may help)",
                (unsigned long long)outer + 1, r->candidates - 1,
                p->pam.by_objective ? " by more than its proximal term (a greater --nu-permutation "
                                      "or --permutation-epochs"
                                    : " (more --permutation-epochs");
}

/* An iteration ends with its curve step, where it has one. */
static double loss_after(const struct mc_pam_report *r)
{
    return isfinite(r->loss_curve) ? r->loss_curve : r->loss_permutation;
}

static double decay_after(const struct mc_pam_report *r)
{
    return isfinite(r->loss_curve) ? r->decay_curve : r->decay_permutation;
}

static void tell_iteration(const struct mc_pam_cli *p, uint64_t outer,
                           const struct mc_pam_report *r)
{
    const char *const decrease = r->decrease > 0    ? "it decreases by more than these"
                                 : r->decrease == 0 ? "nothing has changed"
                                                    : "it does not decrease by as much as these";
    /* only then are its conditions met: no batch norm, bounded weights, a smooth activation */
    const int theorem = r->decrease > 0 && p->pam.spectral > 0 && r->rejected == 0;
    char relu[80] = "";

    if (isfinite(r->relu))
        snprintf(relu, sizeof relu, " (with the ReLU itself %.4f to %.4f)",
                 r->relu_before + r->decay_before, r->relu + decay_after(r));
    mc_detail(p->cli,
              "iteration %llu: Q on %llu images %.4f to %.4f%s, proximal terms %.4f and %.4f: %s%s",
              (unsigned long long)outer + 1, (unsigned long long)judge_images(p),
              r->loss_before + r->decay_before, loss_after(r) + decay_after(r), relu,
              isfinite(r->proximal_permutation) ? r->proximal_permutation : 0,
              isfinite(r->proximal_curve) ? r->proximal_curve : 0, decrease,
              theorem ? ", as the theorem has it" : "");
}

static void log_permutation(const struct mc_pam_cli *p, struct mc_log *log, uint64_t outer,
                            const struct mc_pam_report *r)
{
    mc_log_begin(log, "permutation");
    mc_log_int(log, "outer", (int64_t)outer + 1);
    number(log, "loss_before", r->loss_before);
    number(log, "decay_before", r->decay_before);
    number(log, "loss_relaxed", r->loss_relaxed);
    number(log, "decay_relaxed", r->decay_relaxed);
    number(log, "residual", r->residual);
    number(log, "loss_projection", r->loss_projection);
    number(log, "decay_projection", r->decay_projection);
    number(log, "loss", r->loss_permutation);
    number(log, "decay", r->decay_permutation);
    number(log, "proximal", r->proximal_permutation);
    number(log, "moved", r->moved);
    mc_log_int(log, "joint", p->pam.jointly);
    number(log, "candidates", r->candidates);
    number(log, "kept", r->kept);
    number(log, "loss_others_before", r->loss_others_before);
    number(log, "loss_others", r->loss_others);
    mc_log_int(log, "other_images", (int64_t)other_images(p));
    mc_log_int(log, "judge_images", (int64_t)judge_images(p));
    mc_log_end(log);
}

static void log_iteration(const struct mc_pam_cli *p, struct mc_log *log, uint64_t outer,
                          const struct mc_pam_report *r)
{
    mc_log_begin(log, "iteration");
    mc_log_int(log, "outer", (int64_t)outer + 1);
    number(log, "q_before", r->loss_before + r->decay_before);
    number(log, "q", loss_after(r) + decay_after(r));
    number(log, "q_relu_before", r->relu_before + r->decay_before);
    number(log, "q_relu", r->relu + decay_after(r));
    number(log, "loss_curve", r->loss_curve);
    number(log, "decay_curve", r->decay_curve);
    number(log, "proximal_permutation", r->proximal_permutation);
    number(log, "proximal_curve", r->proximal_curve);
    number(log, "decrease", r->decrease);
    number(log, "least_move", r->least_move);
    number(log, "rejected", r->rejected);
    mc_log_int(log, "judge_images", (int64_t)judge_images(p));
    mc_log_end(log);
}

static void told(void *arg, struct mc_log *log, const struct mc_train_epoch *e)
{
    const struct mc_pam_cli *p = arg;
    const uint64_t length = p->pam.permutation_epochs + p->pam.curve_epochs;
    const uint64_t outer = (e->epoch - 1) / length, at = (e->epoch - 1) % length + 1;
    const struct mc_pam_report *r = &p->report[outer];

    if (at == p->pam.permutation_epochs) {
        log_permutation(p, log, outer, r);
        if (e->seconds > 0) {
            tell_permutation(p, outer, r);
            tell_unmoved(p, outer, r);
        }
    }
    if (at == length) {
        log_iteration(p, log, outer, r);
        if (e->seconds > 0)
            tell_iteration(p, outer, r);
        if (r->rejected == 1) /* a checkpoint's too, which is why nothing is trained */
            mc_note(p->cli,
                    "iteration %llu moved by less than %g, the theorem's least: given up, the run "
                    "ends",
                    (unsigned long long)outer + 1, r->least_move);
    }
    if (e->epoch == p->train->train.stop_after && at < p->pam.permutation_epochs)
        mc_note(p->cli,
                "stopped inside a permutation step: its matrices are %s, and the curve has the "
                "permutation of before",
                p->train->train.checkpoint ? "in the checkpoint only"
                                           : "lost without --checkpoint");
}

void mc_pam_cli_watch(struct mc_pam_cli *p, struct mc_train_cli *f, const struct mc_cli *cli,
                      const struct mc_pam_report *report)
{
    p->cli = cli;
    p->train = f;
    p->report = report;
    f->told = told;
    f->told_arg = p;
}

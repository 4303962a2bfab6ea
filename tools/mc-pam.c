/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-pam: two networks in, a curve between the first and a permutation of the second out, curve and
 * permutation learned in turn. */
#include "mc_fit_cli.h"
#include "mc_pam.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum stage { STAGE_BOTH, STAGE_PERMUTATION, STAGE_CURVE };

struct options {
    struct mc_cli cli;
    struct mc_fit_cli fit;
    struct mc_pam_options pam;
    const char *perm, *init;
    enum stage stage;
    const char *idle[3]; /* an option that was given and a stage does not use: by stage */
};

enum {
    KEY_PERM = MC_KEY_TOOL,
    KEY_INIT,
    KEY_STAGE,
    KEY_OUTER,
    KEY_PERMUTATION_EPOCHS,
    KEY_PERMUTATION_LR,
    KEY_NU_PERMUTATION,
    KEY_NU_CURVE,
    KEY_SWEEPS,
    KEY_DRAWS,
    KEY_DROP,
    KEY_TERMS,
    KEY_JUDGE_IMAGES,
    KEY_JUDGE_POINTS,
    KEY_BARE_LOSS,
    KEY_SPECTRAL
};

/* clang-format off */
static const struct argp_option options[] = {
    {"perm", KEY_PERM, "FILE", 0, "permutation to start from, or a curve's (default: the identity)", 10},
    {"init", KEY_INIT, "CURVE", 0, "start from this curve: its permutation and its control point", 10},
    {"stage", KEY_STAGE, "NAME", 0, "do one step only: permutation or curve (default: both)", 10},
    {"outer", KEY_OUTER, "N", 0, "outer iterations: a permutation step and a curve step each (default 1)", 11},
    {"permutation-epochs", KEY_PERMUTATION_EPOCHS, "N", 0, "epochs of a permutation step (default 20); "
     "--epochs are those of a curve step", 11},
    {"permutation-lr", KEY_PERMUTATION_LR, "X", 0, "its learning rate (default: half of --lr)", 11},
    {"nu-permutation", KEY_NU_PERMUTATION, "X", 0, "nu of its proximal term |P - P_k|^2 / 2nu (default 1000)", 11},
    {"nu-curve", KEY_NU_CURVE, "X", 0, "nu of the curve's (default 1000)", 11},
    {"sweeps", KEY_SWEEPS, "N", 0, "of the projection to doubly stochastic matrices, after each step of SGD "
     "(default 20)", 11},
    {"draws", KEY_DRAWS, "N", 0, "permutations drawn from the Birkhoff-von Neumann decomposition (default 32)", 12},
    {"drop", KEY_DROP, "X", 0, "entries under X are left out of it (default 5e-4)", 12},
    {"terms", KEY_TERMS, "N", 0, "its first N terms are drawn from; 0: all (default 10)", 12},
    {"judge-images", KEY_JUDGE_IMAGES, "N", 0, "images that judge the permutations (default 5000)", 12},
    {"judge-points", KEY_JUDGE_POINTS, "N", 0, "at so many t (default 5)", 12},
    {"bare-loss", KEY_BARE_LOSS, 0, 0, "judge them by their loss alone, without the proximal term", 12},
    {"spectral", KEY_SPECTRAL, "K", 0, "project the control point's weights to spectral norm K, and stop by the "
     "paper's second theorem; for mlp without batch norm, with --huber", 12},
    MC_FIT_OPTIONS("0.01"),
    MC_OPTIONS_END};
/* clang-format on */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const stages[] = {"both", "permutation", "curve", NULL};
    struct options *o = state->input;
    struct mc_pam_options *p = &o->pam;

    switch (key) {
    case KEY_PERM:
        o->perm = arg;
        return 0;
    case KEY_INIT:
        o->init = arg;
        return 0;
    case KEY_STAGE:
        o->stage = (enum stage)mc_parse_choice("--stage", arg, stages);
        return 0;
    case KEY_OUTER:
        p->outer = mc_parse_u64("--outer", arg, 1, 10000);
        return 0;
    case KEY_PERMUTATION_EPOCHS:
        o->idle[STAGE_CURVE] = "permutation-epochs";
        p->permutation_epochs = mc_parse_u64("--permutation-epochs", arg, 0, 1000000);
        return 0;
    case KEY_PERMUTATION_LR:
        o->idle[STAGE_CURVE] = "permutation-lr";
        p->permutation_lr = mc_parse_f64("--permutation-lr", arg, 0, 1e6);
        return 0;
    case KEY_NU_PERMUTATION:
        o->idle[STAGE_CURVE] = "nu-permutation";
        p->nu_permutation = mc_parse_f64("--nu-permutation", arg, 1e-12, 1e300);
        return 0;
    case KEY_NU_CURVE:
        o->idle[STAGE_PERMUTATION] = "nu-curve";
        p->nu_curve = mc_parse_f64("--nu-curve", arg, 1e-12, 1e300);
        return 0;
    case KEY_SWEEPS:
        o->idle[STAGE_CURVE] = "sweeps";
        p->sweeps = mc_parse_u64("--sweeps", arg, 1, 1000000);
        return 0;
    case KEY_DRAWS:
        o->idle[STAGE_CURVE] = "draws";
        p->draws = mc_parse_u64("--draws", arg, 0, 1000000);
        return 0;
    case KEY_DROP:
        o->idle[STAGE_CURVE] = "drop";
        p->drop = mc_parse_f64("--drop", arg, 0, 1);
        return 0;
    case KEY_TERMS:
        o->idle[STAGE_CURVE] = "terms";
        p->terms = mc_parse_u64("--terms", arg, 0, 1000000);
        return 0;
    case KEY_JUDGE_IMAGES:
        p->images = mc_parse_u64("--judge-images", arg, 1, INT32_MAX);
        return 0;
    case KEY_JUDGE_POINTS:
        p->points = mc_parse_u64("--judge-points", arg, 1, 1000);
        return 0;
    case KEY_BARE_LOSS:
        o->idle[STAGE_CURVE] = "bare-loss";
        p->bare_loss = 1;
        return 0;
    case KEY_SPECTRAL:
        p->spectral = mc_parse_f64("--spectral", arg, 1e-12, 1e6);
        return 0;
    default:
        return mc_fit_cli_option(&o->fit, &o->cli, key, arg, state);
    }
}

static const struct argp argp = {
    options,
    parse,
    "A.mcz B.mcz",
    "Learn a permutation of the second network and a curve to it in turn."
    "\vProximal alternating minimisation: doubly stochastic matrices are trained in the place of "
    "the "
    "permutation; of permutations drawn from them, their projection and the previous one, the best "
    "along the path is kept; then the curve's control point is trained. Each moves from where it "
    "was "
    "at a price. The output is a curve that holds the permutation. -v and --log-json tell the "
    "objective after each step, and whether it fell as the theorem has it.\n\nExamples:\n"
    "  mc-pam -d train.mcz --perm p.mcz --epochs 20 a.mcz b.mcz -o curve.mcz\n"
    "  mc-pam -d train.mcz --stage permutation a.mcz b.mcz -o perm.mcz",
    NULL,
    NULL,
    NULL};

/* The two networks, the path between them and where it starts from. */
struct start {
    struct mc_weights a, b;
    struct mc_symmetry symmetry;
    struct mc_perm perm;
    float *offset; /* (P) */
    uint64_t sum;  /* of both, in which two runs that start elsewhere differ */
};

static void release(struct start *s)
{
    mc_weights_release(&s->a);
    mc_weights_release(&s->b);
    mc_symmetry_release(&s->symmetry);
    mc_perm_release(&s->perm);
    free(s->offset);
}

/* From a curve between these networks: its permutation, and its control point's offset. */
static int start_from_curve(const struct options *o, struct start *s, struct mc_history *h,
                            struct mc_error *err)
{
    struct mc_curve c = {0};
    const size_t P = s->a.graph->P;
    float *end = malloc(P * sizeof *end);
    int rc = end ? mc_curve_read(&c, o->init, h, err) : mc_fail(err, MC_ENOMEM, "out of memory");

    if (!rc &&
        (!mc_graph_same(c.graph, s->a.graph) || c.kind != MC_CURVE_BEZIER || c.n_points != 3))
        rc = mc_fail(err, MC_EINPUT, "%s: is no quadratic Bezier curve of these networks", o->init);
    if (!rc && c.perm) {
        mc_perm_release(&s->perm);
        s->perm = *c.perm;
        *c.perm = (struct mc_perm){0};
        if ((rc = mc_perm_fits(&s->perm, &s->symmetry, err)))
            mc_fail_in(err, o->init);
    }
    if (!rc)
        rc = mc_perm_apply(&s->perm, &s->symmetry, s->a.graph, s->b.params, NULL, end, NULL, err);
    if (!rc && (memcmp(c.points[0], s->a.params, P * sizeof *end) ||
                memcmp(c.points[2], end, P * sizeof *end)))
        rc = mc_fail(err, MC_EINPUT, "%s: is not a curve from %s to its permutation of %s", o->init,
                     o->cli.operands[0], o->cli.operands[1]);
    for (size_t i = 0; !rc && i < P; i++)
        s->offset[i] = c.points[1][i] - .5f * (c.points[0][i] + c.points[2][i]);
    mc_curve_release(&c);
    free(end);
    return rc;
}

static int begin(const struct options *o, struct start *s, struct mc_history *h,
                 struct mc_error *err)
{
    int rc = mc_weights_read(&s->a, o->cli.operands[0], h, err);

    if (!rc)
        rc = mc_weights_read(&s->b, o->cli.operands[1], h, err);
    if (!rc && !mc_graph_same(s->a.graph, s->b.graph))
        rc = mc_fail(err, MC_EINPUT,
                     "%s and %s: are different networks (%s, %s; mc-info -v shows their graphs)",
                     o->cli.operands[0], o->cli.operands[1], s->a.graph->net, s->b.graph->net);
    if (!rc)
        rc = mc_symmetry_derive(&s->symmetry, s->a.graph, err);
    if (!rc && !(s->offset = calloc(s->a.graph->P, sizeof *s->offset)))
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
    if (!rc && o->perm) {
        rc = mc_perm_read(&s->perm, o->perm, h, err);
        if (!rc && (rc = mc_perm_fits(&s->perm, &s->symmetry, err)))
            mc_fail_in(err, o->perm);
    } else if (!rc) {
        rc = mc_perm_init(&s->perm, &s->symmetry, err);
    }
    if (!rc && o->init)
        rc = start_from_curve(o, s, h, err);
    if (!rc)
        s->sum = XXH3_64bits(s->offset, s->a.graph->P * sizeof *s->offset);
    for (size_t g = 0; !rc && g < s->perm.n_groups; g++)
        s->sum = XXH3_64bits_withSeed(s->perm.perm[g], s->perm.sizes[g] * sizeof *s->perm.perm[g],
                                      s->sum);
    return rc;
}

/* The curve a, its control point, P b. */
static int write_curve(const struct options *o, const struct start *s, const struct mc_history *h,
                       struct mc_error *err)
{
    struct mc_curve c = {0};
    const struct mc_graph *g = s->a.graph;
    struct mc_perm perm = s->perm; /* lent */
    int rc = mc_curve_init(&c, g, MC_CURVE_BEZIER, 3, s->a.dataset, err);

    if (!rc)
        rc = mc_perm_apply(&perm, &s->symmetry, g, s->b.params, NULL, c.points[2], NULL, err);
    if (!rc) {
        memcpy(c.points[0], s->a.params, g->P * sizeof(float));
        for (size_t i = 0; i < g->P; i++)
            c.points[1][i] = .5f * (c.points[0][i] + c.points[2][i]) + s->offset[i];
        c.perm = &perm;
        rc = mc_curve_write(&c, o->cli.output, h, err);
        c.perm = NULL;
    }
    mc_curve_release(&c);
    return rc;
}

/* ---- what is told ---- */

struct teller {
    const struct options *o;
    const struct mc_pam_report *report;
};

static void number(struct mc_log *log, const char *key, double value)
{
    if (isfinite(value))
        mc_log_num(log, key, value);
}

static void tell_permutation(const struct teller *t, uint64_t outer, const struct mc_pam_report *r)
{
    const char *const kinds[] = {"the previous permutation", "the projection", "a draw"};

    mc_detail(
        &t->o->cli,
        "permutation step %llu: loss %.4f, relaxed %.4f (residual %.1e), projected %.4f; of %.0f "
        "permutations %s is kept: loss %.4f, %.0f units moved, proximal term %.4f",
        (unsigned long long)outer + 1, r->loss_before, r->loss_relaxed, r->residual,
        r->loss_projection, r->candidates, kinds[r->kept < 2 ? (int)r->kept : 2],
        r->loss_permutation, r->moved, r->proximal_permutation);
}

static void tell_iteration(const struct teller *t, uint64_t outer, const struct mc_pam_report *r)
{
    const int curved = isfinite(r->loss_curve);
    const double after =
        curved ? r->loss_curve + r->decay_curve : r->loss_permutation + r->decay_permutation;

    mc_detail(&t->o->cli, "iteration %llu: Q %.4f to %.4f, proximal terms %.4f and %.4f: %s",
              (unsigned long long)outer + 1, r->loss_before + r->decay_before, after,
              isfinite(r->proximal_permutation) ? r->proximal_permutation : 0,
              curved ? r->proximal_curve : 0,
              r->decrease >= 0 ? "it decreases as the theorem has it"
                               : "it does not decrease by as much as they take");
    if (r->rejected == 1)
        mc_note(&t->o->cli,
                "iteration %llu moved by less than %g, the theorem's least: given up, the run ends",
                (unsigned long long)outer + 1, r->least_move);
}

static void told(void *arg, struct mc_log *log, const struct mc_fit_epoch *e)
{
    const struct teller *t = arg;
    const struct mc_pam_options *p = &t->o->pam;
    const uint64_t length = p->permutation_epochs + p->curve_epochs;
    const uint64_t outer = (e->epoch - 1) / length, at = (e->epoch - 1) % length + 1;
    const struct mc_pam_report *r = &t->report[outer];

    if (at == p->permutation_epochs) {
        mc_log_begin(log, "permutation");
        mc_log_int(log, "outer", (int64_t)outer + 1);
        number(log, "loss_before", r->loss_before);
        number(log, "decay_before", r->decay_before);
        number(log, "loss_relaxed", r->loss_relaxed);
        number(log, "residual", r->residual);
        number(log, "loss_projection", r->loss_projection);
        number(log, "loss", r->loss_permutation);
        number(log, "decay", r->decay_permutation);
        number(log, "proximal", r->proximal_permutation);
        number(log, "moved", r->moved);
        number(log, "candidates", r->candidates);
        number(log, "kept", r->kept);
        mc_log_end(log);
        if (e->seconds > 0)
            tell_permutation(t, outer, r);
    }
    if (at == length) {
        mc_log_begin(log, "iteration");
        mc_log_int(log, "outer", (int64_t)outer + 1);
        number(log, "q_before", r->loss_before + r->decay_before);
        number(log, "loss_curve", r->loss_curve);
        number(log, "decay_curve", r->decay_curve);
        number(log, "proximal_permutation", r->proximal_permutation);
        number(log, "proximal_curve", r->proximal_curve);
        number(log, "decrease", r->decrease);
        number(log, "least_move", r->least_move);
        number(log, "rejected", r->rejected);
        mc_log_end(log);
        if (e->seconds > 0)
            tell_iteration(t, outer, r);
    }
}

/* ---- the run ---- */

static void note(const struct options *o, struct mc_history *h)
{
    const struct mc_pam_options *p = &o->pam;

    mc_history_int(h, "outer", (int64_t)p->outer);
    mc_history_int(h, "permutation-epochs", (int64_t)p->permutation_epochs);
    if (!isnan(p->permutation_lr))
        mc_history_num(h, "permutation-lr", p->permutation_lr);
    mc_history_num(h, "nu-permutation", p->nu_permutation);
    mc_history_num(h, "nu-curve", p->nu_curve);
    mc_history_int(h, "sweeps", (int64_t)p->sweeps);
    mc_history_int(h, "draws", (int64_t)p->draws);
    mc_history_num(h, "drop", p->drop);
    mc_history_int(h, "terms", (int64_t)p->terms);
    mc_history_int(h, "judge-images", (int64_t)p->images);
    mc_history_int(h, "judge-points", (int64_t)p->points);
    mc_history_int(h, "bare-loss", p->bare_loss);
    if (p->spectral > 0)
        mc_history_num(h, "spectral", p->spectral);
}

static int train(struct options *o, struct mc_backend *be, struct start *s, struct mc_history *h,
                 struct mc_error *err)
{
    struct mc_resident data = {0};
    struct mc_pam pam = {0};
    struct mc_pam_report *report = calloc(o->pam.outer, sizeof *report);
    struct teller teller = {o, report};
    const struct mc_pam_options *p = &o->pam;
    struct mc_state_setting identity[] = {
        {.name = "a"}, {.name = "b"}, {.name = "start"}, {.name = "pam"}};
    int rc = report ? mc_resident_open(&data, o->fit.data, o->fit.samples, h, err)
                    : mc_fail(err, MC_ENOMEM, "out of memory");

    if (!rc)
        rc = mc_data_fits(s->a.graph, &data.info, o->fit.data, err);
    if (!rc)
        rc = mc_fit_cli_settle(&o->fit, &data.info, h, err);
    if (!rc)
        rc = mc_pam_init(&pam, p, &o->fit.fit, &s->symmetry, s->a.graph, s->a.params, s->b.params,
                         s->offset, &s->perm, report, err);
    if (!rc)
        rc = mc_fit_cli_memory(&o->fit, &o->cli, be, s->a.graph, &data.info,
                               mc_pam_vectors(o->fit.fit.checkpoint != NULL), err);
    if (!rc)
        rc = mc_resident_read(&data, be, err);
    if (!rc) {
        snprintf(identity[0].value, sizeof identity[0].value, "%s", s->a.id);
        snprintf(identity[1].value, sizeof identity[1].value, "%s", s->b.id);
        snprintf(identity[2].value, sizeof identity[2].value, "%016" PRIx64, s->sum);
        snprintf(
            identity[3].value, sizeof identity[3].value,
            "%llu*(%llu+%llu) lr %.9g nu %.9g %.9g sweeps %llu draws %llu drop %.9g terms %llu "
            "judge %llu %llu %d spectral %.9g",
            (unsigned long long)p->outer, (unsigned long long)p->permutation_epochs,
            (unsigned long long)p->curve_epochs, p->permutation_lr, p->nu_permutation, p->nu_curve,
            (unsigned long long)p->sweeps, (unsigned long long)p->draws, p->drop,
            (unsigned long long)p->terms, (unsigned long long)p->images,
            (unsigned long long)p->points, p->bare_loss, p->spectral);
        o->fit.told = told;
        o->fit.told_arg = &teller;
        rc = mc_fit_cli_run(&o->fit, &o->cli, be, s->a.graph, &data, &pam.objective, identity, 4,
                            err);
    }
    mc_pam_release(&pam);
    mc_resident_release(&data, be);
    free(report);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_backend *be = NULL;
    struct start s = {0};
    struct mc_history *h = mc_history_new(o->cli.tool);
    int rc = h ? mc_fit_cli_ready(&o->fit, &o->cli, err) : mc_fail(err, MC_ENOMEM, "out of memory");

    if (!rc && o->cli.no_history)
        mc_history_hide(h);
    o->fit.fit.seed = o->cli.seed;
    if (!rc)
        rc = mc_backend_open(&be, o->cli.device, o->cli.threads, err);
    if (!rc)
        rc = begin(o, &s, h, err);
    if (!rc) {
        note(o, h);
        rc = train(o, be, &s, h, err);
    }
    if (!rc)
        rc = write_curve(o, &s, h, err);
    if (mc_fit_cli_close(&o->fit, rc ? NULL : err) && !rc)
        rc = err->code;
    release(&s);
    if (be)
        be->close(be);
    mc_history_free(h);
    return rc;
}

int main(int argc, char **argv)
{
    static const char *const stages[] = {"both", "permutation", "curve"};
    struct options o = {0};
    struct mc_error err = {0};

    mc_pam_defaults(&o.pam);
    mc_fit_cli_defaults(&o.fit, .01);
    mc_cli_parse(&o.cli, &argp, argc, argv, &o);
    mc_fit_cli_check(&o.fit);
    if (o.idle[o.stage])
        mc_cli_usage("--%s is not for --stage %s", o.idle[o.stage], stages[o.stage]);
    if (o.cli.n_operands != 2)
        mc_cli_usage("needs two weights streams (see --help)");
    if (!o.fit.data)
        mc_cli_usage("needs --data FILE (see --help)");
    if (o.perm && o.init)
        mc_cli_usage("--perm and --init: one of them is wanted");
    if (o.pam.spectral > 0 && o.fit.fit.huber <= 0)
        mc_cli_usage("--spectral needs --huber DELTA");
    if (o.stage == STAGE_PERMUTATION)
        o.fit.fit.epochs = 0;
    o.pam.curve_epochs = o.fit.fit.epochs;
    if (o.stage == STAGE_CURVE)
        o.pam.permutation_epochs = 0;
    if (!mc_pam_epochs(&o.pam))
        mc_cli_usage("has no epoch to train: see --permutation-epochs and --epochs");
    mc_cli_one_stdin(
        (const char *const[]){o.fit.data, o.perm, o.init, o.cli.operands[0], o.cli.operands[1]}, 5);
    return mc_cli_exit(&o.cli, run(&o, &err), &err);
}

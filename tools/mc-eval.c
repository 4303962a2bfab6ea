/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-eval: a table of loss and accuracy of networks, along a curve, or on a plane. */
#include "formats/codecs/curve.h"
#include "formats/codecs/losses.h"
#include "formats/codecs/weights.h"
#include "formats/network/values.h"
#include "libcommon/base/alloc.h"
#include "tools/cli/cli.h"
#include "tools/cli/text.h"
#include "tools/options/eval.h"
#include "tools/options/plane.h"
#include "tools/cli/networks.h"

#include <stdlib.h>
#include <string.h>

struct options {
    struct mc_cli cli;
    struct mc_eval_cli eval;
    struct mc_plane_cli planes;
    const char *summary, *losses;
    int plane, line, compare;
    enum { BN_REESTIMATE, BN_AVERAGE } bn;
    struct mc_error diverged; /* the last network whose losses are not finite; code 0: none */
};

static const char *const bn_names[] = {"reestimate", "average", NULL};

/* clang-format off */
static const struct mc_option options[] = {
    {"points", 'p', MC_OPT_U64, MC_AT(planes.points), .arg = "T", .min = 2, .max = 100001, .def = "65", .group = 10,
     .help = "measure T points of a curve, t = 0 to 1"},
    {"line", 0, MC_OPT_FLAG, MC_AT(line), .group = 10,
     .help = "measure the straight line between two networks, as a curve"},
    {"bn", 0, MC_OPT_CHOICE, MC_AT(bn), .names = bn_names, .def = "reestimate", .group = 20,
     .needs = {"line"}, .help = "batch-norm statistics at each point of the line. reestimate: compute them on --bn-data; "
     "average: interpolate the running statistics of the two networks, like their parameters"},
    {"plane", 0, MC_OPT_FLAG, MC_AT(plane), .group = 15,
     .help = "measure the plane through three networks, or through a curve's ends and middle"},
    {"grid", 0, MC_OPT_U64, MC_AT(planes.grid.n), .arg = "N", .min = 2, .max = 1001, .def = "17", .group = 15,
     .needs = {"plane"}, .help = "measure N x N points of the plane"},
    {"x-range", 0, MC_OPT_RANGE, MC_AT(planes.grid.x), .arg = "FROM:TO", .min = -1000, .max = 1000,
     .def = "-.05:1.05", .group = 15, .needs = {"plane"},
     .help = "range of x in units of the distance from the first network (0) to the second (1)"},
    {"y-range", 0, MC_OPT_RANGE, MC_AT(planes.grid.y), .arg = "FROM:TO", .min = -1000, .max = 1000,
     .def = "-.05:1.05", .group = 15, .needs = {"plane"},
     .help = "range of y in units of the distance from the line through these two (0) to the third network (1); for a "
     "curve the default is -.1:1.5"},
    {"marks", 0, MC_OPT_RESULT, MC_AT(planes.marks), .arg = "FILE.tsv", .group = 40, .needs = {"plane"},
     .help = "write a table of the positions of the networks and the curve in the plane"},
    {"json", 0, MC_OPT_FLAG, MC_AT(eval.report.json), .group = 40, .help = "print one JSON object instead of a table"},
    {"summary", 0, MC_OPT_RESULT, MC_AT(summary), .arg = "FILE.tsv", .group = 40,
     .help = "write a summary of a curve or line: ends, uniform and arc-length mean, minimum, maximum, barrier"},
    {"compare", 0, MC_OPT_CHOICE, MC_AT(compare), .names = mc_report_quantities, .group = 40,
     .help = "print these rows of several summaries as one table with aligned columns"},
    {"losses", 0, MC_OPT_RESULT, MC_AT(losses), .arg = "FILE.mcz", .group = 40,
     .help = "write the loss of every image at every point of a curve or line, for mc-bootstrap"},
    MC_OPTION_OUTPUT, MC_OPTIONS_BACKEND, MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY, {0}};
/* clang-format on */

static const char operands[] =
    "WEIGHTS.mcz...\nCURVE.mcz\n--line A.mcz B.mcz\n--plane A.mcz B.mcz C.mcz\n--plane CURVE.mcz\n"
    "--compare loss|accuracy SUMMARY.tsv...";
static const char doc[] =
    "Measure loss and accuracy of networks, along a curve, or on a plane."
    "\vThe table has one row per network or point; accuracies are in percent. If a network's loss "
    "is not finite, the other rows are written, an error names the network and the exit status is "
    "1; --json likewise. If the loss of a point of a curve, line or plane is not finite, nothing "
    "is written.\n\n"
    "A curve, line or plane of a network with batch norm requires --bn-data, or for a line --bn "
    "average, because its points have no statistics; its ends are measured like all other points. "
    "In the summary, arc_mean is the mean by arc length in parameter space. The barrier is the "
    "maximum rise of the loss above the straight line between its values at the ends (or fall of "
    "the accuracy below it), per data set. For a straight line it is the barrier between two "
    "networks.\n\n"
    "A plane's x axis points from the first network to the second. Its y axis is perpendicular and "
    "points to the third. For a curve these are its ends and its middle. Distances are Euclidean "
    "distances of parameters. A plane costs N x N times the images of all data sets and of "
    "--bn-data.\n\nExamples:\n"
    "  mc-eval --data test.mcz --bn-data train.mcz --points 21 curve.mcz -o c.tsv\n"
    "  mc-bezier --epochs 0 a.mcz pb.mcz |\n"
    "      mc-eval --data test.mcz --bn-data train.mcz --summary barrier.tsv\n"
    "  mc-eval --data test.mcz --line --bn average --summary barrier.tsv a.mcz pb.mcz\n"
    "  mc-eval --compare accuracy line.summary.tsv curve.summary.tsv\n"
    "  mc-eval --plane --data test.mcz --bn-data train.mcz --marks m.tsv \\\n"
    "      --checkpoint plane.ck --resume a.mcz b.mcz pb.mcz -o plane.tsv\n"
    "  mc-eval --data test.mcz --bn-data train.mcz --losses c.losses.mcz curve.mcz\n"
    "  mc-eval --data test.mcz a.mcz b.mcz";

static int print_summary(const struct options *o, struct mc_error *err)
{
    struct mc_text t = {0};
    int rc = mc_text_open(&t, err);

    if (!rc)
        rc = mc_report_summary(&o->eval.report, t.f, err);
    return mc_text_close(&t, o->summary, rc, err);
}

/* Record the settings that affect every image's loss, except the input streams. */
static void note_run(const struct options *o, const struct mc_graph *g, struct mc_history *h)
{
    const struct mc_batched *s = &o->eval.sweep;

    if (o->line)
        mc_option_note(&o->cli, &o->line, h);
    if (o->line && g->S)
        mc_option_note(&o->cli, &o->bn, h);
    if (g->S && s->bn.path) {
        mc_history_int(h, "bn-samples", (int64_t)s->bn.n_images);
        mc_option_note(&o->cli, &o->eval.bn_plain, h);
    }
    if (s->attack) {
        mc_option_note(&o->cli, &o->eval.attack, h);
        mc_option_note(&o->cli, &s->bn_attack, h);
    }
    mc_option_note(&o->cli, &s->pass.batch, h);
    mc_option_note(&o->cli, &s->pass.seed, h);
    mc_history_facts(h, o->cli.be->facts, o->cli.be->n_facts);
}

static int write_losses(struct options *o, const struct mc_curve *c, double *t,
                        struct mc_error *err)
{
    const struct mc_batched *s = &o->eval.sweep;
    struct mc_losses l = {.T = o->planes.points,
                          .t = t,
                          .chord = t + o->planes.points,
                          .n_data = mc_report_n(&o->eval.report)};
    int rc = mc_new(&l.data, l.n_data, err);

    for (size_t i = 0; !rc && i < l.n_data; i++) {
        const struct mc_report_columns column = mc_report_column(&o->eval.report, i);
        const struct mc_batched_data *from = &s->data[i % s->n_data];
        struct mc_losses_data *d = &l.data[i];
        snprintf(d->name, sizeof d->name, "%s", column.name);
        memcpy(d->id, from->id, sizeof d->id);
        d->images = from->n_images;
        d->loss = column.out->loss;
        d->correct = column.out->correct;
    }
    note_run(o, c->graph, o->cli.history);
    if (!rc)
        rc = mc_losses_write(&l, o->losses, o->cli.history, err);
    free(l.data);
    return rc;
}

static int measure_curve(struct options *o, const struct mc_curve *c, FILE *f, struct mc_error *err)
{
    struct mc_report *report = &o->eval.report;
    size_t T = o->planes.points;
    double gram[MC_MAX_POINTS * MC_MAX_POINTS];
    double *t = calloc(2 * T, sizeof *t), *coef = calloc(T * c->n_points, sizeof *coef);
    struct mc_span span = {.graph = c->graph,
                           .k = c->n_points,
                           .T = T,
                           .vectors = (const float *const *)c->points,
                           .coef = coef};
    int rc = t && coef ? 0 : mc_no_memory(err);

    if (rc)
        goto out;
    mc_curve_gram(span.k, span.vectors, c->graph->P, gram);
    mc_curve_sample(c, gram, T, t, coef, t + T);
    report->coords = t;
    report->n_coords = 1;
    report->chord = t + T;
    rc = mc_eval_cli_measure(&o->eval, &span, err);
    if (!rc && o->losses)
        rc = write_losses(o, c, t, err);
    if (!rc && o->summary)
        rc = print_summary(o, err);
    if (!rc)
        rc = mc_report_print(report, f, err);
out:
    free(coef);
    free(t);
    return rc;
}

static int eval_curve(struct options *o, struct mc_reader *r, FILE *f, struct mc_error *err)
{
    struct mc_curve c = {0};
    int rc = mc_curve_read(&c, (struct mc_stream){.reader = r}, o->cli.history, err);

    if (!rc) {
        mc_checkpoint_set(&o->eval.sweep.state, "curve", "%s", c.id);
        mc_eval_cli_subject(&o->eval, c.dataset, c.augmented);
        rc = measure_curve(o, &c, f, err);
    }
    mc_curve_release(&c);
    return rc;
}

/* Measure the line that mc-bezier --epochs 0 writes for the two networks. */
static int eval_line(struct options *o, struct mc_reader *r, FILE *f, struct mc_error *err)
{
    struct mc_weights a = {0}, b = {0};
    struct mc_curve line = {0};
    const char **path = o->cli.operands;
    int rc = mc_weights_read(&a, (struct mc_stream){.reader = r}, o->cli.history, err);

    if (!rc)
        rc = mc_weights_read(&b, (struct mc_stream){.path = path[1]}, o->cli.history, err);
    if (!rc)
        rc = mc_expect_same_network(&o->cli, a.graph, b.graph, path[0], path[1], err);
    if (!rc && a.graph->S && o->bn == BN_REESTIMATE && !o->eval.sweep.bn.path)
        rc = mc_fail(err, MC_EUSAGE,
                     "--line between networks with batch norm requires --bn-data FILE.mcz (or --bn "
                     "average)");
    if (!rc)
        rc = mc_curve_between(&line, &a, &b, MC_CURVE_BEZIER, 2, err);
    if (!rc) {
        const float *const stats[] = {a.stats, b.stats};
        struct mc_checkpoint *state = &o->eval.sweep.state;
        mc_checkpoint_set(state, "line", "%s %s", a.id, b.id);
        mc_eval_cli_subject(&o->eval, a.dataset, a.augmented);
        mc_eval_cli_subject(&o->eval, b.dataset, b.augmented);
        mc_option_save(&o->cli, &o->bn, state);
        o->eval.sweep.stats = o->bn == BN_AVERAGE ? stats : NULL;
        rc = measure_curve(o, &line, f, err);
    }
    mc_curve_release(&line);
    mc_weights_release(&a);
    mc_weights_release(&b);
    return rc;
}

static int eval_network(struct options *o, struct mc_reader *r, struct mc_error *err)
{
    struct mc_weights w = {0};
    const double one = 1;
    int rc = mc_weights_read(&w, (struct mc_stream){.reader = r}, NULL, err);

    if (!rc) {
        const float *vector = w.params, *stats = w.stats;
        o->eval.report.network = mc_reader_name(r);
        mc_eval_cli_subject(&o->eval, w.dataset, w.augmented);
        o->eval.sweep.stats = &stats;
        struct mc_span span = {.graph = w.graph, .k = 1, .T = 1, .vectors = &vector, .coef = &one};
        rc = mc_eval_cli_measure(&o->eval, &span, err);
    }
    mc_weights_release(&w);
    return rc;
}

/* Print a row for each network with finite losses. Report the other networks: all except the last
 * here, the last through o->diverged. */
static int eval_networks(struct options *o, struct mc_reader **r, FILE *f, struct mc_error *err)
{
    struct mc_report *report = &o->eval.report;
    size_t rows = 0;
    int rc = 0;

    o->eval.sweep.several = o->cli.n_operands > 1;
    for (size_t i = 0; i < o->cli.n_operands; i++) {
        struct mc_error why = {0};
        if (i) {
            mc_reader_close(*r);
            *r = NULL;
            rc = mc_reader_open(r, o->cli.operands[i], err);
        }
        if (rc || (rc = eval_network(o, *r, err)))
            return rc;
        if (mc_report_check(report, &why)) {
            if (o->diverged.code)
                mc_message(o->diverged.text);
            o->diverged = why;
            continue;
        }
        if (!rows)
            mc_report_begin(report, f);
        mc_report_rows(report, f, !rows++);
    }
    if (rows)
        return mc_report_end(report, f, err);
    *err = o->diverged;
    return o->diverged.code;
}

/* Check that all networks after the first are complete and accept the data, before minutes of work
 * on the first. Skip pipes, which can be read only once. */
static int check_networks(const struct options *o, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 1; !rc && i < o->cli.n_operands; i++) {
        const char *path = o->cli.operands[i];
        struct mc_weights w = {0};
        if (!mc_values_rereadable(path))
            continue;
        if (!(rc = mc_weights_read(&w, (struct mc_stream){.path = path}, NULL, err)) &&
            (rc = mc_eval_cli_expect(&o->eval, w.graph, err)))
            mc_fail_in(rc, err, "%s", path);
        mc_weights_release(&w);
    }
    return rc;
}

/* Check the options against the operands; is_curve: the first operand is a curve. */
static int check_kind(const struct options *o, int is_curve, struct mc_error *err)
{
    size_t n = o->cli.n_operands;

    if (o->line && n != 2)
        return mc_fail(err, MC_EUSAGE, "--line requires two networks (got %zu operands)", n);
    if (is_curve && n > 1)
        return mc_fail(err, MC_EUSAGE, "only one curve can be measured (got %zu operands)", n);
    if (o->plane && (o->summary || o->losses))
        return mc_fail(err, MC_EUSAGE, "--%s has no effect with --plane",
                       o->summary ? "summary" : "losses");
    if (o->plane && !is_curve && n != 3)
        return mc_fail(err, MC_EUSAGE,
                       "--plane requires three networks or one curve (got %zu operands)", n);
    if (is_curve || o->line)
        return 0;
    const char *option = o->summary                                    ? "summary"
                         : o->losses                                   ? "losses"
                         : mc_option_given(&o->cli, &o->planes.points) ? "points"
                         : !o->plane && o->eval.sweep.checkpoint       ? "checkpoint"
                                                                       : NULL;
    return option ? mc_fail(err, MC_EUSAGE,
                            "--%s requires a curve, got weights (--line measures the line between "
                            "two networks)",
                            option)
                  : 0;
}

static int eval(struct options *o, int is_curve, struct mc_reader **r, FILE *f,
                struct mc_error *err)
{
    if (o->plane)
        return (is_curve ? mc_plane_cli_curve : mc_plane_cli_networks)(&o->planes, *r, f, err);
    if (o->line)
        return eval_line(o, *r, f, err);
    return is_curve ? eval_curve(o, *r, f, err) : eval_networks(o, r, f, err);
}

/* Read weights or a curve, depending on the kind of the first operand. */
static int run(struct options *o, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    struct mc_text t = {0};
    int is_curve = 0, rc = mc_text_open(&t, err);

    o->eval.sweep.history = o->cli.history;
    if (!rc && mc_option_given(&o->cli, &o->compare)) {
        rc = mc_report_compare(o->cli.operands, o->cli.n_operands, o->compare, t.f, err);
        return mc_text_close(&t, o->cli.output, rc, err);
    }
    if (!rc)
        rc = mc_reader_open(&r, o->cli.operands[0], err);
    if (!rc && !(is_curve = !o->line && !strcmp(mc_reader_kind(r), "curve")))
        rc = mc_reader_expect(r, "weights", err);
    if (!rc)
        rc = check_kind(o, is_curve, err);
    if (!rc)
        rc = mc_eval_cli_open_data(&o->eval, err);
    if (!rc && !o->plane) /* a plane reads all three networks first */
        rc = check_networks(o, err);
    if (!rc)
        rc = mc_cli_open_backend(&o->cli, err);
    if (!rc)
        rc = eval(o, is_curve, &r, t.f, err);
    rc = mc_text_close(&t, o->cli.output, rc, err);
    if (!rc && (rc = o->diverged.code))
        *err = o->diverged;
    mc_eval_cli_release(&o->eval);
    mc_reader_close(r);
    return rc;
}

static void add_options(struct options *o)
{
    mc_eval_cli_options(&o->eval, &o->cli);
}

static void check_options(struct options *o)
{
    const struct mc_options *all = &o->cli.options;

    o->cli.text = 1;
    if (mc_option_given(&o->cli, &o->compare)) {
        mc_cli_require(o->cli.n_operands > 0, "operand SUMMARY.tsv");
        for (const struct mc_option_use *u = all->use; u < all->use + all->n; u++)
            if (u->given && u->value != &o->compare && u->base != &o->cli)
                mc_cli_usage("--%s has no effect with --compare", u->row->name);
        return;
    }
    mc_cli_default_stdin(&o->cli);
    mc_eval_cli_check(&o->eval);
    if (o->line && o->plane)
        mc_cli_usage("--line and --plane cannot be combined");
    if (o->bn == BN_AVERAGE && o->eval.sweep.bn.path)
        mc_cli_usage("--bn-data has no effect with --bn average");
    if (o->losses && o->eval.sweep.checkpoint)
        mc_cli_usage("--losses and --checkpoint cannot be combined: a checkpoint does not contain "
                     "every image's loss");
    if (o->cli.no_history && !o->losses)
        mc_cli_usage("--no-history has no effect without --losses");
    o->eval.sweep.per_image = o->losses != NULL;
    o->planes.eval = &o->eval;
}

MC_PROGRAM("mc-eval", operands, doc, options, .add = add_options, .check = check_options,
           .run = run)

/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-eval: loss and accuracy of networks, along a curve, or on a plane, as a table. */
#include "formats/codecs/curve.h"
#include "formats/codecs/weights.h"
#include "libcommon/base/json.h"
#include "tools/cli/cli.h"
#include "tools/cli/text.h"
#include "tools/eval/options.h"
#include "tools/eval/plane_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct options {
    struct mc_cli cli;
    struct mc_eval_cli eval;
    struct mc_plane_cli planes;
    const char *summary;
    uint64_t points;
    int plane, json, points_given;
    const char *plane_given; /* an option of planes, or NULL */
};

enum {
    KEY_JSON = MC_KEY_TOOL,
    KEY_SUMMARY,
    KEY_PLANE,
    KEY_GRID,
    KEY_X_RANGE,
    KEY_Y_RANGE,
    KEY_MARKS
};

/* clang-format off */
static const struct argp_option options[] = {
    MC_EVAL_OPTIONS,
    {"points", 'p', "T", 0, "points of a curve, t = 0 to 1 (default 65)", 10},
    {"plane", KEY_PLANE, 0, 0, "the plane through three networks, or through a curve's ends and middle", 15},
    {"grid", KEY_GRID, "N", 0, "N x N points of it (default 17)", 15},
    {"x-range", KEY_X_RANGE, "FROM:TO", 0, "from the first (0) to the second (1) of the three "
     "(default -.05:1.05)", 15},
    {"y-range", KEY_Y_RANGE, "FROM:TO", 0, "from their line (0) to the third's height (1) (default -.05:1.05; "
     "of a curve -.1:1.5)", 15},
    {"marks", KEY_MARKS, "FILE", 0, "where the networks and the curve lie in the plane, as a table", 40},
    {"json", KEY_JSON, 0, 0, "one JSON object instead of a table", 40},
    {"summary", KEY_SUMMARY, "FILE", 0, "a curve's summary as a table: ends, uniform and arc-length "
     "mean, minimum, maximum, barrier", 40},
    MC_OPTION_OUTPUT, MC_OPTION_SEED, MC_OPTION_THREADS, MC_OPTION_DEVICE, MC_OPTION_PRECISION,
    MC_OPTION_DETERMINISTIC,
    MC_OPTION_NO_PROGRESS, MC_OPTIONS_END};
/* clang-format on */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case 'p':
        o->points_given = 1;
        o->points = mc_parse_u64("--points", arg, 2, 100001);
        return 0;
    case KEY_PLANE:
        o->plane = 1;
        return 0;
    case KEY_GRID:
        o->plane_given = "grid";
        o->planes.grid.n = mc_parse_u64("--grid", arg, 2, 1001);
        return 0;
    case KEY_X_RANGE:
        o->plane_given = "x-range";
        mc_parse_range("--x-range", arg, -1000, 1000, o->planes.grid.x);
        return 0;
    case KEY_Y_RANGE:
        o->plane_given = "y-range";
        o->planes.y_given = 1;
        mc_parse_range("--y-range", arg, -1000, 1000, o->planes.grid.y);
        return 0;
    case KEY_MARKS:
        o->plane_given = "marks";
        o->planes.marks = arg;
        return 0;
    case KEY_JSON:
        o->json = 1;
        return 0;
    case KEY_SUMMARY:
        o->summary = arg;
        return 0;
    default:
        if (mc_eval_cli_option(&o->eval, key, arg) == 0)
            return 0;
        return mc_cli_option(&o->cli, key, arg, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "WEIGHTS.mcz...\nCURVE.mcz\n--plane A.mcz B.mcz C.mcz\n--plane CURVE.mcz",
    .doc =
        "Measure loss and accuracy of networks, along a curve, or on a plane."
        "\vA table has one row a network or point; accuracies are in percent. A curve or plane "
        "needs "
        "--bn-data where its network has batch norm: it carries no statistics, and its ends are "
        "measured like every other point. In the summary, arc_mean is the mean by arc length in "
        "parameter space, and the barrier is how far the loss rises over the straight line between "
        "its values at the ends, or the accuracy falls under it, on each data set; of a straight "
        "line it is the barrier between two networks.\n\n"
        "A plane's x runs from the first network to the second, y at right angles to it towards "
        "the "
        "third (of a curve: its ends and its middle), both Euclidean distances of parameters. It "
        "costs N x N times the images of all data sets and of --bn-data.\n\nExamples:\n"
        "  mc-eval --data test.mcz --bn-data train.mcz --points 21 curve.mcz -o c.tsv\n"
        "  mc-bezier --epochs 0 a.mcz pb.mcz |\n"
        "      mc-eval --data test.mcz --bn-data train.mcz --summary barrier.tsv\n"
        "  mc-eval --plane --data test.mcz --bn-data train.mcz --marks m.tsv \\\n"
        "      --checkpoint plane.state --resume a.mcz b.mcz pb.mcz -o plane.tsv\n"
        "  mc-eval --data test.mcz a.mcz b.mcz"};

static int print_summary(const struct options *o, struct mc_error *err)
{
    struct mc_text t = {0};
    int rc = mc_text_open(&t, err);

    if (!rc)
        rc = mc_report_summary(&o->eval.report, t.f, err);
    return mc_text_close(&t, o->summary, rc, err);
}

static int eval_curve(struct options *o, struct mc_backend *be, struct mc_reader *r, FILE *f,
                      struct mc_error *err)
{
    struct mc_report *report = &o->eval.report;
    struct mc_curve c = {0};
    struct mc_checkpoint id = {0};
    size_t T = o->points;
    double gram[MC_MAX_POINTS * MC_MAX_POINTS];
    double *t = calloc(2 * T, sizeof *t), *coef = NULL;
    int rc = mc_curve_read_stream(&c, r, NULL, err);

    if (!rc && (!t || !(coef = calloc(T * c.n_points, sizeof *coef))))
        rc = mc_no_memory(err);
    if (rc)
        goto out;
    struct mc_span span = {.graph = c.graph,
                           .k = c.n_points,
                           .T = T,
                           .vectors = (const float *const *)c.points,
                           .coef = coef};
    mc_curve_gram(span.k, span.vectors, c.graph->P, gram);
    mc_curve_sample(&c, gram, T, t, coef, t + T);
    report->t = t;
    report->chord = t + T;
    mc_checkpoint_set(&id, "curve", "%s", c.id);
    rc = mc_eval_cli_measure(&o->eval, be, &span, NULL, "a curve", id.settings, id.n_settings, err);
    if (!rc && o->summary)
        rc = print_summary(o, err);
    if (!rc && o->json)
        rc = mc_report_curve_json(report, f, err);
    else if (!rc)
        mc_report_curve(report, f);
out:
    free(coef);
    free(t);
    mc_curve_release(&c);
    return rc;
}

static int eval_network(struct options *o, struct mc_backend *be, struct mc_reader *r,
                        struct mc_error *err)
{
    struct mc_weights w = {0};
    const double one = 1;
    int rc = mc_weights_read_stream(&w, r, NULL, err);

    if (!rc) {
        const float *vector = w.params;
        o->eval.report.network = mc_reader_name(r);
        struct mc_span span = {.graph = w.graph, .k = 1, .T = 1, .vectors = &vector, .coef = &one};
        rc = mc_eval_cli_measure(&o->eval, be, &span, w.stats, "a network", NULL, 0, err);
    }
    mc_weights_release(&w);
    return rc;
}

static int eval_networks(struct options *o, struct mc_backend *be, struct mc_reader **r, FILE *f,
                         struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < o->cli.n_operands; i++) {
        if (i) {
            mc_reader_close(*r);
            *r = NULL;
            rc = mc_reader_open(r, o->cli.operands[i], err);
        }
        if (!rc)
            rc = eval_network(o, be, *r, err);
        if (rc)
            return rc;
        if (o->json) {
            if (!i) {
                fputs("{\"kind\":\"weights\",", f);
                mc_report_json_attack(&o->eval.report, f);
            }
            fputs(i ? "},{" : "\"networks\":[{", f);
            fputs("\"network\":", f);
            mc_json_str(f, mc_reader_name(*r));
            mc_report_json(&o->eval.report, f, 0);
            continue;
        }
        if (!i)
            mc_report_head(&o->eval.report, f, "network");
        mc_report_row(&o->eval.report, f, mc_reader_name(*r), 0);
    }
    if (o->json)
        fputs("}]}\n", f);
    return 0;
}

/* The networks after the first, before minutes of work on that one: whole, and of these data. A
 * pipe can be read only once. */
static int look_ahead(const struct options *o, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 1; !rc && i < o->cli.n_operands; i++) {
        const char *path = o->cli.operands[i];
        struct mc_weights w = {0};
        struct stat st;
        if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode)))
            continue;
        if (!(rc = mc_weights_read(&w, path, NULL, err)) &&
            (rc = mc_eval_cli_fits(&o->eval, w.graph, err)))
            mc_fail_in(rc, err, "%s", path);
        mc_weights_release(&w);
    }
    return rc;
}

/* What the options ask of the operands, of which the first's kind is known. */
static int check_kind(const struct options *o, int is_curve, struct mc_error *err)
{
    size_t n = o->cli.n_operands;

    if (is_curve && n > 1)
        return mc_fail(err, MC_EUSAGE, "takes one curve at a time");
    if (o->plane && o->summary)
        return mc_fail(err, MC_EUSAGE, "--summary is for curves, not their planes");
    if (o->plane && !is_curve && n != 3)
        return mc_fail(err, MC_EUSAGE, "--plane goes through three networks or one curve");
    if (!is_curve && o->summary)
        return mc_fail(err, MC_EUSAGE, "--summary is for curves");
    if (!is_curve && o->points_given)
        return mc_fail(err, MC_EUSAGE, "--points is for curves");
    if (!is_curve && !o->plane && o->eval.checkpoint)
        return mc_fail(err, MC_EUSAGE, "--checkpoint is for curves and planes");
    return 0;
}

static int eval(struct options *o, int is_curve, struct mc_backend *be, struct mc_reader **r,
                FILE *f, struct mc_error *err)
{
    if (o->plane && is_curve)
        return mc_plane_cli_curve(&o->planes, &o->eval, be, *r, o->points, o->json, f, err);
    if (o->plane)
        return mc_plane_cli_networks(&o->planes, &o->eval, be, *r, o->json, f, err);
    return is_curve ? eval_curve(o, be, *r, f, err) : eval_networks(o, be, r, f, err);
}

/* Weights or a curve: the first operand's kind says. */
static int run(struct options *o, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    struct mc_backend *be = NULL;
    struct mc_text t = {0};
    int is_curve = 0, rc = mc_cli_ready(&o->cli, 0, err);

    if (!rc)
        rc = mc_text_open(&t, err);
    if (!rc)
        rc = mc_reader_open(&r, o->cli.operands[0], err);
    if (!rc && !(is_curve = !strcmp(mc_reader_kind(r), "curve")))
        rc = mc_reader_expect(r, "weights", err);
    if (!rc)
        rc = check_kind(o, is_curve, err);
    if (!rc)
        rc = mc_eval_cli_look_ahead(&o->eval, err);
    if (!rc && !o->plane) /* which reads all three first */
        rc = look_ahead(o, err);
    if (!rc)
        rc = mc_backend_open(&be, &o->cli.backend, err);
    if (!rc)
        rc = eval(o, is_curve, be, &r, t.f, err);
    rc = mc_text_close(&t, o->cli.output, rc, err);
    mc_eval_cli_release(&o->eval);
    mc_reader_close(r);
    if (be)
        be->close(be);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {.points = 65, .planes.grid = {17, {-.05, 1.05}, {-.05, 1.05}}};
    struct mc_error err = {0};

    mc_eval_cli_defaults(&o.eval, &o.cli);
    mc_cli_parse(&o.cli, &argp, argc, argv, &o);
    if (!o.cli.n_operands)
        o.cli.operands[o.cli.n_operands++] = "-";
    mc_eval_cli_check(&o.eval, &o.cli);
    mc_cli_file(&o.cli, MC_FILE_OUTPUT, "--summary", o.summary);
    mc_cli_file(&o.cli, MC_FILE_OUTPUT, "--marks", o.planes.marks);
    if (o.plane_given && !o.plane)
        mc_cli_usage("--%s is for planes (--plane)", o.plane_given);
    return mc_cli_exit(&o.cli, run(&o, &err), &err);
}

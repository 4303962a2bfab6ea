/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-bezier: two networks in, a curve of low loss between them out; or a point of a curve as
 * weights. */
#include "tools/cli/computed_with.h"
#include "tools/curve/objective.h"
#include "tools/eval/measure.h"
#include "tools/train/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct mc_cli cli;
    struct mc_train_cli train;
    const char *bn_data;
    size_t bends;
    enum mc_curve_kind kind;
    double point;                          /* NAN: train a curve */
    const char *curve_given, *point_given; /* an option of one of the two uses, or NULL */
    uint64_t bn_samples;
    int bn_plain, bn_samples_given;
};

enum { KEY_BENDS = MC_KEY_TOOL, KEY_CHAIN, KEY_POINT, KEY_BN_DATA, KEY_BN_SAMPLES, KEY_BN_PLAIN };

/* clang-format off */
static const struct argp_option options[] = {
    {"bends", KEY_BENDS, "N", 0, "control points between the ends (default 1: quadratic)", 10},
    {"chain", KEY_CHAIN, 0, 0, "a polygonal chain instead of a Bezier curve", 10},
    {"point", KEY_POINT, "T", 0, "take the point at T in [0,1] out of a curve, as weights", 40},
    {"bn-data", KEY_BN_DATA, "FILE", 0, "data to re-estimate that point's batch-norm statistics on", 40},
    {"bn-samples", KEY_BN_SAMPLES, "N", 0, "first N images of --bn-data (default 10000)", 40},
    {"bn-plain", KEY_BN_PLAIN, 0, 0, "re-estimate on images as they are, not augmented", 40},
    MC_TRAIN_OPTIONS("0.01"),
    MC_OPTIONS_END};
/* clang-format on */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case KEY_BENDS:
        o->curve_given = "bends";
        o->bends = mc_parse_u64("--bends", arg, 0, MC_MAX_POINTS - 2);
        return 0;
    case KEY_CHAIN:
        o->curve_given = "chain";
        o->kind = MC_CURVE_CHAIN;
        return 0;
    case KEY_POINT:
        o->point = mc_parse_f64("--point", arg, 0, 1);
        return 0;
    case KEY_BN_DATA:
        o->point_given = "bn-data";
        o->bn_data = arg;
        return 0;
    case KEY_BN_SAMPLES:
        o->point_given = "bn-samples";
        o->bn_samples_given = 1;
        o->bn_samples = mc_parse_u64("--bn-samples", arg, 1, INT32_MAX);
        return 0;
    case KEY_BN_PLAIN:
        o->point_given = "bn-plain";
        o->bn_plain = 1;
        return 0;
    default:
        return mc_train_cli_option(&o->train, &o->cli, key, arg, state);
    }
}

static const struct argp argp = {
    options,
    parse,
    "A.mcz B.mcz\n--point T --bn-data FILE CURVE.mcz",
    "Learn a curve of low loss between two networks, or take a point out of one."
    "\vThe ends stay fixed; the control points start on the straight line and are trained with one "
    "random t a batch. --epochs 0 leaves the straight line. With -v it says first how much memory "
    "the run "
    "takes.\n\nExamples:\n"
    "  mc-bezier --data train.mcz --epochs 20 a.mcz pb.mcz -o curve.mcz\n"
    "  mc-bezier --point 0.5 --bn-data train.mcz curve.mcz -o middle.mcz",
    NULL,
    NULL,
    NULL};

/* The straight path between the two networks of the command line. */
static int begin(const struct options *o, struct mc_history *h, struct mc_curve *c,
                 char id[2][MC_ID_LEN], struct mc_error *err)
{
    struct mc_weights a = {0}, b = {0};
    int rc = mc_weights_read_two(&a, &b, o->cli.operands[0], o->cli.operands[1], h, err);

    if (!rc)
        rc = mc_curve_init(c, a.graph, o->kind, o->bends + 2, a.dataset, err);
    if (!rc) {
        memcpy(c->points[0], a.params, a.graph->P * sizeof(float));
        memcpy(c->points[c->n_points - 1], b.params, a.graph->P * sizeof(float));
        mc_curve_straighten(c);
        memcpy(id[0], a.id, MC_ID_LEN);
        memcpy(id[1], b.id, MC_ID_LEN);
    }
    mc_weights_release(&a);
    mc_weights_release(&b);
    return rc;
}

static int train(struct options *o, struct mc_backend *be, struct mc_history *h, struct mc_curve *c,
                 char id[2][MC_ID_LEN], struct mc_error *err)
{
    struct mc_in_memory data = {0};
    struct mc_curve_objective objective;
    struct mc_checkpoint_setting identity[] = {
        {.name = "a"}, {.name = "b"}, {.name = "curve"}, {.name = "points"}};
    int rc = mc_in_memory_open(&data, o->train.data, o->train.samples, h, err);

    if (!rc)
        rc = mc_data_fits(c->graph, &data.info, o->train.data, err);
    if (!rc)
        rc = mc_train_cli_settle(&o->train, be, &data.info, h, err);
    mc_curve_objective_curve(&objective, c);
    if (!rc)
        rc = mc_train_cli_memory(
            &o->train, &o->cli, be, c->graph, &data.info, 1,
            mc_curve_objective_vectors(&objective, o->train.train.checkpoint != NULL), 0, err);
    if (!rc)
        rc = mc_in_memory_read(&data, be, err);
    if (!rc) {
        snprintf(identity[0].value, sizeof identity[0].value, "%s", id[0]);
        snprintf(identity[1].value, sizeof identity[1].value, "%s", id[1]);
        snprintf(identity[2].value, sizeof identity[2].value, "%d", (int)c->kind);
        snprintf(identity[3].value, sizeof identity[3].value, "%zu", c->n_points);
        rc = mc_train_cli_run(&o->train, &o->cli, be, c->graph, &data, &objective.objective,
                              identity, 4, err);
    }
    mc_in_memory_release(&data, be);
    return rc;
}

static int learn_curve(struct options *o, struct mc_backend *be, struct mc_history *h,
                       struct mc_error *err)
{
    struct mc_curve c = {0};
    char id[2][MC_ID_LEN];
    int rc = begin(o, h, &c, id, err);

    o->train.train.seed = o->cli.seed;
    mc_history_str(h, "curve", o->kind == MC_CURVE_CHAIN ? "chain" : "bezier");
    mc_history_int(h, "bends", (int64_t)o->bends);
    if (!rc && o->train.train.epochs && o->bends)
        rc = train(o, be, h, &c, id, err);
    if (!rc)
        rc = mc_curve_write(&c, o->cli.output, h, err);
    if (mc_train_cli_close(&o->train, rc ? NULL : err) && !rc)
        rc = err->code;
    mc_curve_release(&c);
    return rc;
}

/* Batch-norm statistics of a point on --bn-data. */
static int point_statistics(const struct options *o, struct mc_backend *be, struct mc_history *h,
                            struct mc_weights *w, struct mc_error *err)
{
    struct mc_dataset_reader *d = NULL;
    const struct mc_loader_options pass = {.batch = o->train.train.batch,
                                           .samples = o->bn_samples,
                                           .exact = o->bn_samples_given,
                                           .augment = !o->bn_plain,
                                           .seed = o->cli.seed};
    const float *vector = w->params;
    const double one = 1;
    struct mc_span span = {.graph = w->graph, .k = 1, .T = 1, .vectors = &vector, .coef = &one};
    int rc = mc_dataset_open(&d, o->bn_data, err);

    if (!rc) {
        mc_history_input(h, mc_dataset_stream(d));
        rc = mc_eval_statistics(be, &span, d, &pass, w->stats, err);
    }
    mc_dataset_close(d);
    return rc;
}

static int take_point(struct options *o, struct mc_backend *be, struct mc_history *h,
                      struct mc_error *err)
{
    struct mc_curve c = {0};
    struct mc_weights w = {0};
    double coef[MC_MAX_POINTS];
    int rc = mc_curve_read(&c, o->cli.operands[0], h, err);

    if (!rc && c.graph->S && !o->bn_data)
        rc = mc_fail(err, MC_EUSAGE,
                     "--point needs --bn-data FILE: a curve carries no batch-norm statistics");
    if (!rc)
        rc = mc_weights_init(&w, c.graph, c.dataset, err);
    if (rc)
        goto out;
    mc_history_num(h, "point", o->point);
    mc_curve_coefs(c.kind, c.n_points, o->point, coef);
    for (size_t j = 0; j < c.graph->P; j++) {
        double sum = 0;
        for (size_t i = 0; i < c.n_points; i++)
            sum += coef[i] * (double)c.points[i][j];
        w.params[j] = (float)sum;
    }
    if (c.graph->S) {
        mc_history_int(h, "bn-samples", (int64_t)o->bn_samples);
        mc_history_int(h, "bn-plain", o->bn_plain);
        mc_history_int(h, "batch", (int64_t)o->train.train.batch);
        mc_history_int(h, "seed", (int64_t)o->cli.seed);
        mc_computed_with_history(be, h);
        rc = point_statistics(o, be, h, &w, err);
    }
    if (!rc)
        rc = mc_weights_write(&w, o->cli.output, h, err);
out:
    mc_weights_release(&w);
    mc_curve_release(&c);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_backend *be = NULL;
    struct mc_history *h = mc_history_new(o->cli.tool);
    int rc = h ? mc_train_cli_ready(&o->train, &o->cli, err) : mc_no_memory(err);

    if (!rc && o->cli.no_history)
        mc_history_hide(h);
    if (!rc)
        rc = mc_backend_open(&be, &o->cli.backend, err);
    if (!rc)
        rc = isnan(o->point) ? learn_curve(o, be, h, err) : take_point(o, be, h, err);
    if (be)
        be->close(be);
    mc_history_free(h);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {.bends = 1, .point = NAN, .bn_samples = 10000};
    struct mc_error err = {0};

    mc_train_cli_defaults(&o.train, .01);
    mc_cli_parse(&o.cli, &argp, argc, argv, &o);
    mc_train_cli_check(&o.train);
    size_t wanted = isnan(o.point) ? 2 : 1;
    const char *idle = wanted == 2 ? o.point_given : o.train.given ? o.train.given : o.curve_given;
    if (idle)
        mc_cli_usage("--%s is for %s", idle,
                     wanted == 2 ? "a point (--point)" : "curves, not for --point");
    if (o.cli.n_operands != wanted)
        mc_cli_usage("needs %s (see --help)",
                     wanted == 2 ? "two weights streams" : "one curve stream");
    if (wanted == 2 && o.train.train.epochs && o.bends && !o.train.data)
        mc_cli_usage("needs --data FILE (or --epochs 0 for the straight line)");
    mc_cli_file(&o.cli, MC_FILE_INPUT, "--bn-data", o.bn_data);
    return mc_cli_exit(&o.cli, run(&o, &err), &err);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-bezier: learn a low-loss curve between two networks, or extract a point of a curve. */
#include "formats/network/permutations.h"
#include "libcommon/base/file.h"
#include "tools/curve/line.h"
#include "tools/curve/objective.h"
#include "tools/cli/data_warnings.h"
#include "tools/options/statistics.h"
#include "tools/options/train.h"
#include "tools/cli/networks.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

struct options {
    struct mc_cli cli;
    struct mc_train_cli train;
    const char *bn_data, *start, *perm;
    uint64_t control_points, bn_samples;
    int chain, bn_plain, inner;
    double point; /* if given, or with inner, no curve is trained */
};

/* clang-format off */
static const struct mc_option options[] = {
    {"control-points", 0, MC_OPT_U64, MC_AT(control_points), .arg = "N", .max = MC_MAX_POINTS - 2, .def = "1",
     .group = 10, .flags = MC_OPT_HISTORY, .only = MC_USE_TRAINING | MC_USE_SHAPE,
     .help = "control points between the ends; 1: a quadratic curve"},
    {"chain", 0, MC_OPT_FLAG, MC_AT(chain), .group = 10, .only = MC_USE_TRAINING | MC_USE_SHAPE,
     .help = "use a polygonal chain instead of a Bezier curve"},
    {"start", 0, MC_OPT_INPUT, MC_AT(start), .arg = "FILE.mcz", .group = 10, .only = MC_USE_TRAINING | MC_USE_SHAPE,
     .help = "start the only control point at these weights instead of on the straight line"},
    {"perm", 0, MC_OPT_INPUT, MC_AT(perm), .arg = "FILE.mcz", .group = 10, .only = MC_USE_TRAINING | MC_USE_SHAPE,
     .help = "first permute B by this permutation (or this curve's) and store the permutation in the curve; --start "
     "must be in the permuted order"},
    {"inner", 0, MC_OPT_FLAG, MC_AT(inner), .group = 40, .flags = MC_OPT_HISTORY,
     .help = "extract the control point of a quadratic curve as weights for --start; give the curve to --perm for its "
     "permutation"},
    {"point", 0, MC_OPT_REAL, MC_AT(point), .arg = "T", .max = 1, .group = 40, .flags = MC_OPT_HISTORY,
     .help = "extract the point at T in [0,1] of a curve as weights"},
    {"bn-data", 0, MC_OPT_INPUT, MC_AT(bn_data), .arg = "FILE.mcz", .group = 40, .needs = {"point"},
     .help = "data set on which to re-estimate that point's batch-norm statistics"},
    {"bn-samples", 0, MC_OPT_U64, MC_AT(bn_samples), .arg = "N", .min = 1, .max = INT32_MAX, .def = "10000",
     .group = 40, .flags = MC_OPT_HISTORY, .needs = {"point"}, .help = "use the first N images of --bn-data"},
    {"bn-plain", 0, MC_OPT_FLAG, MC_AT(bn_plain), .group = 40, .flags = MC_OPT_HISTORY, .needs = {"point"},
     .help = MC_HELP_BN_PLAIN},
    MC_OPTIONS_RUN, {0}};
/* clang-format on */

static const char operands[] = "A.mcz B.mcz\n--point T --bn-data FILE CURVE.mcz\n--inner CURVE.mcz";
static const char doc[] =
    "Learn a low-loss curve between two networks, or extract a point of a curve."
    "\vThe ends stay fixed. The control points start on the straight line and are trained with one "
    "random t per batch. --epochs 0 writes the straight line, or with --start the curve with that "
    "control point. A line has no control points, unless --control-points places some "
    "on it.\n\n"
    "Training holds all points in memory; -v first prints how much. A straight line without "
    "control points needs at most 132 MiB, and with --perm twice the largest tensor in addition. "
    "--point needs 66 MiB per point of the curve if the network has no batch norm. Networks and "
    "curves that come "
    "through a pipe are held in memory.\n\nExamples:\n"
    "  mc-bezier --data train.mcz --epochs 20 a.mcz pb.mcz -o curve.mcz\n"
    "  mc-bezier --point 0.5 --bn-data train.mcz curve.mcz -o middle.mcz\n"
    "  mc-bezier --inner curve.mcz -o inner.mcz\n"
    "  mc-bezier --epochs 0 --start inner.mcz a.mcz pb.mcz -o again.mcz\n"
    "  mc-bezier --data train.mcz --perm p.mcz a.mcz b.mcz -o curve.mcz";

/* Read --perm and permute b by it. */
static int read_perm(const struct options *o, const struct mc_weights *a, struct mc_weights *b,
                     struct mc_perm *perm, struct mc_error *err)
{
    struct mc_symmetry s = {0};
    int rc = mc_fail_in(mc_symmetry_derive(&s, b->graph, err), err, "%s", o->cli.operands[1]);

    if (!rc)
        rc = mc_perm_read(perm, (struct mc_stream){.path = o->perm}, &s, o->cli.history, err);
    if (!rc)
        rc = mc_fail_in(mc_perm_apply(perm, &s, b->graph, b->params, NULL, b->params, NULL, err),
                        err, "%s", mc_file_called(o->perm));
    if (!rc) {
        mc_history_set_pair(o->cli.history, a->id, b->id);
        mc_warn_found_elsewhere(&o->cli, perm, o->perm, a->id, b->id);
    }
    mc_symmetry_release(&s);
    return rc;
}

/* Read the two operands as a straight path, and --perm. The path has the data set of the first
 * network; `other` receives that of the second. */
static int read_ends(const struct options *o, struct mc_curve *c, struct mc_perm *perm,
                     char id[2][MC_ID_LEN], char other[sizeof c->dataset], struct mc_error *err)
{
    struct mc_weights a = {0}, b = {0};
    const int trained = o->train.train.epochs && o->control_points;
    int rc = mc_read_networks(&a, &b, &o->cli, !trained, o->cli.history, err);

    if (!rc && o->perm)
        rc = read_perm(o, &a, &b, perm, err);
    if (!rc)
        rc = mc_curve_between(c, &a, &b, o->chain ? MC_CURVE_CHAIN : MC_CURVE_BEZIER,
                              o->control_points + 2, err);
    if (!rc) {
        memcpy(id[0], a.id, MC_ID_LEN);
        memcpy(id[1], b.id, MC_ID_LEN);
        memcpy(other, b.dataset, sizeof b.dataset);
    }
    mc_weights_release(&a);
    mc_weights_release(&b);
    return rc;
}

/* Make the weights of --start the control point. */
static int read_start(const struct options *o, struct mc_curve *c, char id[MC_ID_LEN],
                      struct mc_error *err)
{
    struct mc_weights w = {0};
    const struct mc_stream from = {.path = o->start, .declared = 1};
    int rc = mc_weights_read(&w, from, o->cli.history, err);

    if (!rc)
        rc = mc_expect_same_network(&o->cli, c->graph, w.graph, o->cli.operands[0], o->start, err);
    if (!rc) {
        memcpy(c->points[1], w.params, c->graph->P * sizeof *w.params);
        memcpy(id, w.id, MC_ID_LEN);
    }
    mc_weights_release(&w);
    return rc;
}

static int train(struct options *o, struct mc_curve *c, char id[3][MC_ID_LEN], const char *other,
                 struct mc_error *err)
{
    struct mc_checkpoint *state = &o->train.state;
    struct mc_curve_objective objective;
    int rc = mc_train_cli_open_data(&o->train, err);

    if (rc || (rc = mc_train_cli_resolve(&o->train, c->graph, c->dataset, other, err)))
        return rc;
    mc_curve_objective_curve(&objective, c);
    mc_checkpoint_set(state, "a", "%s", id[0]);
    mc_checkpoint_set(state, "b", "%s", id[1]);
    mc_checkpoint_set_choice(state, "curve", (int)c->kind, mc_curve_kinds);
    mc_checkpoint_set(state, "points", "%zu", c->n_points);
    if (o->start)
        mc_checkpoint_set(state, "start", "%s", id[2]);
    if (o->perm) /* a hash of b permuted */
        mc_checkpoint_set(
            state, "perm", "%016" PRIx64,
            XXH3_64bits(c->points[c->n_points - 1], c->graph->P * sizeof *c->points[0]));
    return mc_train_cli_run(&o->train, c->graph, &objective.objective, err);
}

/* 1 if the curve is the straight line between the ends in two files. */
static int is_line_of_files(const struct options *o)
{
    return !o->control_points && mc_values_rereadable(o->cli.operands[0]) &&
           mc_values_rereadable(o->cli.operands[1]);
}

/* Read --perm for the open ends. The history names them, so their ids are read first. */
static int read_line_perm(const struct options *o, const struct mc_graph *g, struct mc_symmetry *s,
                          struct mc_perm *perm, struct mc_error *err)
{
    const char **path = o->cli.operands;
    char id[2][MC_ID_LEN];
    int rc = mc_fail_in(mc_symmetry_derive(s, g, err), err, "%s", path[1]);

    if (!rc)
        rc = mc_perm_read(perm, (struct mc_stream){.path = o->perm}, s, o->cli.history, err);
    for (int i = 0; i < 2 && !rc; i++)
        rc = mc_values_id(id[i], (struct mc_stream){.path = path[i], .declared = 1}, err);
    if (rc)
        return rc;
    mc_history_set_pair(o->cli.history, id[0], id[1]);
    mc_warn_found_elsewhere(&o->cli, perm, o->perm, id[0], id[1]);
    return 0;
}

static void note_curve(const struct options *o)
{
    mc_history_str(o->cli.history, "curve",
                   mc_curve_kinds[o->chain ? MC_CURVE_CHAIN : MC_CURVE_BEZIER]);
    mc_option_note(&o->cli, &o->control_points, o->cli.history);
}

/* Write the straight line between two files. */
static int write_line(struct options *o, struct mc_error *err)
{
    struct mc_line line = {.kind = o->chain ? MC_CURVE_CHAIN : MC_CURVE_BEZIER};
    const char **path = o->cli.operands;
    struct mc_symmetry s = {0};
    struct mc_perm perm = {0};
    int rc = 0;

    for (int i = 0; i < 2 && !rc; i++)
        rc =
            mc_values_open(&line.ends[i], "weights",
                           (struct mc_stream){.path = path[i], .declared = 1}, o->cli.history, err);
    if (!rc)
        rc = mc_expect_same_network(&o->cli, line.ends[0].curve.graph, line.ends[1].curve.graph,
                                    path[0], path[1], err);
    if (!rc && o->perm) {
        line.perm = &perm;
        line.symmetry = &s;
        rc = read_line_perm(o, line.ends[1].curve.graph, &s, &perm, err);
    }
    note_curve(o);
    if (!rc && o->train.data)
        rc = mc_data_check(NULL, o->train.data, err);
    if (!rc)
        rc = mc_line_write(&line, o->cli.output, o->cli.history, err);
    for (int i = 0; i < 2; i++)
        mc_values_close(&line.ends[i]);
    mc_symmetry_release(&s);
    mc_perm_release(&perm);
    return rc;
}

static int learn_curve(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    struct mc_curve c = {0};
    struct mc_perm perm = {0};
    char id[3][MC_ID_LEN], other[sizeof c.dataset];
    int rc = read_ends(o, &c, &perm, id, other, err);

    if (!rc && o->start)
        rc = read_start(o, &c, id[2], err);
    note_curve(o);
    if (!rc && o->train.train.epochs && o->control_points)
        rc = train(o, &c, id, other, err);
    else if (!rc && o->train.data)
        rc = mc_data_check(NULL, o->train.data, err);
    if (!rc) {
        c.perm = o->perm ? &perm : NULL; /* borrowed */
        rc = mc_curve_write(&c, o->cli.output, h, err);
        c.perm = NULL;
    }
    mc_perm_release(&perm);
    mc_curve_release(&c);
    return mc_train_cli_close(&o->train, rc, err);
}

/* Write the point from a curve in memory, whose network has batch norm or which a pipe brought. */
static int extract_point_in_memory(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    struct mc_curve c = {0};
    struct mc_weights w = {0};
    const struct mc_stream from = {.path = o->cli.operands[0], .declared = 1};
    int rc = mc_curve_read(&c, from, h, err);

    if (!rc && c.graph->S && !o->bn_data)
        rc = mc_fail(err, MC_EUSAGE,
                     "--point of a curve with batch norm requires --bn-data FILE.mcz: it has no "
                     "statistics");
    if (!rc)
        rc = mc_weights_init(&w, c.graph, c.dataset, err);
    if (rc)
        goto out;
    mc_option_note(&o->cli, &o->point, h);
    mc_curve_point(&c, o->point, &w);
    if (c.graph->S) {
        mc_option_note(&o->cli, &o->bn_samples, h);
        mc_option_note(&o->cli, &o->bn_plain, h);
        mc_option_note(&o->cli, &o->train.train.batch, h);
        mc_option_note(&o->cli, &o->train.train.seed, h);
        mc_history_facts(h, o->cli.be->facts, o->cli.be->n_facts);
        const struct mc_statistics_options on = {
            .data = o->bn_data,
            .batch = o->train.train.batch,
            .samples = o->bn_samples,
            .seed = o->train.train.seed,
            .exact = mc_option_given(&o->cli, &o->bn_samples) != NULL,
            .plain = o->bn_plain ? "--bn-plain" : NULL,
            .augmented = c.augmented};
        rc = mc_statistics_set(&o->cli, &w, &on, err);
    } else if (o->bn_data)
        rc = mc_data_check(c.graph, o->bn_data, err);
    if (!rc)
        rc = mc_weights_write(&w, o->cli.output, h, err);
out:
    mc_weights_release(&w);
    mc_curve_release(&c);
    return rc;
}

static int extract_point(struct options *o, struct mc_error *err)
{
    const char *path = o->cli.operands[0];
    struct mc_values v;
    int rc = 0, memory = !mc_values_rereadable(path);

    if (memory)
        return extract_point_in_memory(o, err);
    rc = mc_values_open(&v, "curve", (struct mc_stream){.path = path, .declared = 1}, NULL, err);
    memory = !rc && v.curve.graph->S > 0;
    if (!rc && !memory) {
        mc_option_note(&o->cli, &o->point, o->cli.history);
        if (o->bn_data)
            rc = mc_data_check(v.curve.graph, o->bn_data, err);
        if (!rc)
            rc = mc_point_write(&v, path, o->point, o->cli.output, o->cli.history, err);
    }
    mc_values_close(&v);
    return memory ? extract_point_in_memory(o, err) : rc;
}

static int extract_inner(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    struct mc_curve c = {0};
    struct mc_weights w = {0};
    const struct mc_stream from = {.path = o->cli.operands[0], .declared = 1};
    int rc = mc_curve_read(&c, from, h, err);

    if (!rc && (c.kind != MC_CURVE_BEZIER || c.n_points != 3))
        rc = mc_fail(
            err, MC_EINPUT,
            "%s: --inner requires a bezier curve with 3 points, got a %s curve with %zu points",
            mc_file_called(o->cli.operands[0]), mc_curve_kinds[c.kind], c.n_points);
    if (!rc)
        rc = mc_weights_init(&w, c.graph, c.dataset, err);
    if (!rc) {
        mc_graph_init(c.graph, 0, w.params, w.stats); /* mean 0, variance 1 */
        memcpy(w.params, c.points[1], c.graph->P * sizeof *w.params);
        mc_option_note(&o->cli, &o->inner, h);
        rc = mc_weights_write(&w, o->cli.output, h, err);
    }
    mc_weights_release(&w);
    mc_curve_release(&c);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    int rc = o->inner ? extract_inner(o, err) : mc_train_cli_open(&o->train, err);

    if (rc || o->inner)
        return rc;
    if (mc_option_given(&o->cli, &o->point))
        return extract_point(o, err);
    return is_line_of_files(o) ? mc_train_cli_close(&o->train, write_line(o, err), err)
                               : learn_curve(o, err);
}

static void add_options(struct options *o)
{
    mc_train_cli_options(&o->train, &o->cli, "0.01");
}

static void check_options(struct options *o)
{
    mc_train_cli_check(&o->train);
    const char *point = mc_option_given(&o->cli, &o->point);
    const int learns = !point && !o->inner;
    const char *idle = learns ? NULL : mc_option_idle(&o->cli, 0);
    if (point && o->inner)
        mc_cli_usage("--inner and --point cannot be combined");
    if (idle)
        mc_cli_usage("--%s has no effect with --%s", idle, point ? "point" : "inner");
    /* --epochs 0 is accepted: scripts pass any number of epochs */
    const unsigned shape = MC_USE_SHAPE | (o->train.train.epochs ? 0 : MC_USE_BOTH_STEPS);
    if (learns && !o->control_points && (idle = mc_option_idle(&o->cli, shape)))
        mc_cli_usage("--%s has no effect with --control-points 0", idle);
    if (learns && !o->train.train.epochs && !o->start &&
        !mc_option_given(&o->cli, &o->control_points))
        o->control_points = 0; /* a straight line needs its ends only */
    if (o->start && (o->control_points != 1 || o->chain))
        mc_cli_usage("--start requires a Bezier curve with one control point");
    if (!learns && o->cli.n_operands == 2)
        mc_cli_usage("--%s reads one curve: write it first: mc-bezier --epochs 0 %s %s -o line.mcz",
                     point ? "point" : "inner", o->cli.operands[0], o->cli.operands[1]);
    mc_cli_operands(&o->cli, learns ? "A.mcz B.mcz" : "CURVE.mcz");
    mc_cli_require(!learns || !o->train.train.epochs || !o->control_points || o->train.data,
                   "--data FILE.mcz (or --epochs 0 for the straight line)");
}

MC_PROGRAM("mc-bezier", operands, doc, options, .add = add_options, .check = check_options,
           .run = run)

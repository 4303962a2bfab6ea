/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-eval: loss and accuracy of networks, or along a curve, as a table. */
#include "mc_cli.h"
#include "mc_curve.h"
#include "mc_json.h"
#include "mc_measure.h"
#include "mc_report.h"
#include "mc_weights.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TRAIN_SAMPLES 10000

struct options {
    struct mc_cli cli;
    const char *file[MC_MAX_REPORTED];               /* of report.data */
    struct mc_dataset_reader *open[MC_MAX_REPORTED]; /* before the work begins; NULL once read */
    struct mc_report report;
    const char *bn_data, *summary;
    uint64_t points, batch, samples, bn_samples;
    int bn_plain, full, json, points_given, samples_given, bn_samples_given;
};

enum {
    KEY_BN_DATA = MC_KEY_TOOL,
    KEY_BN_SAMPLES,
    KEY_BN_PLAIN,
    KEY_SAMPLES,
    KEY_FULL,
    KEY_JSON,
    KEY_SUMMARY,
    KEY_BATCH
};

/* clang-format off */
static const struct argp_option options[] = {
    {"data", 'd', "[NAME=]FILE", 0,
     "measure on this dataset stream; NAME (default: its split) heads its columns; repeatable", 10},
    {"points", 'p', "T", 0, "points of a curve, t = 0 to 1 (default 65)", 10},
    {"bn-data", KEY_BN_DATA, "FILE", 0, "re-estimate batch norm on this at each point", 20},
    {"bn-samples", KEY_BN_SAMPLES, "N", 0, "first N images of --bn-data (default 10000)", 20},
    {"bn-plain", KEY_BN_PLAIN, 0, 0, "re-estimate on images as they are, not augmented", 20},
    {"samples", KEY_SAMPLES, "N", 0, "first N images of a data set whose split is train (default 10000)", 30},
    {"full", KEY_FULL, 0, 0, "all images, of training data and for batch norm too", 30},
    {"batch", KEY_BATCH, "N", 0, "images at a time (default 128)", 30},
    {"json", KEY_JSON, 0, 0, "one JSON object instead of a table", 40},
    {"summary", KEY_SUMMARY, "FILE", 0, "a curve's summary as a table: ends, uniform and arc-length "
     "mean, minimum, maximum, barrier", 40},
    MC_OPTION_OUTPUT, MC_OPTION_SEED, MC_OPTION_THREADS, MC_OPTION_DEVICE, MC_OPTION_NO_PROGRESS,
    MC_OPTIONS_END};
/* clang-format on */

/* [NAME=]FILE; without a name the split names it, once the stream is open. */
static void add_data(struct options *o, const char *arg)
{
    size_t n = 0;

    if (o->report.n_data == MC_MAX_REPORTED)
        mc_cli_usage("--data: at most %d", MC_MAX_REPORTED);
    struct mc_reported *d = &o->report.data[o->report.n_data];
    while (isalnum((unsigned char)arg[n]) || arg[n] == '_' || arg[n] == '-')
        n++;
    if (n && n < sizeof d->name && arg[n] == '=') {
        memcpy(d->name, arg, n);
        arg += n + 1;
    }
    o->file[o->report.n_data++] = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case 'd':
        add_data(o, arg);
        return 0;
    case 'p':
        o->points_given = 1;
        o->points = mc_parse_u64("--points", arg, 2, 100001);
        return 0;
    case KEY_BN_DATA:
        o->bn_data = arg;
        return 0;
    case KEY_BN_SAMPLES:
        o->bn_samples_given = 1;
        o->bn_samples = mc_parse_u64("--bn-samples", arg, 1, INT32_MAX);
        return 0;
    case KEY_BN_PLAIN:
        o->bn_plain = 1;
        return 0;
    case KEY_SAMPLES:
        o->samples_given = 1;
        o->samples = mc_parse_u64("--samples", arg, 1, INT32_MAX);
        return 0;
    case KEY_FULL:
        o->full = 1;
        return 0;
    case KEY_JSON:
        o->json = 1;
        return 0;
    case KEY_SUMMARY:
        o->summary = arg;
        return 0;
    case KEY_BATCH:
        o->batch = mc_parse_u64("--batch", arg, 2, 65536);
        return 0;
    default:
        return mc_cli_option(&o->cli, key, arg, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "WEIGHTS.mcz...\nCURVE.mcz",
    .doc = "Measure loss and accuracy of networks, or along a curve."
           "\vA table has one row a network or point; accuracies are in percent. A curve needs "
           "--bn-data "
           "where its network has batch norm: it carries no statistics, and its ends are measured "
           "like "
           "every other point. In the summary, arc_mean is the mean by arc length in parameter "
           "space, and "
           "the barrier is how far the loss rises over the straight line between its values at the "
           "ends, "
           "or the accuracy falls under it.\n\nExamples:\n"
           "  mc-eval --data test.mcz --bn-data train.mcz --points 21 curve.mcz -o c.tsv\n"
           "  mc-eval --data test.mcz a.mcz b.mcz"};

struct told {
    struct mc_progress progress;
    size_t points;
};

static void tell(void *arg, uint64_t images, uint64_t in_all)
{
    struct told *t = arg;

    t->progress.total = in_all * t->points;
    mc_progress_update(&t->progress, images * t->points, NULL);
}

/* The statistics of every point: re-estimated, or the network's own. */
static int statistics(const struct options *o, struct mc_backend *be, const struct mc_span *span,
                      const float *own, float *stats, struct mc_error *err)
{
    struct mc_measure_options m = {.batch = o->batch,
                                   .samples = o->full ? 0 : o->bn_samples,
                                   .samples_exact = o->bn_samples_given,
                                   .augment = !o->bn_plain,
                                   .seed = o->cli.seed};
    struct mc_dataset_reader *d = NULL;
    struct told told = {.points = span->T};
    struct mc_measure_watch watch = {.progress = tell, .arg = &told};

    if (!span->graph->S)
        return 0;
    if (!o->bn_data) {
        if (!own)
            return mc_fail(err, MC_EUSAGE,
                           "a curve needs --bn-data FILE: it carries no batch-norm statistics");
        memcpy(stats, own, span->graph->S * sizeof *stats);
        return 0;
    }
    int rc = mc_dataset_open(&d, o->bn_data, err);
    if (!rc) {
        mc_progress_begin(&told.progress, &o->cli, "batch norm", "images", 0);
        rc = mc_measure_statistics(be, span, d, &m, &watch, stats, err);
        mc_progress_end(&told.progress);
    }
    mc_dataset_close(d);
    return rc;
}

/* The columns' name where the user gave none, and no two the same. */
static int settle_name(struct options *o, struct mc_reported *d, const char *split,
                       struct mc_error *err)
{
    if (!*d->name)
        snprintf(d->name, sizeof d->name, "%s", *split ? split : "data");
    for (struct mc_reported *other = o->report.data; other < d; other++)
        if (!strcmp(other->name, d->name))
            return mc_fail(err, MC_EUSAGE, "two data sets are called '%s' (use --data NAME=FILE)",
                           d->name);
    return 0;
}

static int measure_on(struct options *o, struct mc_backend *be, const struct mc_span *span,
                      const float *stats, size_t i, struct mc_error *err)
{
    struct mc_reported *d = &o->report.data[i];
    struct mc_dataset_reader *r = o->open[i];
    struct told told = {.points = span->T};
    struct mc_measure_watch watch = {.progress = tell, .arg = &told};
    int rc = r ? 0 : mc_dataset_open(&r, o->file[i], err); /* another network reads it again */

    o->open[i] = NULL;
    if (rc)
        return rc;
    const struct mc_dataset_info *info = mc_dataset_get_info(r);
    int training = !strcmp(info->split, "train");
    struct mc_measure_options m = {.batch = o->batch,
                                   .samples = training && !o->full ? o->samples : 0,
                                   .samples_exact = o->samples_given};
    d->in_all = info->n;
    free(d->out);
    d->out = calloc(span->T, sizeof *d->out);
    if (!rc && !d->out)
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
    if (!rc) {
        mc_progress_begin(&told.progress, &o->cli, d->name, "images", 0);
        rc = mc_measure_loss(be, span, stats, r, &m, &watch, d->out, err);
        mc_progress_end(&told.progress);
    }
    mc_dataset_close(r);
    return rc;
}

/* Of a subset, how far its means may be from the whole's. */
static void tell_subsets(const struct options *o)
{
    for (size_t i = 0; i < o->report.n_data; i++) {
        const struct mc_reported *d = &o->report.data[i];
        double loss, accuracy;
        if (d->out[0].images == d->in_all)
            continue;
        mc_report_errors(&o->report, i, &loss, &accuracy);
        mc_note(&o->cli,
                "%s: first %llu of %llu images; standard errors up to %.2g in loss, %.2g%% in "
                "accuracy (--full for all)",
                d->name, (unsigned long long)d->out[0].images, (unsigned long long)d->in_all, loss,
                100 * accuracy);
    }
}

static int measure(struct options *o, struct mc_backend *be, const struct mc_span *span,
                   const float *own, struct mc_error *err)
{
    float *stats = calloc(span->T * span->graph->S + 1, sizeof *stats);
    int rc =
        stats ? statistics(o, be, span, own, stats, err) : mc_fail(err, MC_ENOMEM, "out of memory");

    o->report.T = span->T;
    for (size_t i = 0; !rc && i < o->report.n_data; i++)
        rc = measure_on(o, be, span, stats, i, err);
    rc = rc ? rc : mc_report_check(&o->report, err);
    if (!rc)
        tell_subsets(o);
    free(stats);
    return rc;
}

static int print_summary(const struct options *o, struct mc_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    int rc = f ? mc_report_summary(&o->report, f, err) : mc_fail(err, MC_ENOMEM, "out of memory");

    if (f && fclose(f) && !rc)
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
    if (!rc)
        rc = mc_cli_write(o->summary, text, bytes, err);
    free(text);
    return rc;
}

/* T points at even t, and the chords between them. */
static int eval_curve(struct options *o, struct mc_backend *be, struct mc_reader *r, FILE *f,
                      struct mc_error *err)
{
    struct mc_curve c = {0};
    size_t T = o->points;
    double *t = calloc(2 * T, sizeof *t), *chord = NULL, *coef = NULL;
    double gram[MC_MAX_POINTS * MC_MAX_POINTS];
    int rc = mc_curve_read_stream(&c, r, NULL, err);

    if (!rc && (!t || !(coef = calloc(T * c.n_points, sizeof *coef))))
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
    if (rc)
        goto out;
    size_t k = c.n_points;
    chord = t + T;
    mc_path_gram(k, (const float *const *)c.points, c.graph->P, gram);
    for (size_t i = 0; i < T; i++) {
        t[i] = (double)i / (double)(T - 1);
        mc_path_coefs(c.kind, k, t[i], coef + i * k);
        if (i)
            chord[i - 1] = mc_path_chord(k, gram, coef + (i - 1) * k, coef + i * k);
    }
    struct mc_span span = {
        .graph = c.graph, .k = k, .T = T, .vectors = (const float *const *)c.points, .coef = coef};
    o->report.t = t;
    o->report.chord = chord;
    rc = measure(o, be, &span, NULL, err);
    if (!rc && o->summary)
        rc = print_summary(o, err);
    if (!rc && o->json)
        rc = mc_report_path_json(&o->report, f, err);
    else if (!rc)
        mc_report_path(&o->report, f);
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
        o->report.network = mc_reader_name(r);
        struct mc_span span = {.graph = w.graph, .k = 1, .T = 1, .vectors = &vector, .coef = &one};
        rc = measure(o, be, &span, w.stats, err);
    }
    mc_weights_release(&w);
    return rc;
}

static int eval_networks(struct options *o, struct mc_backend *be, struct mc_reader **r, FILE *f,
                         struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < o->cli.n_operands; i++) {
        const char *file = o->cli.operands[i];
        if (i) {
            mc_reader_close(*r);
            *r = NULL;
            rc = mc_reader_open(r, file, err);
        }
        if (!rc)
            rc = eval_network(o, be, *r, err);
        if (rc)
            return rc;
        if (o->json) {
            fputs(i ? "},{" : "{\"kind\":\"weights\",\"networks\":[{", f);
            fputs("\"network\":", f);
            mc_json_str(f, file);
            mc_report_json(&o->report, f, 0);
            continue;
        }
        if (!i)
            mc_report_head(&o->report, f, "network");
        mc_report_row(&o->report, f, file, 0);
    }
    if (o->json)
        fputs("}]}\n", f);
    return 0;
}

/* What is missing or contradicts itself is told before anything is measured. */
static int look_ahead(struct options *o, struct mc_error *err)
{
    int rc = mc_cli_path_ready(o->cli.output, err);

    if (!rc)
        rc = mc_cli_path_ready(o->summary, err);
    for (size_t i = 0; !rc && i < o->report.n_data; i++) {
        rc = mc_dataset_open(&o->open[i], o->file[i], err);
        if (!rc)
            rc = settle_name(o, &o->report.data[i], mc_dataset_get_info(o->open[i])->split, err);
    }
    return rc;
}

/* Weights or a curve: the first operand's kind says. */
static int run(struct options *o, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    struct mc_backend *be = NULL;
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    int rc =
        f ? mc_reader_open(&r, o->cli.operands[0], err) : mc_fail(err, MC_ENOMEM, "out of memory");

    if (rc)
        goto out;
    int is_curve = !strcmp(mc_reader_kind(r), "curve");
    if (!is_curve)
        rc = mc_reader_expect(r, "weights", err);
    if (is_curve && o->cli.n_operands > 1)
        rc = mc_fail(err, MC_EUSAGE, "takes one curve at a time");
    else if (!rc && !is_curve && o->summary)
        rc = mc_fail(err, MC_EUSAGE, "--summary is for curves");
    else if (!rc && !is_curve && o->points_given)
        rc = mc_fail(err, MC_EUSAGE, "--points is for curves");
    if (!rc)
        rc = look_ahead(o, err);
    if (!rc)
        rc = mc_backend_open(&be, o->cli.device, o->cli.threads, err);
    if (!rc)
        rc = is_curve ? eval_curve(o, be, r, f, err) : eval_networks(o, be, &r, f, err);
out:
    if (f && fclose(f) && !rc)
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
    if (!rc)
        rc = mc_cli_write(o->cli.output, text, bytes, err);
    free(text);
    for (size_t i = 0; i < o->report.n_data; i++) {
        free(o->report.data[i].out);
        mc_dataset_close(o->open[i]);
    }
    mc_reader_close(r);
    if (be)
        be->close(be);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {
        .points = 65, .batch = 128, .samples = TRAIN_SAMPLES, .bn_samples = TRAIN_SAMPLES};
    struct mc_error err = {0};

    mc_cli_parse(&o.cli, &argp, argc, argv, &o);
    if (!o.cli.n_operands)
        o.cli.operands[o.cli.n_operands++] = "-";
    if (!o.report.n_data)
        mc_cli_usage("needs --data [NAME=]FILE (see --help)");
    if (o.full && (o.samples_given || o.bn_samples_given))
        mc_cli_usage("--full means all images, --%s some",
                     o.samples_given ? "samples" : "bn-samples");
    const char *inputs[MC_MAX_REPORTED + 2] = {o.bn_data, o.cli.operands[0]};
    memcpy(inputs + 2, o.file, sizeof o.file);
    mc_cli_one_stdin(inputs, MC_MAX_REPORTED + 2);
    return mc_cli_exit(&o.cli, run(&o, &err), &err);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-bootstrap: confidence intervals of a path's results, by resampling images, and of the
 * differences of two paths. */
#include "formats/stream/reader.h"
#include "libcommon/base/file.h"
#include "libcommon/base/json.h"
#include "tools/cli/cli.h"
#include "tools/cli/memory.h"
#include "tools/cli/text.h"
#include "tools/eval/bootstrap.h"

#include <string.h>

struct options {
    struct mc_cli cli;
    struct mc_bootstrap_options bootstrap;
};

/* clang-format off */
static const struct mc_option options[] = {
    {"resamples", 'r', MC_OPT_U64, MC_AT(bootstrap.resamples), .arg = "R", .min = 100, .max = 1000000, .def = "2000",
     .help = "number of bootstrap resamples"},
    {"level", 0, MC_OPT_REAL, MC_AT(bootstrap.level), .arg = "L", .min = .5, .max = .9999, .def = ".95",
     .help = "confidence level of the intervals"},
    MC_OPTION_OUTPUT, MC_OPTION_THREADS, MC_OPTION_SEED(MC_AT(bootstrap.seed)), {0}};
/* clang-format on */

static const char doc[] =
    "Compute bootstrap intervals of a path's results, and of two paths' differences."
    "\vReads the losses of one path, or of two paths measured on the same images (mc-eval "
    "--losses). Draws the images with replacement, the same for both paths, and computes the "
    "results of mc-eval's summary for each resample. An interval extends from the lower to the "
    "upper percentile. The table (TSV) has one row per data set, quantity and result (column "
    "figure): ends (the "
    "mean of both), mean and arc_mean along the path, min, max and barrier. Its columns are the "
    "first path, the second, and the second minus the first, each with its interval. Every "
    "resample uses the points where the path itself has min, max and barrier. These points were "
    "selected as extremes, so for a flat path these results are slightly too extreme. The "
    "intervals cover these networks on other images; only other pairs show how results vary "
    "between seeds.\n\nExamples:\n"
    "  mc-eval --data test.mcz --bn-data train.mcz --losses u.mcz unaligned.mcz\n"
    "  mc-eval --data test.mcz --bn-data train.mcz --losses a.mcz aligned.mcz\n"
    "  mc-bootstrap u.mcz a.mcz -o intervals.tsv\n"
    "  mc-bootstrap --level .99 a.mcz";

static void check_options(struct options *o)
{
    mc_cli_operands(&o->cli, "FIRST.mcz [SECOND.mcz]");
    o->cli.text = 1;
}

/* Index of b's data set with this name, or b->n_data. */
static size_t find(const struct mc_losses *b, const char *name)
{
    size_t i = 0;

    while (i < b->n_data && strcmp(b->data[i].name, name) != 0)
        i++;
    return i;
}

/* Check that the paths have data sets in common and that these contain the same images. */
static int check_pair(const struct mc_losses *a, const struct mc_losses *b, const char *const *path,
                      struct mc_error *err)
{
    size_t common = 0;

    for (size_t i = 0; i < a->n_data; i++) {
        const struct mc_losses_data *x = &a->data[i], *y = b->data + find(b, x->name);
        if (y == b->data + b->n_data)
            continue;
        common++;
        if (strcmp(x->id, y->id) != 0 || x->images != y->images)
            return mc_fail(err, MC_EINPUT, "%s and %s: \"%s\" was measured on different images",
                           path[0], path[1], x->name);
    }
    return common
               ? 0
               : mc_fail(err, MC_EINPUT, "%s and %s have no data set in common", path[0], path[1]);
}

/* Report differences that limit the comparison of two paths. */
static void report_differences(const struct options *o, const struct mc_losses *a,
                               const struct mc_losses *b)
{
    if (a->T != b->T)
        mc_warn(&o->cli,
                "the paths have %zu and %zu points: min, max and barrier compare different points",
                a->T, b->T);
    for (size_t i = 0; i < a->n_data; i++)
        if (find(b, a->data[i].name) == b->n_data)
            mc_note(&o->cli, "%s is only in the first path", a->data[i].name);
    for (size_t i = 0; i < b->n_data; i++)
        if (find(a, b->data[i].name) == a->n_data)
            mc_note(&o->cli, "%s is only in the second path", b->data[i].name);
}

static int print(FILE *f, const struct mc_interval *x, struct mc_error *err)
{
    const double values[3] = {x->value, x->low, x->high};
    int rc = 0;

    for (int i = 0; i < 3 && !rc; i++)
        rc = mc_put_result(f, 6, values[i], err);
    return rc;
}

/* Print result k of the paths and of their difference. */
static int print_figure(const struct options *o, const struct mc_bootstrap *found, int k, FILE *f,
                        struct mc_error *err)
{
    const size_t paths = o->cli.n_operands;
    const char *name = mc_bootstrap_figure_names[k];
    int rc = 0;

    for (size_t i = 0; i < paths && !rc; i++)
        rc = mc_fail_in(print(f, &found->path[i][k], err), err, "%s: %s",
                        mc_file_called(o->cli.operands[i]), name);
    if (!rc && paths == 2)
        rc = mc_fail_in(print(f, &found->difference[k], err), err, "difference of %s", name);
    return rc;
}

static int print_rows(const struct options *o, const struct mc_losses *l, size_t i, FILE *f,
                      struct mc_error *err)
{
    const int two = o->cli.n_operands == 2;
    struct mc_bootstrap found;
    int rc = 0;

    for (int accuracy = 0; accuracy < 2 && !rc; accuracy++) {
        rc = mc_bootstrap(&found, &l[0], i, two ? &l[1] : NULL,
                          two ? find(&l[1], l[0].data[i].name) : 0, accuracy, &o->bootstrap, err);
        for (int k = 0; k < MC_BOOTSTRAP_FIGURES && !rc; k++) {
            mc_plain(f, l[0].data[i].name);
            fprintf(f, "\t%s\t%s", accuracy ? "accuracy" : "loss", mc_bootstrap_figure_names[k]);
            rc = print_figure(o, &found, k, f, err);
            putc('\n', f);
        }
    }
    return rc;
}

/* Read the headers, check the memory, then read the losses. */
static int read_losses(struct options *o, struct mc_losses l[2], struct mc_error *err)
{
    const char **path = o->cli.operands;
    const size_t n = o->cli.n_operands;
    struct mc_reader *r[2] = {NULL};
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++)
        if (!(rc = mc_reader_open(&r[i], path[i], err)))
            rc = mc_losses_begin(&l[i], r[i], NULL, err);
    if (!rc && n == 2)
        rc = check_pair(&l[0], &l[1], path, err);
    if (!rc) {
        const double bytes = mc_bootstrap_bytes(&l[0], n == 2 ? &l[1] : NULL, &o->bootstrap);
        mc_detail(&o->cli, "memory: losses and %llu resamples %.1f MB",
                  (unsigned long long)o->bootstrap.resamples, bytes / 1e6);
        rc = mc_fail_in(mc_memory_check(bytes, err), err, "%s%s%s", path[0], n == 2 ? ", " : "",
                        n == 2 ? path[1] : "");
    }
    for (size_t i = 0; !rc && i < n; i++)
        rc = mc_losses_rest(&l[i], r[i], err);
    for (size_t i = 0; i < n; i++)
        mc_reader_close(r[i]);
    if (!rc && n == 2)
        report_differences(o, &l[0], &l[1]);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_losses l[2] = {{0}};
    struct mc_text t = {0};
    int rc = mc_text_open(&t, err);

    o->bootstrap.threads = o->cli.backend.threads;
    if (!rc)
        rc = read_losses(o, l, err);
    if (!rc)
        fprintf(t.f, "data\tquantity\tfigure\tfirst\tfirst_low\tfirst_high%s\n",
                o->cli.n_operands < 2 ? ""
                                      : "\tsecond\tsecond_low\tsecond_high"
                                        "\tdifference\tdifference_low\tdifference_high");
    for (size_t i = 0; !rc && i < l[0].n_data; i++)
        if (o->cli.n_operands < 2 || find(&l[1], l[0].data[i].name) < l[1].n_data)
            rc = print_rows(o, l, i, t.f, err);
    rc = mc_text_close(&t, o->cli.output, rc, err);
    mc_losses_release(&l[0]);
    mc_losses_release(&l[1]);
    return rc;
}

MC_PROGRAM("mc-bootstrap", "FIRST.mcz [SECOND.mcz]", doc, options, .check = check_options,
           .run = run)

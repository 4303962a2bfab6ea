/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-bootstrap: how far a path's figures may be off for the images they were measured on, and how
 * sure a difference of two paths is. */
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
     .help = "how many times the images are drawn again"},
    {"level", 0, MC_OPT_REAL, MC_AT(bootstrap.level), .arg = "L", .min = .5, .max = .9999, .def = ".95",
     .help = "of the intervals"},
    MC_OPTION_OUTPUT, MC_OPTION_THREADS, MC_OPTION_SEED(MC_AT(bootstrap.seed)), {0}};
/* clang-format on */

static const char doc[] =
    "Intervals of a path's figures over images, and of two paths' differences."
    "\vReads the losses of one path, or of two that were measured on the same images (mc-eval "
    "--losses). The images are drawn again with replacement, the same for both paths, and the "
    "figures of mc-eval's summary made of each draw; an interval is from the lower to the upper "
    "percentile of these. The table (TSV) has a row a data set, quantity and figure: ends (the "
    "mean of both), mean and arc_mean along the path, min, max and barrier; in columns the first "
    "path, the second, and the second minus the first, each with its interval. min, max and "
    "barrier are taken at the point where the path has them, in every draw; that point was chosen "
    "for being extreme, so of a flat path they are a little too far out. The intervals are for "
    "these networks on other images; what other seeds give, only "
    "other pairs show.\n\nExamples:\n"
    "  mc-eval --data test.mcz --bn-data train.mcz --losses u.mcz unaligned.mcz\n"
    "  mc-eval --data test.mcz --bn-data train.mcz --losses a.mcz aligned.mcz\n"
    "  mc-bootstrap u.mcz a.mcz -o intervals.tsv\n"
    "  mc-bootstrap --level .99 a.mcz";

static void check_options(struct options *o)
{
    const size_t n = o->cli.n_operands;

    if (n != 1 && n != 2)
        mc_cli_usage("needs the losses of one or two paths, %zu are given", n);
    o->cli.text = 1;
}

/* The data set of b that a's data set is, or b's number of them. */
static size_t find(const struct mc_losses *b, const char *name)
{
    size_t i = 0;

    while (i < b->n_data && strcmp(b->data[i].name, name) != 0)
        i++;
    return i;
}

/* The data sets that both have hold the same images, and there is one. */
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
            return mc_fail(err, MC_EINPUT, "%s was measured on other images than %s: \"%s\"",
                           path[1], path[0], x->name);
    }
    return common
               ? 0
               : mc_fail(err, MC_EINPUT, "%s and %s have no data set in common", path[0], path[1]);
}

/* What of two paths is compared though it is not alike, or not at all. */
static void tell_differences(const struct options *o, const struct mc_losses *a,
                             const struct mc_losses *b)
{
    if (a->T != b->T)
        mc_warn(&o->cli, "%zu points against %zu: min, max and barrier are of other points", a->T,
                b->T);
    for (size_t i = 0; i < a->n_data; i++)
        if (find(b, a->data[i].name) == b->n_data)
            mc_note(&o->cli, "%s is in the first alone", a->data[i].name);
    for (size_t i = 0; i < b->n_data; i++)
        if (find(a, b->data[i].name) == a->n_data)
            mc_note(&o->cli, "%s is in the second alone", b->data[i].name);
}

static int print(FILE *f, const struct mc_interval *x, struct mc_error *err)
{
    const double of[3] = {x->value, x->low, x->high};
    int rc = 0;

    for (int i = 0; i < 3 && !rc; i++)
        rc = mc_put_result(f, 6, of[i], err);
    return rc;
}

/* Figure k of the paths. */
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

/* The headers, what they ask for, and then the losses. */
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
        mc_detail(&o->cli, "memory: losses and %llu resamples of them %.1f MB",
                  (unsigned long long)o->bootstrap.resamples, bytes / 1e6);
        rc = mc_fail_in(mc_memory_fits(bytes, err), err, "%s%s%s", path[0], n == 2 ? ", " : "",
                        n == 2 ? path[1] : "");
    }
    for (size_t i = 0; !rc && i < n; i++)
        rc = mc_losses_rest(&l[i], r[i], err);
    for (size_t i = 0; i < n; i++)
        mc_reader_close(r[i]);
    if (!rc && n == 2)
        tell_differences(o, &l[0], &l[1]);
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

MC_PROGRAM("FIRST.mcz [SECOND.mcz]", doc, options, .check = check_options, .run = run)

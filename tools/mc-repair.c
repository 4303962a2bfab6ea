/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-repair: statistics of a network's channels, set on data. */
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "tools/cli/data_warnings.h"
#include "tools/cli/networks.h"
#include "tools/repair/repair.h"
#include "tools/options/statistics.h"
#include "tools/options/weights.h"

#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Repair the statistics of a merged network on data."
    "\vWithout --ends, the batch-norm statistics of NET are measured again: mean and variance over "
    "the images, while each batch is normalised by its own statistics, in one pass. Images are "
    "augmented as in training; statistics of plain images can cost several points of accuracy. "
    "mc-bezier --point and mc-eval --bn-data measure them likewise.\n\n"
    "With --ends, each channel before a nonlinearity gets the mean and the standard deviation that "
    "the ends have there on the same images, averaged over the ends (REPAIR, Jordan et al. 2023). "
    "This also works without batch norm. The repaired channels are those of all batch norms, and "
    "of the other layers with a bias whose output reaches an activation. The change is folded into "
    "weights, biases and batch norm's weight and bias; its running statistics stay. A layer is "
    "measured after all layers before it are repaired. So the images are used once per end, and "
    "once per layer on the longest path of the network; layers on parallel branches share a "
    "pass. The images are held in memory. A network that is repaired with itself as its end is "
    "unchanged on any images, so the images are plain by default. The operands after --ends are "
    "the ends, with their units in the order of NET.\n\n"
    "Examples:\n"
    "  mc-merge a.mcz pb.mcz | mc-repair --data train.mcz -o merged.mcz\n"
    "  mc-repair --data train.mcz merged.mcz --ends a.mcz pb.mcz -o repaired.mcz";

struct options {
    struct mc_cli cli;
    const char *data;
    uint64_t samples, batch, seed;
    enum { AUGMENTED, PLAIN } images;
    int has_ends;
    size_t first_end; /* number of operands before --ends */
    struct mc_weights_option weights;
    /* the networks that NET records as its origin, set by run() */
    char (*merged)[MC_ID_LEN];
    size_t n_merged; /* 0: unknown */
    int permuted;    /* 1: they are two, and a permutation of the second was merged */
};

static const char *const image_names[] = {"augmented", "plain", NULL};

static void parse_ends(const char *option, const char *arg, void *value)
{
    struct options *o = value;

    (void)arg;
    if (o->has_ends)
        mc_cli_usage("%s is given twice (all ends follow one %s)", option, option);
    o->has_ends = 1;
    o->first_end = o->cli.n_operands;
}

/* clang-format off */
static const struct mc_option options[] = {
    {"data", 'd', MC_OPT_INPUT, MC_AT(data), .arg = "FILE.mcz", .help = "data set to measure on: training images"},
    {"samples", 0, MC_OPT_U64, MC_AT(samples), .arg = "N", .min = 1, .max = INT32_MAX, .def = "10000",
     .flags = MC_OPT_HISTORY, .help = "use the first N images"},
    {"images", 0, MC_OPT_CHOICE, MC_AT(images), .names = image_names,
     .help = "images as the training's augmentation changes them, or unchanged (default: augmented; with --ends, plain)"},
    {"ends", 0, MC_OPT_OTHER, 0, .parse = parse_ends, .help = "the operands after this option are the ends of NET"},
    MC_OPTION_WEIGHTS(MC_AT(weights), .needs = {"ends"}, .help = "weights of the ends, in their order; " MC_HELP_WEIGHTS),
    {"batch", 0, MC_OPT_U64, MC_AT(batch), .arg = "N", .min = 2, .max = 65536, .def = "128", .flags = MC_OPT_HISTORY,
     .help = "images per batch"},
    MC_OPTION_OUTPUT, MC_OPTION_SEED(MC_AT(seed), .flags = MC_OPT_HISTORY), MC_OPTIONS_BACKEND, MC_OPTION_NO_PROGRESS,
    MC_OPTION_NO_HISTORY, {0}};
/* clang-format on */

static size_t n_ends(const struct options *o)
{
    return o->has_ends ? o->cli.n_operands - 1 : 0;
}

static int reestimate(struct options *o, struct mc_weights *w, struct mc_error *err)
{
    const struct mc_statistics_options on = {.data = o->data,
                                             .batch = o->batch,
                                             .samples = o->samples,
                                             .seed = o->seed,
                                             .exact = mc_option_given(&o->cli, &o->samples) != NULL,
                                             .plain = o->images == PLAIN ? "--images plain" : NULL,
                                             .augmented = w->augmented};

    if (!w->graph->S)
        return mc_fail(err, MC_EUSAGE,
                       "%s: the network has no batch norm: name the merged networks (--ends A.mcz "
                       "B.mcz)",
                       mc_file_called(o->cli.operands[0]));
    return mc_statistics_set(&o->cli, w, &on, err);
}

/* Read the data into memory, at most the default number of images unless --samples was given. */
static int read_images(struct options *o, const struct mc_weights *w, struct mc_in_memory *images,
                       struct mc_error *err)
{
    const int exact = mc_option_given(&o->cli, &o->samples) != NULL;
    int rc = mc_in_memory_open(images, o->data, exact ? o->samples : 0, o->cli.history, err);

    if (rc || (rc = mc_data_expect(w->graph, &images->info, mc_file_called(o->data), err)))
        return rc;
    if (images->info.n > o->samples)
        images->info.n = o->samples;
    return mc_in_memory_read(images, o->cli.be, err);
}

/* Find the networks that NET was merged from: the inputs of mc-merge, or those that mc-bezier
 * recorded with a permutation. */
static int find_merged(struct options *o, const struct mc_reader *r, struct mc_error *err)
{
    const msgpack_object *history = mc_reader_history(r);
    const int is_mean = mc_history_is_of(history, "mc-merge");
    const size_t n = is_mean ? mc_reader_n_inputs(r) : 2;
    int rc = mc_new(&o->merged, n, err);

    for (size_t k = 0; !rc && is_mean && k < n; k++)
        memcpy(o->merged[k], mc_reader_input(r, k), MC_ID_LEN);
    if (!rc && !is_mean)
        o->permuted = mc_history_is_of(history, "mc-bezier") && mc_history_pair(history, o->merged);
    o->n_merged = is_mean || o->permuted ? n : 0;
    return rc;
}

/* Return 1 if NET can be merged from this network. */
static int is_merged(const struct options *o, const struct mc_reader *r)
{
    for (size_t k = 0; k < o->n_merged; k++)
        if (!strcmp(o->merged[k], mc_reader_id(r)))
            return !o->permuted || !k;
    for (size_t k = 0; o->permuted && k < mc_reader_n_inputs(r); k++)
        if (!strcmp(o->merged[1], mc_reader_input(r, k)))
            return 1;
    return !o->n_merged;
}

static int add_end(struct options *o, struct mc_repair *r, const struct mc_weights *w, size_t i,
                   struct mc_error *err)
{
    const char **path = o->cli.operands;
    struct mc_reader *stream = NULL;
    struct mc_weights end = {0};
    int rc = mc_reader_open(&stream, path[1 + i], err);

    if (!rc)
        rc = mc_weights_read(&end, (struct mc_stream){.reader = stream}, o->cli.history, err);
    if (!rc && !is_merged(o, stream))
        mc_warn(&o->cli, "%s is not one of the networks that %s was merged from",
                mc_file_called(path[1 + i]), mc_file_called(path[0]));
    if (!rc)
        mc_data_warn_pair(&o->cli, path[0], w->dataset, path[1 + i], end.dataset);
    if (!rc)
        rc = mc_expect_same_network(&o->cli, w->graph, end.graph, path[0], path[1 + i], err);
    if (!rc)
        rc = mc_fail_in(mc_repair_add_end(r, &end, mc_weights_option_get(&o->weights, i), err), err,
                        "%s", mc_file_called(path[1 + i]));
    mc_weights_release(&end);
    mc_reader_close(stream);
    return rc;
}

static void report(const struct options *o, const struct mc_repair *r)
{
    const char *path = mc_file_called(o->cli.operands[0]);

    mc_detail(&o->cli, "%zu channels of %zu layers, %zu passes over %llu images", r->channels,
              r->rescale.n, n_ends(o) + (size_t)r->rescale.levels,
              (unsigned long long)r->o->images->info.n);
    if (r->kept)
        mc_warn(&o->cli, "%s: %zu of %zu channels do not vary on these images and are unchanged",
                path, r->kept, r->channels);
    if (r->rescale.no_bias)
        mc_warn(&o->cli,
                "%s: %zu layer%s before an activation without bias and batch norm: unchanged", path,
                r->rescale.no_bias, r->rescale.no_bias == 1 ? "" : "s");
}

static int repair(struct options *o, struct mc_weights *w, struct mc_error *err)
{
    struct mc_in_memory images = {0};
    struct mc_progress progress;
    struct mc_repair_options ro = {.be = o->cli.be,
                                   .images = &images,
                                   .batch = o->batch,
                                   .augment = o->images == AUGMENTED,
                                   .seed = o->seed,
                                   .progress = mc_progress_count,
                                   .arg = &progress};
    struct mc_repair r = {0};
    const char *path = mc_file_called(o->cli.operands[0]);
    int rc = read_images(o, w, &images, err);

    if (!rc)
        rc = mc_fail_in(mc_repair_open(&r, w->graph, &ro, err), err, "%s", path);
    mc_progress_begin(&progress, &o->cli, "measuring", "images",
                      (n_ends(o) + (size_t)r.rescale.levels) * images.info.n);
    for (size_t i = 0; !rc && i < n_ends(o); i++)
        rc = add_end(o, &r, w, i, err);
    if (!rc)
        rc = mc_fail_in(mc_repair_run(&r, w, err), err, "%s", path);
    mc_progress_end(&progress);
    if (!rc) {
        mc_data_warn(&o->cli, w->graph, w->dataset, &images.info, o->data, MC_DATA_TRAIN);
        report(o, &r);
    }
    mc_repair_release(&r);
    mc_in_memory_release(&images, o->cli.be);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    struct mc_weights w = {0};
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, o->cli.operands[0], err);

    if (!rc)
        rc = mc_weights_read(&w, (struct mc_stream){.reader = r}, h, err);
    if (rc || (rc = find_merged(o, r, err)) || (rc = mc_cli_open_backend(&o->cli, err)))
        goto out;
    mc_weights_widen(&w);
    mc_options_note(&o->cli, o, h);
    mc_history_str(h, "images", image_names[o->images]);
    if (o->has_ends) {
        mc_history_int(h, "ends", (int64_t)n_ends(o));
        mc_option_note(&o->cli, &o->weights, h);
    }
    mc_history_facts(h, o->cli.be->facts, o->cli.be->n_facts);
    rc = o->has_ends ? repair(o, &w, err) : reestimate(o, &w, err);
    if (!rc)
        rc = mc_weights_write(&w, o->cli.output, h, err);
out:
    mc_weights_release(&w);
    mc_reader_close(r);
    free(o->merged);
    mc_weights_option_release(&o->weights);
    return rc;
}

static void check_options(struct options *o)
{
    struct mc_cli *cli = &o->cli;

    if (o->has_ends && !o->first_end) { /* NET is stdin */
        memmove(cli->operands + 1, cli->operands, cli->n_operands++ * sizeof *cli->operands);
        cli->operands[0] = "-";
        o->first_end = 1;
    }
    mc_cli_default_stdin(cli);
    if (o->has_ends && !mc_option_given(cli, &o->images))
        o->images = PLAIN;
    if (o->has_ends && o->first_end > 1)
        mc_cli_usage("one network before --ends expected, got %zu", o->first_end);
    if (o->has_ends)
        mc_cli_require(n_ends(o) > 0, "operand A.mcz after --ends");
    cli->not_operands = "--ends A.mcz B.mcz names the networks of a mean";
    if (!o->has_ends)
        mc_cli_operands(cli, "NET.mcz");
    mc_cli_require(o->data != NULL, "--data FILE.mcz");
    if (n_ends(o))
        mc_weights_option_check(&o->weights, n_ends(o));
}

MC_PROGRAM("mc-repair", "NET.mcz\nNET.mcz --ends A.mcz B.mcz...", doc, options,
           .check = check_options, .run = run)

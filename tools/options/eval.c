/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options of evaluation. */
#include "tools/options/eval.h"

#include "formats/codecs/losses.h"
#include "libcommon/base/alloc.h"
#include "tools/cli/memory.h"
#include "tools/load/loader.h"
#include "tools/cli/data_warnings.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parse [NAME=]FILE. The default name is the split's, set when the stream is open. */
static void add_data(const char *option, const char *arg, void *value)
{
    struct mc_eval_cli *e = value;
    size_t n = 0;

    if (e->sweep.n_data == MC_BATCHED_MAX_DATA)
        mc_cli_usage("%s: at most %d data sets", option, MC_BATCHED_MAX_DATA);
    struct mc_batched_data *d = &e->sweep.data[e->sweep.n_data++];
    while (isalnum((unsigned char)arg[n]) || arg[n] == '_' || arg[n] == '-')
        n++;
    if (n && n < sizeof d->name && arg[n] == '=') {
        memcpy(d->name, arg, n);
        arg += n + 1;
    }
    d->path = arg;
}

/* clang-format off */
#define AT(member) offsetof(struct mc_eval_cli, member)
static const struct mc_option rows[] = {
    {"data", 'd', MC_OPT_OTHER, 0, .arg = "[NAME=]FILE.mcz", .parse = add_data, .group = 10,
     .help = "measure on this data set; NAME (letters, digits, _ and -; default: its split) starts the names "
             "of its columns; repeatable"},
    {"bn-data", 0, MC_OPT_INPUT, AT(sweep.bn.path), .arg = "FILE.mcz", .group = 20,
     .help = "re-estimate batch norm on this data set at each point"},
    {"bn-samples", 0, MC_OPT_U64, AT(sweep.bn.samples), .arg = "N", .min = 1, .max = INT32_MAX, .def = "10000", .group = 20,
     .needs = {"bn-data"}, .help = "first N images of --bn-data"},
    {"bn-plain", 0, MC_OPT_FLAG, AT(bn_plain), .group = 20, .needs = {"bn-data"},
     .help = MC_HELP_BN_PLAIN},
    MC_OPTION_ATTACK(AT(attack), 25, "also measure adversarial examples, created at each point with its batch-norm "
                     "statistics: columns NAME.robust.loss and NAME.robust.accuracy; the first --data decides the "
                     "defaults of eps and step",
                     .flags = MC_OPT_IDENTITY),
    {"bn-attack", 0, MC_OPT_FLAG, AT(sweep.bn_attack), .group = 25, .needs = {"attack", "bn-data"},
     .help = "re-estimate batch norm on adversarial examples instead of clean images"},
    {"samples", 0, MC_OPT_U64, AT(samples), .arg = "N", .min = 1, .max = INT32_MAX, .def = "10000", .group = 30,
     .help = "use the first N images of data sets whose split is train"},
    {"test-samples", 0, MC_OPT_U64, AT(test_samples), .arg = "N", .min = 1, .max = INT32_MAX, .group = 30,
     .help = "use the first N images of all other data sets (default: all images)"},
    {"full", 0, MC_OPT_FLAG, AT(full), .group = 30, .help = "use all images, also of training data and for batch norm"},
    {"batch", 0, MC_OPT_U64, AT(sweep.pass.batch), .arg = "N", .min = 2, .max = 65536, .def = "128", .group = 30,
     .flags = MC_OPT_IDENTITY, .help = "images per batch"},
    {"checkpoint", 0, MC_OPT_RESULT, AT(sweep.checkpoint), .arg = "FILE", .group = 35,
     .help = "curve or plane: save the finished points to FILE; reads the data sets once more at the start, for "
     "their ids; an existing FILE is an error without --resume"},
    {"checkpoint-every", 0, MC_OPT_U64, AT(sweep.checkpoint_every), .arg = "N", .min = 1, .max = 1000000, .def = "16", .group = 35,
     .needs = {"checkpoint"}, .help = "save the checkpoint after every N points"},
    {"resume", 0, MC_OPT_FLAG, AT(sweep.resume), .group = 35, .needs = {"checkpoint"},
     .help = "resume from the checkpoint if it exists"},
    MC_OPTION_SEED(AT(sweep.pass.seed), .flags = MC_OPT_IDENTITY),
    {0}};
/* clang-format on */

void mc_eval_cli_options(struct mc_eval_cli *e, struct mc_cli *cli)
{
    e->cli = cli;
    e->report.sweep = &e->sweep;
    mc_options_add(cli, rows, e);
}

void mc_eval_cli_check(const struct mc_eval_cli *e)
{
    const uint64_t *const counts[] = {&e->samples, &e->sweep.bn.samples, &e->test_samples};

    mc_cli_require(e->sweep.n_data > 0, "--data FILE.mcz");
    for (size_t i = 0; e->full && i < 3; i++)
        if (mc_option_given(e->cli, counts[i]))
            mc_cli_usage("--%s has no effect with --full", mc_option_given(e->cli, counts[i]));
    if (mc_option_given(e->cli, &e->sweep.pass.seed) && !mc_option_given(e->cli, &e->attack) &&
        (!e->sweep.bn.path || e->bn_plain))
        mc_cli_usage("--seed has no effect without --attack or augmented --bn-data");
    for (size_t i = 0; i < e->sweep.n_data; i++)
        mc_files_add(&e->cli->files, MC_FILE_INPUT, "data", e->sweep.data[i].path);
}

/* Return MC_EUSAGE if column i has the name of an earlier one. */
static int check_name(const struct mc_eval_cli *e, size_t i, struct mc_error *err)
{
    const struct mc_report_columns c = mc_report_column(&e->report, i);

    for (size_t k = 0; k < i; k++)
        if (!strcmp(mc_report_column(&e->report, k).name, c.name))
            return mc_fail(err, MC_EUSAGE,
                           "two data sets have the name '%s' (use --data NAME=FILE)", c.name);
    return 0;
}

static int resolve_attack(struct mc_eval_cli *e, struct mc_error *err)
{
    const size_t n = e->sweep.n_data;
    char text[MC_ATTACK_TEXT];
    int rc = mc_attack_resolve(&e->attack, mc_dataset_get_info(e->sweep.data[0].reader), err);

    e->sweep.attack = &e->attack;
    for (size_t i = n; !rc && i < 2 * n; i++)
        rc = check_name(e, i, err);
    if (rc)
        return rc;
    mc_attack_text(&e->attack, text);
    mc_detail(e->cli, "attack: %s", text);
    return 0;
}

int mc_eval_cli_open_data(struct mc_eval_cli *e, struct mc_error *err)
{
    int rc = mc_checkpoint_check_path(e->sweep.checkpoint, e->sweep.resume, err);

    e->sweep.state.tool = e->cli->tool;
    mc_checkpoint_set(&e->sweep.state, "version", "%s", MC_VERSION);
    for (size_t i = 0; !rc && i < e->sweep.n_data; i++) {
        struct mc_batched_data *d = &e->sweep.data[i];
        if ((rc = mc_dataset_open(&d->reader, d->path, err)))
            return rc;
        const char *split = mc_dataset_get_info(d->reader)->split;
        if (!*d->name) /* no NAME= on the command line */
            snprintf(d->name, sizeof d->name, "%s", *split ? split : "data");
        rc = check_name(e, i, err);
    }
    return rc || !mc_option_given(e->cli, &e->attack) ? rc : resolve_attack(e, err);
}

int mc_eval_cli_expect(const struct mc_eval_cli *e, const struct mc_graph *g, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < e->sweep.n_data; i++) {
        const struct mc_batched_data *d = &e->sweep.data[i];
        rc = mc_data_expect(g, mc_dataset_get_info(d->reader), d->path, err);
    }
    return rc;
}

void mc_eval_cli_subject(struct mc_eval_cli *e, const char *dataset, int augmented)
{
    e->subjects[e->n_subjects++] = (struct mc_eval_subject){dataset, augmented};
}

/* Warn about data that do not match the networks. All data sets are open. */
static void warn_data(const struct mc_eval_cli *e, const struct mc_eval_subject *subject)
{
    const struct mc_batched *s = &e->sweep;
    const struct mc_graph *g = s->span->graph;

    for (size_t i = 0; i < s->n_data; i++)
        mc_data_warn(e->cli, g, subject->dataset, mc_dataset_get_info(s->data[i].reader),
                     s->data[i].path, MC_DATA_MEASURE);
    if (!s->bn.reader)
        return;
    const struct mc_dataset_info *info = mc_dataset_get_info(s->bn.reader);
    mc_data_warn(e->cli, g, subject->dataset, info, s->bn.path, MC_DATA_TRAIN);
    if (e->bn_plain)
        mc_data_warn_plain(e->cli, "--bn-plain", subject->augmented, info);
}

static int begin(void *arg, size_t first, size_t chunk, size_t bytes, double each,
                 struct mc_error *err)
{
    struct mc_eval_cli *e = arg;

    for (size_t i = 0; i < e->n_subjects; i++)
        warn_data(e, &e->subjects[i]);
    e->n_subjects = 0;
    if (first)
        mc_detail(e->cli, "resumed after point %zu of %zu", first, e->sweep.span->T);
    if (e->report.marks) /* a plane */
        mc_note(e->cli, "%zu points, %zu at a time: %.1f MiB", e->sweep.span->T, chunk,
                (double)bytes / (1 << 20));
    if (each > 0)
        mc_detail(e->cli,
                  "memory: every image's loss at %zu points %.1f MB, %zu points at a time %.1f MB",
                  e->sweep.span->T, each / 1e6, chunk, (double)bytes / 1e6);
    return each > 0 ? mc_memory_check(each + (double)bytes, err) : 0;
}

static void progress(void *arg, uint64_t images, uint64_t in_all)
{
    struct mc_eval_cli *e = arg;

    e->progress.total = in_all;
    mc_progress_update(&e->progress, images, NULL);
}

/* Print the standard errors of means over a subset of a data set. */
static void note_subsets(const struct mc_eval_cli *e)
{
    for (size_t i = 0; i < mc_report_n(&e->report); i++) {
        const struct mc_report_columns c = mc_report_column(&e->report, i);
        double loss = 0, accuracy = 0;
        const struct mc_eval_result *all = c.out->result;
        if (all[0].images == (double)c.total)
            continue;
        for (size_t p = 0; p < e->sweep.span->T; p++) {
            loss = fmax(loss, all[p].loss_se);
            accuracy = fmax(accuracy, all[p].accuracy_se);
        }
        mc_note(e->cli,
                "%s: first %llu of %llu images; standard errors up to %.2g in loss, %.2g%% in "
                "accuracy (--full for all)",
                c.name, (unsigned long long)all[0].images, (unsigned long long)c.total, loss,
                100 * accuracy);
    }
}

static void release_found(struct mc_batched_data *d)
{
    free(d->out.result);
    free(d->out.loss);
    free(d->out.correct);
    free(d->robust.loss);
    free(d->robust.correct);
    d->out = d->robust = (struct mc_eval_output){0};
}

/* Open the data sets and allocate the results. */
static int prepare_data(struct mc_eval_cli *e, struct mc_error *err)
{
    const size_t T = e->sweep.span->T;
    const int attacked = e->sweep.attack != NULL;

    for (size_t i = 0; i < e->sweep.n_data; i++) {
        struct mc_batched_data *d = &e->sweep.data[i];
        int rc = d->reader ? 0 : mc_dataset_open(&d->reader, d->path, err);
        if (rc)
            return rc;
        int training = !strcmp(mc_dataset_get_info(d->reader)->split, "train");
        release_found(d);
        if ((rc = mc_new(&d->out.result, attacked ? 2 * T : T, err)))
            return rc;
        d->robust.result = attacked ? d->out.result + T : NULL;
        d->samples = e->full ? 0 : training ? e->samples : e->test_samples;
        d->samples_exact = !training || mc_option_given(e->cli, &e->samples);
        const uint64_t n = mc_dataset_get_info(d->reader)->n;
        const uint64_t images = d->samples && d->samples < n ? d->samples : n;
        if (e->sweep.per_image && images > MC_LOSSES_MAX_IMAGES)
            return mc_fail(err, MC_EINPUT, "%s: %llu images, but --losses stores at most %u",
                           d->path, (unsigned long long)images, MC_LOSSES_MAX_IMAGES);
    }
    return 0;
}

/* Save the options that a checkpoint must share; those of batch norm only if they have an effect. */
static void save_options(struct mc_eval_cli *e)
{
    struct mc_batched *s = &e->sweep;

    if (s->bn.path && s->span->graph->S) {
        mc_option_save(e->cli, &e->bn_plain, &s->state);
        if (s->bn_attack)
            mc_option_save(e->cli, &s->bn_attack, &s->state);
    }
    mc_options_save(e->cli, e, &s->state);
}

int mc_eval_cli_measure(struct mc_eval_cli *e, const struct mc_span *span, struct mc_error *err)
{
    static const char *const subjects[] = {"a network", "a curve", "a plane"};
    struct mc_batched *s = &e->sweep;

    if (span->graph->S && !s->bn.path && !s->stats)
        return mc_fail(err, MC_EUSAGE,
                       "%s with batch norm requires --bn-data FILE.mcz: it has no statistics",
                       subjects[e->report.n_coords]);
    e->span = *span;
    s->span = &e->span;
    if (s->checkpoint)
        save_options(e);
    s->begin = begin;
    s->bn.samples_exact = mc_option_given(e->cli, &s->bn.samples) != NULL;
    s->bn.samples = e->full ? 0 : s->bn.samples;
    s->pass.be = e->cli->be;
    s->pass.augment = !e->bn_plain;
    s->pass.progress = progress;
    s->pass.arg = e;
    int rc = prepare_data(e, err);
    if (!rc) {
        mc_progress_begin(&e->progress, e->cli, "evaluating", "images", 0);
        rc = mc_batched_run(s, err);
        mc_progress_end(&e->progress);
    }
    if (!rc && e->report.n_coords)
        rc = mc_report_check(&e->report, err);
    if (!rc && !mc_report_check(&e->report, NULL))
        note_subsets(e);
    return rc;
}

void mc_eval_cli_release(struct mc_eval_cli *e)
{
    for (size_t i = 0; i < MC_BATCHED_MAX_DATA; i++) {
        release_found(&e->sweep.data[i]);
        mc_dataset_close(e->sweep.data[i].reader);
    }
}

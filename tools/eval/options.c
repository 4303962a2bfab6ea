/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation at the command line. */
#include "tools/eval/options.h"

#include "tools/load/loader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LENGTH 64

/* [NAME=]FILE; without a name the split names it, once the stream is open. */
static void add_data(const char *option, const char *arg, void *value)
{
    struct mc_eval_cli *e = value;
    size_t n = 0;

    if (e->sweep.n_data == MC_BATCHED_MAX_DATA)
        mc_cli_usage("%s: at most %d", option, MC_BATCHED_MAX_DATA);
    struct mc_reported *d = &e->report.data[e->sweep.n_data];
    while (isalnum((unsigned char)arg[n]) || arg[n] == '_' || arg[n] == '-')
        n++;
    if (n && n < NAME_MAX_LENGTH && arg[n] == '=') {
        memcpy(d->name, arg, n);
        arg += n + 1;
    }
    e->sweep.data[e->sweep.n_data++].path = arg;
}

/* clang-format off */
#define AT(member) offsetof(struct mc_eval_cli, member)
static const struct mc_option rows[] = {
    {"data", 'd', MC_OPT_OTHER, 0, .arg = "[NAME=]FILE", .parse = add_data, .group = 10,
     .help = "measure on this dataset stream; NAME (default: its split) heads its columns; repeatable"},
    {"bn-data", 0, MC_OPT_INPUT, AT(sweep.bn.path), .arg = "FILE", .group = 20,
     .help = "re-estimate batch norm on this at each point"},
    {"bn-samples", 0, MC_OPT_U64, AT(sweep.bn.samples), .arg = "N", .min = 1, .max = INT32_MAX, .def = "10000", .group = 20,
     .help = "first N images of --bn-data"},
    {"bn-plain", 0, MC_OPT_FLAG, AT(bn_plain), .group = 20,
     .help = "re-estimate on images as they are, not augmented"},
    MC_OPTION_ATTACK(AT(attack), 25, "measure adversarial examples too, made at each point under its statistics: "
                     "columns NAME.robust.loss, NAME.robust.accuracy; eps and step are those of the first --data",
                     .flags = MC_OPT_IDENTITY),
    {"bn-attack", 0, MC_OPT_FLAG, AT(report.bn_attack), .group = 25, .needs = {"attack", "bn-data"},
     .help = "re-estimate batch norm on adversarial examples too, not clean images"},
    {"samples", 0, MC_OPT_U64, AT(samples), .arg = "N", .min = 1, .max = INT32_MAX, .def = "10000", .group = 30,
     .help = "first N images of a data set whose split is train"},
    {"test-samples", 0, MC_OPT_U64, AT(test_samples), .arg = "N", .min = 1, .max = INT32_MAX, .group = 30,
     .help = "first N images of every other data set (default all)"},
    {"full", 0, MC_OPT_FLAG, AT(full), .group = 30, .help = "all images, of training data and for batch norm too"},
    {"batch", 0, MC_OPT_U64, AT(sweep.pass.batch), .arg = "N", .min = 2, .max = 65536, .def = "128", .group = 30,
     .flags = MC_OPT_IDENTITY, .help = "images at a time"},
    {"checkpoint", 0, MC_OPT_RESULT, AT(sweep.checkpoint), .arg = "FILE", .group = 35,
     .help = "of a curve or plane: save the points that are done there; the data sets are read once more "
     "first, for their ids; a file that is there is refused without --resume"},
    {"checkpoint-every", 0, MC_OPT_U64, AT(sweep.checkpoint_every), .arg = "N", .min = 1, .max = 1000000, .def = "16", .group = 35,
     .needs = {"checkpoint"}, .help = "save it after each N points"},
    {"resume", 0, MC_OPT_FLAG, AT(sweep.resume), .group = 35, .needs = {"checkpoint"},
     .help = "go on from the checkpoint, if it is there"},
    MC_OPTION_SEED(AT(sweep.pass.seed), .flags = MC_OPT_IDENTITY),
    {0}};
/* clang-format on */

void mc_eval_cli_options(struct mc_eval_cli *e, struct mc_cli *cli)
{
    e->cli = cli;
    mc_options_add(cli, rows, e);
}

static int attacked(const struct mc_eval_cli *e)
{
    return mc_option_given(e->cli, &e->attack) != NULL;
}

void mc_eval_cli_check(const struct mc_eval_cli *e)
{
    const uint64_t *const some[] = {&e->samples, &e->sweep.bn.samples, &e->test_samples};

    if (!e->sweep.n_data)
        mc_cli_usage("needs --data [NAME=]FILE (see --help)");
    for (size_t i = 0; e->full && i < 3; i++)
        if (mc_option_given(e->cli, some[i]))
            mc_cli_usage("--%s has no effect with --full", mc_option_given(e->cli, some[i]));
    for (size_t i = 0; i < e->sweep.n_data; i++)
        mc_cli_file(e->cli, MC_FILE_INPUT, "data", e->sweep.data[i].path);
}

/* The columns' name where the user gave none, and no two the same. */
static int name_columns(struct mc_eval_cli *e, struct mc_reported *d, const char *split,
                        struct mc_error *err)
{
    if (!*d->name)
        snprintf(d->name, NAME_MAX_LENGTH, "%s", *split ? split : "data");
    for (struct mc_reported *other = e->report.data; other < d; other++)
        if (!strcmp(other->name, d->name))
            return mc_fail(err, MC_EUSAGE, "two data sets are called '%s' (use --data NAME=FILE)",
                           d->name);
    return 0;
}

static int resolve_attack(struct mc_eval_cli *e, struct mc_error *err)
{
    int rc = mc_attack_resolve(&e->attack, mc_dataset_get_info(e->sweep.data[0].reader), err);

    mc_attack_text(&e->attack, e->attack_text);
    e->report.attack = e->attack_text;
    for (size_t i = 0; !rc && i < e->sweep.n_data; i++) {
        struct mc_reported *d = &e->report.data[e->sweep.n_data + i];
        char name[NAME_MAX_LENGTH]; /* of at most so many bytes, as all of clean data */
        memcpy(name, e->report.data[i].name, sizeof name);
        snprintf(d->name, sizeof d->name, "%.63s.robust", name);
        rc = name_columns(e, d, "", err);
    }
    e->report.n_data *= 2;
    if (!rc)
        mc_detail(e->cli, "attack: %s", e->attack_text);
    return rc;
}

int mc_eval_cli_open_data(struct mc_eval_cli *e, struct mc_error *err)
{
    int rc = mc_checkpoint_check_path(e->sweep.checkpoint, e->sweep.resume, err);

    for (size_t i = 0; !rc && i < e->sweep.n_data; i++) {
        struct mc_batched_data *d = &e->sweep.data[i];
        rc = mc_dataset_open(&d->reader, d->path, err);
        if (!rc)
            rc = name_columns(e, &e->report.data[i], mc_dataset_get_info(d->reader)->split, err);
    }
    e->report.n_data = e->sweep.n_data;
    return rc || !attacked(e) ? rc : resolve_attack(e, err);
}

int mc_eval_cli_fits(const struct mc_eval_cli *e, const struct mc_graph *g, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < e->sweep.n_data; i++) {
        const struct mc_batched_data *d = &e->sweep.data[i];
        rc = mc_data_fits(g, mc_dataset_get_info(d->reader), d->path, err);
    }
    return rc;
}

static void begin(void *arg, size_t done, size_t block, size_t bytes)
{
    const struct mc_eval_cli *e = arg;

    if (done)
        mc_detail(e->cli, "resumed after point %zu of %zu", done, e->report.T);
    if (e->say_memory)
        mc_note(e->cli, "%zu points, %zu at a time: %.1f MiB", e->report.T, block,
                (double)bytes / (1 << 20));
}

static void progress(void *arg, uint64_t images, uint64_t in_all)
{
    struct mc_eval_cli *e = arg;

    e->progress.total = in_all;
    mc_progress_update(&e->progress, images, NULL);
}

/* Of a subset, how far its means may be from the whole's. */
static void tell_subsets(const struct mc_eval_cli *e)
{
    for (size_t i = 0; i < e->report.n_data; i++) {
        const struct mc_reported *d = &e->report.data[i];
        double loss, accuracy;
        if (d->out[0].images == (double)d->in_all)
            continue;
        mc_report_errors(&e->report, i, &loss, &accuracy);
        mc_note(e->cli,
                "%s: first %llu of %llu images; standard errors up to %.2g in loss, %.2g%% in "
                "accuracy (--full for all)",
                d->name, (unsigned long long)d->out[0].images, (unsigned long long)d->in_all, loss,
                100 * accuracy);
    }
}

/* The data sets, open, and room for what is measured on them. */
static int prepare_data(struct mc_eval_cli *e, struct mc_error *err)
{
    for (size_t i = 0; i < e->report.n_data; i++) {
        struct mc_reported *d = &e->report.data[i];
        free(d->out);
        if (!(d->out = calloc(e->report.T, sizeof *d->out)))
            return mc_no_memory(err);
    }
    for (size_t i = 0; i < e->sweep.n_data; i++) {
        const struct mc_reported *r = &e->report.data[i];
        struct mc_batched_data *d = &e->sweep.data[i];
        int rc = d->reader ? 0 : mc_dataset_open(&d->reader, d->path, err);
        if (rc)
            return rc;
        int training = !strcmp(mc_dataset_get_info(d->reader)->split, "train");
        d->name = r->name;
        d->samples = e->full ? 0 : training ? e->samples : e->test_samples;
        d->samples_exact = !training || mc_option_given(e->cli, &e->samples);
        d->out = r->out;
        d->robust = attacked(e) ? r[e->sweep.n_data].out : NULL;
    }
    return 0;
}

int mc_eval_cli_measure(struct mc_eval_cli *e, const struct mc_span *span,
                        struct mc_checkpoint *identity, struct mc_error *err)
{
    static const char *const what[] = {"a network", "a curve", "a plane"};
    struct mc_batched *s = &e->sweep;

    if (span->graph->S && !s->bn.path && !span->stats)
        return mc_fail(err, MC_EUSAGE,
                       "%s needs --bn-data FILE: it carries no batch-norm statistics",
                       what[e->report.n_at]);
    if (s->bn.path && span->graph->S) {
        mc_option_save(e->cli, &e->bn_plain, identity);
        if (e->report.bn_attack)
            mc_option_save(e->cli, &e->report.bn_attack, identity);
    }
    mc_options_save(e->cli, e, identity);
    e->report.T = span->T;
    s->span = span;
    s->identity = identity;
    s->tool = e->cli->tool;
    s->begin = begin;
    s->bn.name = "bn-data";
    s->bn.samples_exact = mc_option_given(e->cli, &s->bn.samples) != NULL;
    s->bn.samples = e->full ? 0 : s->bn.samples;
    s->bn_attack = e->report.bn_attack;
    s->pass.be = e->be;
    s->pass.augment = !e->bn_plain;
    s->pass.attack = attacked(e) ? &e->attack : NULL;
    s->pass.progress = progress;
    s->pass.arg = e;
    int rc = prepare_data(e, err);
    if (!rc) {
        mc_progress_begin(&e->progress, e->cli, "evaluating", "images", 0);
        rc = mc_batched_run(s, err);
        mc_progress_end(&e->progress);
    }
    for (size_t i = 0; i < e->report.n_data; i++)
        e->report.data[i].in_all = s->data[i % s->n_data].in_all;
    rc = rc ? rc : mc_report_check(&e->report, err);
    if (!rc)
        tell_subsets(e);
    return rc;
}

void mc_eval_cli_release(struct mc_eval_cli *e)
{
    for (size_t i = 0; i < MC_MAX_REPORTED; i++)
        free(e->report.data[i].out);
    for (size_t i = 0; i < MC_BATCHED_MAX_DATA; i++)
        mc_dataset_close(e->sweep.data[i].reader);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation at the command line. */
#include "tools/eval/options.h"

#include "tools/load/loader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 10000
#define NAME_MAX_LENGTH 64

void mc_eval_cli_defaults(struct mc_eval_cli *e, const struct mc_cli *cli)
{
    *e = (struct mc_eval_cli){
        .cli = cli, .batch = 128, .samples = SAMPLES, .bn_samples = SAMPLES, .every = 16};
}

/* [NAME=]FILE; without a name the split names it, once the stream is open. */
static void add_data(struct mc_eval_cli *e, const char *arg)
{
    size_t n = 0;

    if (e->n_data == MC_BATCHED_MAX_DATA)
        mc_cli_usage("--data: at most %d", MC_BATCHED_MAX_DATA);
    struct mc_reported *d = &e->report.data[e->n_data];
    while (isalnum((unsigned char)arg[n]) || arg[n] == '_' || arg[n] == '-')
        n++;
    if (n && n < NAME_MAX_LENGTH && arg[n] == '=') {
        memcpy(d->name, arg, n);
        arg += n + 1;
    }
    e->file[e->n_data++] = arg;
}

error_t mc_eval_cli_option(struct mc_eval_cli *e, int key, const char *arg)
{
    switch (key) {
    case 'd':
        add_data(e, arg);
        return 0;
    case MC_KEY_BN_DATA:
        e->bn_data = arg;
        return 0;
    case MC_KEY_BN_SAMPLES:
        e->bn_samples_given = 1;
        e->bn_samples = mc_parse_u64("--bn-samples", arg, 1, INT32_MAX);
        return 0;
    case MC_KEY_BN_PLAIN:
        e->bn_plain = 1;
        return 0;
    case MC_KEY_ATTACK:
        e->attacked = 1;
        mc_attack_parse(&e->attack, arg);
        return 0;
    case MC_KEY_BN_ATTACK:
        e->report.bn_attack = 1;
        return 0;
    case MC_KEY_EVAL_SAMPLES:
        e->samples_given = 1;
        e->samples = mc_parse_u64("--samples", arg, 1, INT32_MAX);
        return 0;
    case MC_KEY_TEST_SAMPLES:
        e->test_samples = mc_parse_u64("--test-samples", arg, 1, INT32_MAX);
        return 0;
    case MC_KEY_FULL:
        e->full = 1;
        return 0;
    case MC_KEY_EVAL_BATCH:
        e->batch = mc_parse_u64("--batch", arg, 2, 65536);
        return 0;
    case MC_KEY_EVAL_CHECKPOINT:
        e->checkpoint = arg;
        return 0;
    case MC_KEY_EVAL_EVERY:
        e->every_given = 1;
        e->every = mc_parse_u64("--checkpoint-every", arg, 1, 1000000);
        return 0;
    case MC_KEY_EVAL_RESUME:
        e->resume = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void mc_eval_cli_check(const struct mc_eval_cli *e, struct mc_cli *cli)
{
    if (!e->n_data)
        mc_cli_usage("needs --data [NAME=]FILE (see --help)");
    if (e->report.bn_attack && !(e->attacked && e->bn_data))
        mc_cli_usage("--bn-attack needs --attack and --bn-data");
    if (e->full && (e->samples_given || e->bn_samples_given || e->test_samples))
        mc_cli_usage("--full means all images, --%s some", e->samples_given      ? "samples"
                                                           : e->bn_samples_given ? "bn-samples"
                                                                                 : "test-samples");
    if ((e->resume || e->every_given) && !e->checkpoint)
        mc_cli_usage("--%s needs --checkpoint FILE", e->resume ? "resume" : "checkpoint-every");
    for (size_t i = 0; i < e->n_data; i++)
        mc_cli_file(cli, MC_FILE_INPUT, "--data", e->file[i]);
    mc_cli_file(cli, MC_FILE_INPUT, "--bn-data", e->bn_data);
    mc_cli_file(cli, MC_FILE_OUTPUT, "--checkpoint", e->checkpoint);
}

/* The columns' name where the user gave none, and no two the same. */
static int settle_name(struct mc_eval_cli *e, struct mc_reported *d, const char *split,
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

static int settle_attack(struct mc_eval_cli *e, struct mc_error *err)
{
    int rc = mc_attack_resolve(&e->attack, mc_dataset_get_info(e->open[0]), err);

    mc_attack_text(&e->attack, e->attack_text);
    e->report.attack = e->attack_text;
    for (size_t i = 0; !rc && i < e->n_data; i++) {
        struct mc_reported *d = &e->report.data[e->n_data + i];
        snprintf(d->name, sizeof d->name, "%.63s.robust", e->report.data[i].name);
        rc = settle_name(e, d, "", err);
    }
    e->report.n_data *= 2;
    if (!rc)
        mc_detail(e->cli, "attack: %s", e->attack_text);
    return rc;
}

int mc_eval_cli_look_ahead(struct mc_eval_cli *e, struct mc_error *err)
{
    int rc = mc_checkpoint_check_path(e->checkpoint, e->resume, err);

    for (size_t i = 0; !rc && i < e->n_data; i++) {
        rc = mc_dataset_open(&e->open[i], e->file[i], err);
        if (!rc)
            rc = settle_name(e, &e->report.data[i], mc_dataset_get_info(e->open[i])->split, err);
    }
    e->report.n_data = e->n_data;
    return rc || !e->attacked ? rc : settle_attack(e, err);
}

int mc_eval_cli_fits(const struct mc_eval_cli *e, const struct mc_graph *g, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < e->n_data; i++)
        rc = mc_data_fits(g, mc_dataset_get_info(e->open[i]), e->file[i], err);
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
        if (d->out[0].images == d->in_all)
            continue;
        mc_report_errors(&e->report, i, &loss, &accuracy);
        mc_note(e->cli,
                "%s: first %llu of %llu images; standard errors up to %.2g in loss, %.2g%% in "
                "accuracy (--full for all)",
                d->name, (unsigned long long)d->out[0].images, (unsigned long long)d->in_all, loss,
                100 * accuracy);
    }
}

/* The data sets, which the sweep takes over, and room for what is measured on them. */
static int fill(struct mc_eval_cli *e, struct mc_batched *s, struct mc_error *err)
{
    s->n_data = e->n_data;
    for (size_t i = 0; i < e->report.n_data; i++) {
        struct mc_reported *d = &e->report.data[i];
        free(d->out);
        if (!(d->out = calloc(e->report.T, sizeof *d->out)))
            return mc_no_memory(err);
    }
    for (size_t i = 0; i < s->n_data; i++) {
        const struct mc_reported *d = &e->report.data[i];
        int rc = e->open[i] ? 0 : mc_dataset_open(&e->open[i], e->file[i], err);
        if (rc)
            return rc; /* those before it stay this one's to close */
        int training = !strcmp(mc_dataset_get_info(e->open[i])->split, "train");
        s->data[i] = (struct mc_batched_data){.path = e->file[i],
                                              .name = d->name,
                                              .samples = e->full    ? 0
                                                         : training ? e->samples
                                                                    : e->test_samples,
                                              .samples_exact = !training || e->samples_given,
                                              .out = d->out,
                                              .robust = e->attacked ? d[e->n_data].out : NULL};
    }
    for (size_t i = 0; i < s->n_data; i++) {
        s->data[i].reader = e->open[i];
        e->open[i] = NULL; /* another network reads it again */
    }
    return 0;
}

int mc_eval_cli_measure(struct mc_eval_cli *e, struct mc_backend *be, const struct mc_span *span,
                        const float *own, const char *what,
                        const struct mc_checkpoint_setting *identity, size_t n_identity,
                        struct mc_error *err)
{
    struct mc_batched s = {.be = be,
                           .span = span,
                           .pass = {.batch = e->batch,
                                    .seed = e->cli->seed,
                                    .augment = !e->bn_plain,
                                    .attack = e->attacked ? &e->attack : NULL,
                                    .progress = progress,
                                    .arg = e},
                           .bn = {.path = span->graph->S ? e->bn_data : NULL,
                                  .name = "bn-data",
                                  .samples = e->full ? 0 : e->bn_samples,
                                  .samples_exact = e->bn_samples_given},
                           .bn_attack = e->report.bn_attack,
                           .stats = own,
                           .checkpoint = e->checkpoint,
                           .resume = e->resume,
                           .checkpoint_every = e->every,
                           .tool = e->cli->tool,
                           .identity = identity,
                           .n_identity = n_identity,
                           .begin = e->say_memory || e->checkpoint ? begin : NULL};

    if (span->graph->S && !e->bn_data && !own)
        return mc_fail(err, MC_EUSAGE,
                       "%s needs --bn-data FILE: it carries no batch-norm statistics", what);
    e->report.T = span->T;
    int rc = fill(e, &s, err);
    if (!rc) {
        mc_progress_begin(&e->progress, e->cli, "evaluating", "images", 0);
        rc = mc_batched_run(&s, err);
        mc_progress_end(&e->progress);
    }
    for (size_t i = 0; i < e->report.n_data; i++)
        e->report.data[i].in_all = s.data[i % e->n_data].in_all;
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
        mc_dataset_close(e->open[i]);
}

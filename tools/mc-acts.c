/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-acts: two networks' joint moments on data, or one network's activations. */
#include "tools/align/collect.h"
#include "tools/attack/options.h"
#include "tools/cli/cli.h"
#include "tools/cli/computed_with.h"
#include "tools/load/loader.h"

#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Sum up how the units of two networks fire together on data, for mc-corr."
    "\vThe networks run in evaluation mode on unaugmented images, in one pass and constant memory; "
    "with --attack each on adversarial examples of its own. "
    "Shards of the same run, counted anywhere, add up in mc-corr. With --raw, one network's "
    "activations themselves.\n\n"
    "Examples:\n"
    "  mc-acts --data train.mcz a.mcz b.mcz | mc-corr | mc-hungarian -o p.mcz\n"
    "  mc-acts --data train.mcz --shard 1/2 a.mcz b.mcz -o first-half.mcz";

enum { KEY_SAMPLES = MC_KEY_TOOL, KEY_SHARD, KEY_AT, KEY_RAW, KEY_BATCH };

static const struct argp_option options[] = {
    {"data", 'd', "FILE", 0, "the data set", 0},
    {"samples", KEY_SAMPLES, "N", 0, "its first N images (default: the first 20%)", 0},
    {"shard", KEY_SHARD, "I/N", 0, "only part I of N, counted from 1", 0},
    {"at", KEY_AT, "WHERE", 0, "after the ReLU (post, the default) or before it (pre)", 0},
    {"raw", KEY_RAW, 0, 0, "one network's activations, batch by batch", 0},
    MC_OPTION_ATTACK("look at the adversarial examples that each network has itself, not at clean "
                     "images",
                     0),
    {"batch", KEY_BATCH, "N", 0, "images at a time (default: up to 128, by the network's size)", 0},
    MC_OPTION_OUTPUT,
    MC_OPTION_SEED,
    MC_OPTION_THREADS,
    MC_OPTION_DEVICE,
    MC_OPTION_PRECISION,
    MC_OPTION_DETERMINISTIC,
    MC_OPTION_NO_PROGRESS,
    MC_OPTION_NO_HISTORY,
    MC_OPTIONS_END};

struct options {
    struct mc_cli cli;
    const char *data;
    uint64_t samples; /* 0: the first 20% */
    uint64_t batch;   /* 0: by the network */
    uint32_t shard, shards;
    int at_pre, raw, attacked, seeded;
    struct mc_attack_options attack;
};

static const char *const places[] = {"post", "pre", NULL};

static void parse_shard(const char *arg, struct options *o)
{
    char first[16] = "";
    const char *slash = strchr(arg, '/');

    if (!slash || (size_t)(slash - arg) >= sizeof first)
        mc_cli_usage("--shard: '%s' is not of the form I/N, such as 1/4", arg);
    memcpy(first, arg, (size_t)(slash - arg));
    o->shards = (uint32_t)mc_parse_u64("--shard", slash + 1, 1, 1000000);
    o->shard = (uint32_t)mc_parse_u64("--shard", first, 1, o->shards) - 1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case 'd':
        o->data = arg;
        return 0;
    case MC_KEY_SEED:
        o->seeded = 1;
        return mc_cli_option(&o->cli, key, arg, state);
    case KEY_SAMPLES:
        o->samples = mc_parse_u64("--samples", arg, 1, INT64_MAX);
        return 0;
    case KEY_SHARD:
        parse_shard(arg, o);
        return 0;
    case KEY_AT:
        o->at_pre = mc_parse_choice("--at", arg, places);
        return 0;
    case KEY_RAW:
        o->raw = 1;
        return 0;
    case MC_KEY_ATTACK:
        o->attacked = 1;
        mc_attack_parse(&o->attack, arg);
        return 0;
    case KEY_BATCH:
        o->batch = mc_parse_u64("--batch", arg, 1, 65536);
        return 0;
    default:
        return mc_cli_option(&o->cli, key, arg, state);
    }
}

static const struct argp argp = {options, parse, "A.mcz [B.mcz]", doc, NULL, NULL, NULL};

static void check_options(struct options *o)
{
    size_t want = o->raw ? 1 : 2;

    if (!o->data)
        mc_cli_usage("--data is needed");
    if (o->cli.n_operands != want)
        mc_cli_usage(o->raw ? "--raw takes one network, %zu are given"
                            : "two networks are needed, %zu are given (--raw takes one)",
                     o->cli.n_operands);
    if (o->raw && o->shards > 1)
        mc_cli_usage("--raw has no shards");
    if (o->seeded && !o->attacked)
        mc_cli_usage("--seed is of the starts of an --attack, and there is none");
    mc_cli_file(&o->cli, MC_FILE_INPUT, "--data", o->data);
}

static void progress(void *arg, uint64_t done, uint64_t in_all)
{
    (void)in_all;
    mc_progress_update(arg, done, NULL);
}

static struct mc_history *new_history(const struct options *o)
{
    struct mc_history *h = mc_history_new("mc-acts");

    if (h && o->cli.no_history)
        mc_history_hide(h);
    return h;
}

static int settle_attack(struct mc_collect_opts *out, struct options *o,
                         const struct mc_dataset_info *info, struct mc_history *h,
                         struct mc_error *err)
{
    char text[MC_ATTACK_TEXT];
    int rc = mc_attack_resolve(&o->attack, info, err);

    mc_attack_text(&o->attack, text);
    mc_history_str(h, "attack", text);
    mc_history_int(h, "seed", (int64_t)o->cli.seed);
    out->pass.attack = &o->attack;
    out->pass.seed = o->cli.seed;
    if (!rc)
        mc_detail(&o->cli, "attack: %s", text);
    return rc;
}

/* The numbers that the data and the network decide, and what the history says of them. */
static int resolve_options(struct mc_collect_opts *out, struct options *o, const struct mc_graph *g,
                           const struct mc_dataset_info *info, struct mc_history *h,
                           struct mc_error *err)
{
    int rc = mc_data_samples(info, o->data, o->samples, 1, &out->pass.samples, err);

    if (rc)
        return rc;
    if (!o->samples)
        out->pass.samples = (info->n + 4) / 5;
    out->pass.batch = o->batch ? (size_t)o->batch : mc_collect_batch(g, o->attacked);
    out->at_pre = o->at_pre;
    out->shard = o->shard;
    out->shards = o->shards;
    out->precision = o->cli.backend.precision;
    mc_history_int(h, "samples", (int64_t)out->pass.samples);
    mc_history_int(h, "batch", (int64_t)out->pass.batch);
    mc_history_str(h, "at", places[o->at_pre]);
    if (o->raw)
        mc_history_int(h, "raw", 1);
    if (o->shards > 1) {
        mc_history_int(h, "shard", o->shard + 1);
        mc_history_int(h, "shards", o->shards);
    }
    rc = mc_data_fits(g, info, o->data, err);
    return rc || !o->attacked ? rc : settle_attack(out, o, info, h, err);
}

static int observe(const struct options *o, struct mc_backend *be, const struct mc_weights *w,
                   struct mc_dataset_reader *data, struct mc_collect_opts *opts,
                   struct mc_history *h, struct mc_error *err)
{
    struct mc_moments m = {0};
    struct mc_progress p;
    int rc;

    mc_progress_begin(&p, &o->cli, "counting", "images", mc_collect_images(opts));
    opts->pass.progress = progress;
    opts->pass.arg = &p;
    if (o->raw) {
        rc = mc_collect_activations(o->cli.output, be, &w[0], data, opts, h, err);
        mc_progress_end(&p);
        return rc;
    }
    rc = mc_collect_moments(&m, be, &w[0], &w[1], data, opts, err);
    mc_progress_end(&p);
    if (!rc)
        rc = mc_moments_write(&m, o->cli.output, h, err);
    if (!rc)
        mc_detail(&o->cli, "%llu images, %zu layer%s, batches of %zu, %s",
                  (unsigned long long)m.images, m.taps.n_taps, m.taps.n_taps == 1 ? "" : "s",
                  opts->pass.batch, be->describe);
    mc_moments_release(&m);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_backend *be = NULL;
    struct mc_dataset_reader *data = NULL;
    struct mc_weights w[2] = {{0}, {0}};
    struct mc_collect_opts opts = {0};
    struct mc_history *h = new_history(o);
    int rc = h ? mc_cli_ready(&o->cli, 1, err) : mc_no_memory(err);

    for (size_t i = 0; !rc && i < o->cli.n_operands; i++)
        rc = mc_weights_read(&w[i], o->cli.operands[i], h, err);
    if (!rc && !o->raw)
        rc = mc_graph_expect_same(w[0].graph, w[1].graph, o->cli.operands[0], o->cli.operands[1],
                                  err);
    if (rc || (rc = mc_dataset_open(&data, o->data, err)))
        goto out;
    if (!o->raw)
        mc_history_set_pair(h, w[0].id, w[1].id);
    mc_history_input(h, mc_dataset_stream(data));
    if ((rc = resolve_options(&opts, o, w[0].graph, mc_dataset_get_info(data), h, err)) ||
        (rc = mc_backend_open(&be, &o->cli.backend, err)))
        goto out;
    mc_computed_with_history(be, h);
    rc = observe(o, be, w, data, &opts, h, err);
out:
    mc_dataset_close(data);
    if (be)
        be->close(be);
    mc_weights_release(&w[0]);
    mc_weights_release(&w[1]);
    mc_history_free(h);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {.shards = 1};
    struct mc_error err = {0};

    mc_cli_parse(&o.cli, &argp, argc, argv, &o);
    check_options(&o);
    return mc_cli_exit(&o.cli, run(&o, &err), &err);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-acts: joint activation moments of two networks on data, or one network's activations. */
#include "tools/align/collect.h"
#include "tools/options/attack.h"
#include "tools/cli/cli.h"
#include "tools/load/loader.h"
#include "tools/cli/data_warnings.h"
#include "tools/cli/networks.h"

#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Compute the joint activation moments of two networks on data, for mc-corr."
    "\vRuns both networks in evaluation mode on the same unaugmented images. For every layer it "
    "sums the units' activations, their squares, and the products of each unit of A with each unit "
    "of B. mc-corr computes correlations from these sums, so no activations are stored and memory "
    "does not grow with the data. With --shard, several machines can share the images; mc-corr "
    "adds their outputs. With --raw, the output is one network's activations.\n\n"
    "Examples:\n"
    "  mc-acts --data train.mcz a.mcz b.mcz | mc-corr | mc-hungarian -o p.mcz\n"
    "  mc-acts --data train.mcz --shard 1/2 a.mcz b.mcz -o first-half.mcz\n"
    "  mc-acts --data train.mcz --raw a.mcz -o acts-a.mcz";

struct options {
    struct mc_cli cli;
    const char *data;
    struct mc_collect_opts collect; /* samples 0: the first 20%; batch 0: chosen by network */
    int raw;
    struct mc_attack_options attack;
};

static const char *const places[] = {"post", "pre", NULL};

static void parse_shard(const char *option, const char *arg, void *value)
{
    struct mc_collect_opts *c = value;
    char first[16] = "";
    const char *slash = strchr(arg, '/');

    if (!slash || (size_t)(slash - arg) >= sizeof first)
        mc_cli_usage("%s: I/N expected, such as 1/4 (got '%s')", option, arg);
    memcpy(first, arg, (size_t)(slash - arg));
    c->shards = (uint32_t)mc_parse_u64(option, slash + 1, 1, MC_MAX_SHARDS);
    c->shard = (uint32_t)mc_parse_u64(option, first, 1, c->shards) - 1;
}

/* clang-format off */
static const struct mc_option options[] = {
    {"data", 'd', MC_OPT_INPUT, MC_AT(data), .arg = "FILE.mcz", .help = "data set to run the networks on"},
    {"samples", 0, MC_OPT_U64, MC_AT(collect.pass.samples), .arg = "N", .min = 1, .max = INT64_MAX,
     .help = "use the first N images of the data set (default: its first 20%)"},
    {"shard", 0, MC_OPT_OTHER, MC_AT(collect), .arg = "I/N", .parse = parse_shard, .def = "1/1",
     .help = "split the batches into N parts and use part I (1 to N); a part can be empty"},
    {"at", 0, MC_OPT_CHOICE, MC_AT(collect.at_pre), .names = places, .def = "post",
     .help = "use activations after the ReLU (post) or before it (pre)"},
    {"raw", 0, MC_OPT_FLAG, MC_AT(raw), .help = "write one network's activations, batch by batch"},
    MC_OPTION_ATTACK(MC_AT(attack), 0, "run each network on its own adversarial examples instead of clean images"),
    {"batch", 0, MC_OPT_U64, MC_AT(collect.pass.batch), .arg = "N", .min = 1, .max = 65536,
     .help = "images per batch (default: up to 128, depending on the network's size)"},
    MC_OPTION_OUTPUT, MC_OPTION_SEED(MC_AT(collect.pass.seed), .needs = {"attack"}), MC_OPTIONS_BACKEND,
    MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY, {0}};
/* clang-format on */

static int is_attacked(const struct options *o)
{
    return mc_option_given(&o->cli, &o->attack) != NULL;
}

static void check_options(struct options *o)
{
    const size_t networks = o->raw ? 1 : 2;

    if (!o->data && o->cli.n_operands == networks + 1)
        mc_cli_usage("the data set is an option, not an operand: --data FILE.mcz");
    mc_cli_operands(&o->cli, o->raw ? "A.mcz" : "A.mcz B.mcz");
    mc_cli_require(o->data != NULL, "--data FILE.mcz");
    if (o->raw && o->collect.shards > 1)
        mc_cli_usage("--shard cannot be combined with --raw");
}

static int resolve_attack(struct options *o, const struct mc_dataset_info *info,
                          struct mc_error *err)
{
    char text[MC_ATTACK_TEXT];
    int rc = mc_attack_resolve(&o->attack, info, err);

    mc_attack_text(&o->attack, text);
    mc_attack_record(&o->attack, o->cli.history, NULL);
    mc_option_note(&o->cli, &o->collect.pass.seed, o->cli.history);
    o->collect.attack = &o->attack;
    if (!rc)
        mc_detail(&o->cli, "attack: %s", text);
    return rc;
}

/* Set the numbers that depend on data and network, and record them in the history. */
static int resolve_options(struct options *o, const struct mc_graph *g,
                           const struct mc_dataset_info *info, struct mc_error *err)
{
    struct mc_collect_opts *c = &o->collect;
    struct mc_history *h = o->cli.history;
    const int fifth = !c->pass.samples;
    int rc = mc_data_samples(info, o->data, c->pass.samples, 1, &c->pass.samples, err);

    if (rc)
        return rc;
    if (fifth)
        c->pass.samples = (info->n + 4) / 5;
    if (!c->pass.batch)
        c->pass.batch = mc_collect_batch(g, is_attacked(o));
    c->precision = o->cli.backend.precision;
    mc_history_int(h, "samples", (int64_t)c->pass.samples);
    mc_history_int(h, "batch", (int64_t)c->pass.batch);
    mc_option_note(&o->cli, &c->at_pre, h);
    mc_option_note(&o->cli, &o->raw, h);
    if (c->shards > 1) {
        mc_history_int(h, "shard", c->shard + 1);
        mc_history_int(h, "shards", c->shards);
    }
    rc = mc_data_expect(g, info, o->data, err);
    return rc || !is_attacked(o) ? rc : resolve_attack(o, info, err);
}

static int collect(struct options *o, const struct mc_weights *w, struct mc_dataset_reader *data,
                   struct mc_error *err)
{
    struct mc_collect_opts *c = &o->collect;
    struct mc_moments m = {0};
    struct mc_progress p;
    int rc;

    if (!mc_collect_images(c))
        mc_warn(&o->cli,
                "shard %u of %u is empty: there are fewer batches of %llu images than shards",
                c->shard + 1, c->shards, (unsigned long long)c->pass.batch);
    mc_progress_begin(&p, &o->cli, "counting", "images", mc_collect_images(c));
    c->pass.be = o->cli.be;
    c->pass.data = data;
    c->pass.progress = mc_progress_count_of;
    c->pass.arg = &p;
    rc = o->raw ? mc_collect_activations(o->cli.output, &w[0], c, o->cli.history, err)
                : mc_collect_moments(&m, &w[0], &w[1], c, err);
    snprintf(p.result, sizeof p.result, "%llu images", (unsigned long long)p.count);
    mc_progress_end(&p);
    if (!rc && !o->raw)
        rc = mc_moments_write(&m, o->cli.output, o->cli.history, err);
    if (!rc && !o->raw)
        mc_detail(&o->cli, "%llu images, %zu layer%s, batches of %llu, %s",
                  (unsigned long long)m.images, m.taps.n_taps, m.taps.n_taps == 1 ? "" : "s",
                  (unsigned long long)c->pass.batch, o->cli.be->describe);
    mc_moments_release(&m);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_dataset_reader *data = NULL;
    struct mc_weights w[2] = {{0}, {0}};
    struct mc_history *h = o->cli.history;
    const struct mc_stream first = {.path = o->cli.operands[0]};
    int rc = o->raw ? mc_weights_read(&w[0], first, h, err)
                    : mc_read_networks(&w[0], &w[1], &o->cli, 0, h, err);

    if (rc || (rc = mc_dataset_open(&data, o->data, err)))
        goto out;
    if (!o->raw)
        mc_history_set_pair(h, w[0].id, w[1].id);
    mc_history_input(h, mc_dataset_stream(data));
    if ((rc = resolve_options(o, w[0].graph, mc_dataset_get_info(data), err)) ||
        (rc = mc_cli_open_backend(&o->cli, err)))
        goto out;
    if (!o->raw)
        mc_history_str(h, "products", o->cli.be->products);
    mc_history_facts(h, o->cli.be->facts, o->cli.be->n_facts);
    rc = collect(o, w, data, err);
    for (int k = 0; !rc && k < (o->raw ? 1 : 2); k++)
        mc_data_warn(&o->cli, w[k].graph, w[k].dataset, mc_dataset_get_info(data), o->data,
                     MC_DATA_MEASURE);
out:
    mc_dataset_close(data);
    mc_weights_release(&w[0]);
    mc_weights_release(&w[1]);
    return rc;
}

MC_PROGRAM("mc-acts", "A.mcz B.mcz\n--raw A.mcz", doc, options, .check = check_options, .run = run)

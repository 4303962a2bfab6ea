/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-train: train a network on a data set. */
#include "formats/exchange/graph_json.h"
#include "tools/cli/networks.h"
#include "tools/curve/objective.h"
#include "tools/options/train.h"

#include <string.h>

struct options {
    struct mc_cli cli;
    struct mc_train_cli train;
    const char *net, *init;
    int no_normalise;
};

/* clang-format off */
static const struct mc_option options[] = {
    {"net", 'n', MC_OPT_TEXT, MC_AT(net), .arg = "NAME|FILE.json", .group = 10,
     .help = "network to train, " MC_HELP_NET},
    {"init", 0, MC_OPT_INPUT, MC_AT(init), .arg = "FILE.mcz", .group = 10,
     .help = "start from these weights instead of a new network"},
    {"no-normalise", 0, MC_OPT_FLAG, MC_AT(no_normalise), .group = 10, .flags = MC_OPT_HISTORY,
     .help = "build the network without normalisation, for pixels in [0,1], like the paper's robust networks"},
    MC_OPTIONS_RUN, {0}};
/* clang-format on */

static const char doc[] =
    "Train a network by SGD and write its weights."
    "\v-v first prints how much memory the run uses. docs/reference/networks.md describes the "
    "networks; for any other network, see docs/tutorial.md.\n\nExamples:\n"
    "  mc-train --net tinyten --data train.mcz --epochs 20 --seed 1 -o a.mcz\n"
    "  mc-train --net mlp:512 --data train.mcz --checkpoint c.mcz --resume -o m.mcz";

/* Build a new network for the data, or read --init. */
static int make_network(const struct options *o, struct mc_weights *w, struct mc_error *err)
{
    const struct mc_dataset_info *info = &o->train.images.info;
    struct mc_graph *g = NULL;

    if (o->init) {
        int rc = mc_weights_read(w, (struct mc_stream){.path = o->init}, o->cli.history, err);
        if (!rc)
            mc_weights_widen(w);
        return rc ? rc : mc_data_expect(w->graph, info, o->train.data, err);
    }
    struct mc_net_spec spec = info->spec;
    for (int c = 0; o->no_normalise && c < MC_MAX_CHANNELS_IN; c++) {
        spec.mean[c] = 0;
        spec.std[c] = 1;
    }
    int rc = mc_network_build(&g, o->net, &spec, err);
    if (!rc)
        rc = mc_weights_init(w, g, info->name, err);
    if (!rc)
        mc_graph_init(g, o->train.train.seed, w->params, w->stats);
    mc_graph_free(g);
    return rc;
}

/* Record the network and its initial weights. A graph file is identified by its graph, because its
 * name is not unique. */
static int record_network(struct options *o, const struct mc_weights *w, struct mc_error *err)
{
    struct mc_checkpoint *state = &o->train.state;
    struct mc_history *h = o->cli.history;
    char id[MC_ID_LEN];

    mc_history_str(h, "net", w->graph->net);
    mc_options_note(&o->cli, o, h);
    mc_checkpoint_set(state, "net", "%s%s", w->graph->net,
                      o->no_normalise ? " --no-normalise" : "");
    mc_checkpoint_set(state, "init", "%s", w->id);
    if (!o->net || !mc_graph_json_is(o->net))
        return 0;
    int rc = mc_graph_id(w->graph, id, err);
    if (!rc) {
        mc_history_str(h, "graph", id);
        mc_checkpoint_set(state, "graph", "%s", id);
    }
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_weights w = {0};
    struct mc_curve_objective objective;
    int rc = mc_train_cli_open(&o->train, err);

    if (rc || (rc = mc_train_cli_open_data(&o->train, err)) || (rc = make_network(o, &w, err)) ||
        (rc = record_network(o, &w, err)))
        goto out;
    if (o->train.train.epochs) {
        rc = mc_train_cli_resolve(&o->train, w.graph, w.dataset, w.dataset, err);
        memcpy(w.dataset, o->train.images.info.name, sizeof w.dataset);
    } else
        mc_option_note(&o->cli, &o->train.train.seed, o->cli.history);
    if (rc)
        goto out;
    mc_detail(&o->cli, "%s: %zu parameters, %.1f MFLOP an image; %s", w.graph->net,
              mc_graph_count(w.graph), mc_graph_flops(w.graph) / 1e6, o->cli.be->describe);
    mc_curve_objective_network(&objective, &w);
    if (!(rc = mc_train_cli_run(&o->train, w.graph, &objective.objective, err)))
        rc = mc_weights_write(&w, o->cli.output, o->cli.history, err);
out:
    mc_weights_release(&w);
    return mc_train_cli_close(&o->train, rc, err);
}

static void add_options(struct options *o)
{
    mc_train_cli_options(&o->train, &o->cli, "0.1");
}

static void check_options(struct options *o)
{
    mc_train_cli_check(&o->train);
    o->cli.not_operands = "--net NAME --data DATASET.mcz";
    mc_cli_operands(&o->cli, "");
    if (o->net && o->init)
        mc_cli_usage("--net and --init cannot be combined");
    mc_cli_require(o->net || o->init, "--net NAME (or --init FILE.mcz)");
    mc_cli_require(o->train.data != NULL, "--data FILE.mcz");
    if (o->no_normalise && (o->init || (o->net && mc_graph_json_is(o->net))))
        mc_cli_usage("--no-normalise requires --net NAME (%s has its own normalisation)",
                     o->init ? "--init" : o->net);
    if (o->net && mc_graph_json_is(o->net))
        mc_files_add(&o->cli.files, MC_FILE_INPUT, "net", o->net);
}

MC_PROGRAM("", doc, options, .add = add_options, .check = check_options, .run = run)

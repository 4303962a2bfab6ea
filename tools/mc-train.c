/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-train: train a network on a data set. */
#include "formats/exchange/graph_json.h"
#include "formats/network/values.h"
#include "tools/cli/data_warnings.h"
#include "tools/cli/networks.h"
#include "tools/curve/objective.h"
#include "tools/options/train.h"

#include <math.h>
#include <string.h>

struct options {
    struct mc_cli cli;
    struct mc_train_cli train;
    const char *net, *init, *val;
    int no_normalise;
};

/* A network's training that also measures --val. */
struct validated {
    struct mc_curve_objective objective; /* first: the loop's pointer to it is one to this */
    const struct mc_cli *cli;
    const char *val;
    const struct mc_weights *w;
    struct mc_eval_result result;
};

/* clang-format off */
static const struct mc_option options[] = {
    {"net", 'n', MC_OPT_TEXT, MC_AT(net), .arg = "NAME|FILE.json", .group = 10,
     .help = "network to train, " MC_HELP_NET},
    {"init", 0, MC_OPT_INPUT, MC_AT(init), .arg = "FILE.mcz", .group = 10,
     .help = "start from these weights instead of a new network"},
    {"no-normalise", 0, MC_OPT_FLAG, MC_AT(no_normalise), .group = 10, .flags = MC_OPT_HISTORY,
     .help = "build the network without normalisation, for pixels in [0,1], like the paper's robust networks"},
    {"val", 0, MC_OPT_INPUT, MC_AT(val), .arg = "FILE.mcz", .group = 10,
     .help = "measure loss and accuracy on this data set after every epoch, like mc-eval"},
    MC_OPTIONS_RUN, {0}};
/* clang-format on */

static const char doc[] =
    "Train a network by SGD and write its weights."
    "\v-v first prints how much memory the run uses. --val changes nothing in the output: the "
    "progress line, -v, --log-json (val_loss, val_accuracy) and the last line show what it "
    "measures, and mc-plot log draws it. docs/reference/networks.md describes the "
    "networks; for any other network, see docs/tutorial.md.\n\nExamples:\n"
    "  mc-train --net tinyten --data train.mcz --epochs 20 --seed 1 -o a.mcz\n"
    "  mc-train --net tinyten -d train.mcz --val test.mcz --log-json a.json -o a.mcz\n"
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

/* Check before the training that --val can be measured after every epoch. */
static int check_val(const struct options *o, const struct mc_weights *w, struct mc_error *err)
{
    struct mc_dataset_reader *data = NULL;
    int rc = o->val ? mc_dataset_open(&data, o->val, err) : 0;

    if (rc || !o->val)
        return rc;
    const struct mc_dataset_info *info = mc_dataset_get_info(data);
    if (!(rc = mc_data_expect(w->graph, info, o->val, err)) && !mc_values_rereadable(o->val))
        rc = mc_fail(err, MC_EUSAGE,
                     "--val cannot be %s, because it is read after every epoch (use a file)",
                     strcmp(o->val, "-") != 0 ? "a pipe" : "standard input");
    if (!rc)
        mc_data_warn(&o->cli, w->graph, w->dataset, info, o->val, MC_DATA_MEASURE);
    mc_dataset_close(data);
    return rc;
}

/* Measure --val after an epoch. Neither the state on the device nor the random numbers change. */
static int validate(struct mc_objective *objective, struct mc_train *f, uint64_t epoch, int *stop,
                    struct mc_error *err)
{
    struct validated *v = (struct validated *)objective;
    const float *vector = v->w->params;
    const double one = 1;
    const struct mc_span span = {.graph = v->w->graph,
                                 .k = 1,
                                 .T = 1,
                                 .vectors = &vector,
                                 .coef = &one,
                                 .stats = v->w->stats};
    struct mc_loader_options pass = {.be = f->be, .batch = f->o->batch};
    const struct mc_eval_output out = {.result = &v->result};
    int rc = objective->finish(objective, f, err); /* copies the network to v->w */

    (void)stop;
    if (rc)
        return rc;
    if (!(rc = mc_dataset_open(&pass.data, v->val, err)))
        rc = mc_eval_loss(&span, &pass, NULL, &out, NULL, err);
    mc_dataset_close(pass.data);
    if (rc != MC_EFAIL && rc != MC_EINPUT)
        return rc;
    /* the training matters more than its measurement */
    mc_warn(v->cli, "--val is left out in epoch %llu: %s", (unsigned long long)epoch + 1,
            err->text);
    v->result.loss = v->result.accuracy = NAN;
    return 0;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_weights w = {0};
    struct validated v = {.cli = &o->cli, .val = o->val, .w = &w};
    int rc = mc_train_cli_open(&o->train, err);

    if (rc || (rc = mc_train_cli_open_data(&o->train, err)) || (rc = make_network(o, &w, err)) ||
        (rc = record_network(o, &w, err)))
        goto out;
    if (o->train.train.epochs) {
        rc = mc_train_cli_resolve(&o->train, w.graph, w.dataset, w.dataset, err);
        memcpy(w.dataset, o->train.images.info.name, sizeof w.dataset);
        rc = rc ? rc : check_val(o, &w, err);
    } else
        mc_option_note(&o->cli, &o->train.train.seed, o->cli.history);
    if (rc)
        goto out;
    mc_detail(&o->cli, "%s: %zu parameters, %.1f MFLOP an image; %s", w.graph->net,
              mc_graph_count(w.graph), mc_graph_flops(w.graph) / 1e6, o->cli.be->describe);
    mc_curve_objective_network(&v.objective, &w);
    if (o->val) {
        v.objective.objective.after = validate;
        o->train.val = &v.result;
    }
    if (!(rc = mc_train_cli_run(&o->train, w.graph, &v.objective.objective, err)))
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
    if (o->val && !o->train.train.epochs)
        mc_cli_usage("--val has no effect with --epochs 0");
    if (o->no_normalise && (o->init || (o->net && mc_graph_json_is(o->net))))
        mc_cli_usage("--no-normalise requires --net NAME (%s has its own normalisation)",
                     o->init ? "--init" : o->net);
    if (o->net && mc_graph_json_is(o->net))
        mc_files_add(&o->cli.files, MC_FILE_INPUT, "net", o->net);
}

MC_PROGRAM("mc-train", "", doc, options, .add = add_options, .check = check_options, .run = run)

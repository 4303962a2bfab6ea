/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-merge: the mean of networks. */
#include "formats/codecs/weights.h"
#include "tools/cli/networks.h"
#include "tools/options/weights.h"

static const char doc[] =
    "Write the mean of two or more networks of one architecture."
    "\vEach parameter and each batch-norm statistic is the mean, or weighted mean, of those of the "
    "networks. Align the networks first (mc-permute): the mean of unaligned networks is useless. "
    "The networks may have no graph. Sums are in float64 and rounded once, so copies of one "
    "network merge to that network bit for bit. If a tensor has one type in all networks, the "
    "result has it too; if float16, bfloat16 or float32 are mixed, the result is float32. Memory: "
    "8 bytes per parameter, for any number of networks.\n\n"
    "Averaged batch-norm statistics do not fit the merged network: mc-repair measures new ones.\n\n"
    "Examples:\n"
    "  mc-merge a.mcz pb.mcz -o merged.mcz\n"
    "  mc-merge --weights 2,1,1 a.mcz pb.mcz pc.mcz -o merged.mcz";

struct options {
    struct mc_cli cli;
    struct mc_weights_option weights;
};

/* clang-format off */
static const struct mc_option options[] = {
    MC_OPTION_WEIGHTS(MC_AT(weights), .help = "weights of the networks, in their order; " MC_HELP_WEIGHTS),
    MC_OPTION_OUTPUT, MC_OPTION_NO_HISTORY, {0}};
/* clang-format on */

static int run(struct options *o, struct mc_error *err)
{
    const char **path = o->cli.operands;
    struct mc_history *h = o->cli.history;
    struct mc_weights_sum sum = {0};
    int rc = 0;

    for (size_t i = 0; !rc && i < o->cli.n_operands; i++) {
        rc = mc_weights_sum_open(&sum, (struct mc_stream){.path = path[i], .declared = 1}, h, err);
        if (!rc && i)
            rc = mc_expect_same_network(&o->cli, sum.first.graph, sum.next, path[0], path[i], err);
        if (!rc)
            rc = mc_weights_sum_add(&sum, mc_weights_option_get(&o->weights, i), err);
    }
    mc_option_note(&o->cli, &o->weights, h);
    if (!rc)
        rc = mc_weights_sum_write(&sum, o->cli.output, h, err);
    mc_weights_sum_release(&sum);
    mc_weights_option_release(&o->weights);
    return rc;
}

static void check_options(struct options *o)
{
    if (o->cli.n_operands < 2)
        mc_cli_operands(&o->cli, "A.mcz B.mcz");
    else
        mc_weights_option_check(&o->weights, o->cli.n_operands);
}

MC_PROGRAM("A.mcz B.mcz...", doc, options, .check = check_options, .run = run)

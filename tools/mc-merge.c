/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-merge: the mean of networks. */
#include "formats/network/combine.h"
#include "libcommon/base/alloc.h"
#include "tools/cli/data_warnings.h"
#include "tools/cli/networks.h"
#include "tools/options/weights.h"

#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Write the mean of two or more networks of one architecture."
    "\vEach parameter and each batch-norm statistic is the mean, or weighted mean, of those of the "
    "networks. Align the networks first (mc-permute): the mean of unaligned networks is useless. "
    "The networks may have no graph. Sums are in float64 and rounded once, so copies of one "
    "network merge to that network bit for bit. If a tensor has one type in all networks, the "
    "result has it too; if float16, bfloat16 or float32 are mixed, the result is float32. Memory: "
    "at "
    "most 66 MiB per network, of any size.\n\n"
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

/* Set the types of the mean: that of all networks, float32 where they differ. */
static void common_types(struct mc_term *terms, size_t n, enum mc_dtype *types)
{
    const size_t n_tensors = terms[0].values->n;

    for (size_t i = 0; i < n_tensors; i++) {
        types[i] = mc_values_type(terms[0].values, i);
        for (size_t j = 1; j < n; j++)
            if (mc_values_type(terms[j].values, i) != types[i])
                types[i] = MC_F32;
    }
}

/* Write the mean of the open networks, and verify their ends. */
static int write_mean(struct options *o, struct mc_term *terms, size_t n, struct mc_error *err)
{
    const struct mc_curve *first = &terms[0].values->curve;
    struct mc_weights mean = {.graph = first->graph};
    struct mc_writer *w = NULL;
    int rc = mc_new(&mean.types, terms[0].values->n, err);

    memcpy(mean.dataset, first->dataset, sizeof mean.dataset);
    if (!rc) {
        common_types(terms, n, mean.types);
        rc = mc_weights_open(&w, &mean, o->cli.output, o->cli.history, err);
    }
    if (!rc)
        rc = mc_combine(w, terms, n, mean.types, terms[0].values->n, MC_COMBINE_MEAN, err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = mc_values_end(terms[i].values, err);
    free(mean.types);
    return mc_writer_close(w, rc, NULL, err);
}

static int run(struct options *o, struct mc_error *err)
{
    const char **path = o->cli.operands;
    const size_t n = o->cli.n_operands;
    struct mc_values *values = NULL;
    struct mc_term *terms = NULL;
    int rc = mc_new(&values, n, err);

    if (!rc)
        rc = mc_new(&terms, n, err);
    for (size_t i = 0; !rc && i < n; i++) {
        terms[i] = (struct mc_term){&values[i], 0, mc_weights_option_get(&o->weights, i)};
        rc =
            mc_values_open(&values[i], "weights",
                           (struct mc_stream){.path = path[i], .declared = 1}, o->cli.history, err);
        if (!rc && i)
            rc = mc_expect_same_network(&o->cli, values[0].curve.graph, values[i].curve.graph,
                                        path[0], path[i], err);
        if (!rc && i)
            mc_data_warn_pair(&o->cli, path[0], values[0].curve.dataset, path[i],
                              values[i].curve.dataset);
    }
    mc_option_note(&o->cli, &o->weights, o->cli.history);
    if (!rc)
        rc = write_mean(o, terms, n, err);
    for (size_t i = 0; values && i < n; i++)
        mc_values_close(&values[i]);
    free(values);
    free(terms);
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

MC_PROGRAM("mc-merge", "A.mcz B.mcz...", doc, options, .check = check_options, .run = run)

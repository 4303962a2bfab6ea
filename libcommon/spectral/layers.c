/* SPDX-License-Identifier: Apache-2.0
 *
 * The linear layers of a network, if spectral norms can be bounded for it. */
#include "libcommon/spectral/spectral.h"

#include <stdlib.h>

static int refuse(const struct mc_graph *g, int node, const char *why, struct mc_error *err)
{
    return mc_fail(err, MC_EUSAGE,
                   "%s '%s': %s (spectral norms can be bounded only for linear layers with ReLUs "
                   "between them, such as mlp)",
                   mc_op_name(g->nodes[node].op), g->nodes[node].name, why);
}

static size_t param_at(const struct mc_graph *g, int node)
{
    size_t i = 0;

    while (g->params[i].node != node || g->params[i].offset != g->nodes[node].weight.offset)
        i++;
    return i;
}

/* A graph with one loss head and no node with two inputs is a chain in node order, because every
 * node leads to a head. */
int mc_spectral_layers(const struct mc_graph *g, struct mc_spectral_layers *l, struct mc_error *err)
{
    int loss = -1, active = -1; /* active: the ReLU since the last linear layer */

    *l = (struct mc_spectral_layers){.weight = calloc(g->n_params + 1, sizeof *l->weight)};
    if (!l->weight)
        return mc_fail(err, MC_ENOMEM, "out of memory for %zu layers", g->n_params);
    for (int i = 0; i < g->n_nodes; i++) {
        const enum mc_op op = g->nodes[i].op;
        if (op == MC_OP_LINEAR) {
            if (l->L && (size_t)g->nodes[g->params[l->weight[l->L - 1]].node].c > l->M)
                l->M = (size_t)g->nodes[g->params[l->weight[l->L - 1]].node].c;
            l->weight[l->L++] = param_at(g, i);
            active = -1;
        } else if (op == MC_OP_RELU) {
            if (!l->L)
                return refuse(g, i, "no linear layer before it", err);
            if (active >= 0)
                return refuse(g, i, "second ReLU after the same linear layer", err);
            active = i;
        } else if (op == MC_OP_LOSS) {
            if (loss >= 0)
                return refuse(g, i, "second loss head", err);
            loss = i;
        } else if (op != MC_OP_NORMALISE && op != MC_OP_FLATTEN) {
            return refuse(g, i, "not a linear layer or ReLU", err);
        }
    }
    if (active >= 0)
        return refuse(g, active, "no linear layer after it", err);
    if (!l->L)
        return refuse(g, loss, "no linear layer before it", err);
    if (g->nodes[loss].loss_weight != 1)
        return mc_fail(err, MC_EUSAGE,
                       "loss '%s' must have weight 1 for the theorem's bound (got %g)",
                       g->nodes[loss].name, (double)g->nodes[loss].loss_weight);
    return 0;
}

void mc_spectral_layers_release(struct mc_spectral_layers *l)
{
    free(l->weight);
    *l = (struct mc_spectral_layers){0};
}

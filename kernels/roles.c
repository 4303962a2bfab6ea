/* SPDX-License-Identifier: Apache-2.0
 *
 * Roles of a plan's nodes. */
#include "kernels/roles.h"

#include <stdlib.h>

static void mark_live(const struct mc_graph *g, const struct mc_plan_opts *o, struct mc_role *roles)
{
    for (size_t t = 0; t < o->n_taps; t++)
        roles[o->taps[t].node].tapped = roles[o->taps[t].node].live = 1;
    roles[g->logits].tapped = 1;
    roles[0].tapped = 1; /* one load serves several runs */
    for (int i = g->n_nodes - 1; i >= 0; i--) {
        const struct mc_node *n = &g->nodes[i];
        struct mc_role *r = &roles[i];
        if (n->op == MC_OP_LOSS && (!n->train_only || o->train_only))
            r->live = r->reach = 1;
        for (int k = 0; r->live && k < n->n_in; k++) {
            struct mc_role *in = &roles[n->in[k]];
            in->live = 1;
            in->users++;
            in->reach |= r->reach;
            in->losers += r->reach;
        }
    }
}

static void mark_gradients(const struct mc_graph *g, const struct mc_plan_opts *o,
                           struct mc_role *roles)
{
    for (int i = 0; i < g->n_nodes && o->backward; i++) {
        const struct mc_node *n = &g->nodes[i];
        int depends = i == 0 ? o->input_grad : n->weight.count + n->bias.count > 0;
        for (int k = 0; k < n->n_in; k++)
            depends |= roles[n->in[k]].need_grad;
        roles[i].need_grad = depends && roles[i].reach && n->op != MC_OP_LOSS;
    }
}

static void fuse(const struct mc_graph *g, struct mc_role *roles)
{
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        struct mc_role *r = &roles[i];
        const int norm = n->op == MC_OP_BATCHNORM;
        r->relu = -1;
        if (!r->live || r->users != 1 || (!norm && n->op != MC_OP_LINEAR && n->op != MC_OP_CONV))
            continue;
        for (int j = i + 1; j < g->n_nodes; j++) { /* its only user */
            const struct mc_node *user = &g->nodes[j];
            if (!roles[j].live || user->n_in != 1 || user->in[0] != i)
                continue;
            if (norm && user->op == MC_OP_RELU) {
                r->relu = j;
                roles[j].done = 1;
            } else if (!norm && user->op == MC_OP_BATCHNORM && !r->tapped) {
                r->skip_bias = n->has_bias;
            }
        }
    }
}

struct mc_role *mc_roles_new(const struct mc_graph *g, const struct mc_plan_opts *o)
{
    struct mc_role *roles = calloc((size_t)g->n_nodes, sizeof *roles);

    if (!roles)
        return NULL;
    mark_live(g, o, roles);
    mark_gradients(g, o, roles);
    fuse(g, roles);
    return roles;
}

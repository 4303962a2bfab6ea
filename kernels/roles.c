/* SPDX-License-Identifier: Apache-2.0
 *
 * Roles of a plan's nodes. */
#include "kernels/roles.h"

#include <stdlib.h>

static void mark_live(const struct mc_graph *g, const struct mc_plan_opts *o, struct mc_role *roles)
{
    for (size_t t = 0; t < o->n_taps; t++) {
        struct mc_role *r = &roles[o->taps[t].node];
        r->tapped = r->live = 1;
        r->kept |= !o->joint;
    }
    roles[g->logits].tapped = roles[g->logits].kept = 1;
    roles[0].tapped = roles[0].kept = 1; /* one load serves several runs */
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
            in->loss_users += r->reach;
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

/* Return the first live node that reads the output of a live node. */
static int first_user(const struct mc_graph *g, const struct mc_role *roles, int node)
{
    for (int j = node + 1; j < g->n_nodes; j++)
        for (int k = 0; roles[j].live && k < g->nodes[j].n_in; k++)
            if (g->nodes[j].in[k] == node)
                return j;
    return -1;
}

static void fuse(const struct mc_graph *g, struct mc_role *roles)
{
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        struct mc_role *r = &roles[i];
        const int norm = n->op == MC_OP_BATCHNORM;
        r->relu = r->sum = r->shares = -1;
        r->ready = i;
        if (!r->live || r->users != 1 || (!norm && n->op != MC_OP_LINEAR && n->op != MC_OP_CONV))
            continue;
        const int j = first_user(g, roles, i);
        if (norm && g->nodes[j].op == MC_OP_RELU) {
            r->relu = j;
            roles[j].norm = i;
        } else if (!norm && g->nodes[j].op == MC_OP_BATCHNORM && !r->tapped) {
            r->skip_bias = n->has_bias;
        }
    }
}

/* Return whether the addition is the first node of the backward pass that writes the gradient of
 * `input`. The backward pass computes the addition at node `from`. */
static int may_share(const struct mc_graph *g, const struct mc_role *roles, int sum, int from,
                     int input)
{
    int times = 0;

    for (int j = from; j < g->n_nodes; j++)
        for (int k = 0; roles[j].live && k < g->nodes[j].n_in; k++)
            if (g->nodes[j].in[k] == input && (j != sum || times++))
                return 0;
    return input > 0 && roles[input].need_grad && roles[sum].need_grad;
}

/* Return whether a node between the batch norm and the addition reads `other`. Its gradient would
 * then be added up in another order, because the batch norm writes the addition's term. */
static int is_read_between(const struct mc_graph *g, const struct mc_role *roles, int other,
                           int norm, int sum)
{
    for (int j = norm + 1; j < sum; j++)
        for (int k = 0; roles[j].live && k < g->nodes[j].n_in; k++)
            if (g->nodes[j].in[k] == other)
                return 1;
    return 0;
}

static void fuse_additions(const struct mc_graph *g, struct mc_role *roles)
{
    for (int i = 0; i < g->n_nodes; i++) {
        struct mc_role *r = &roles[i];
        if (g->nodes[i].op != MC_OP_BATCHNORM || !r->live || r->users != 1 || r->tapped)
            continue;
        const int j = first_user(g, roles, i);
        const struct mc_node *sum = &g->nodes[j];
        if (sum->op != MC_OP_ADD || sum->n_in != 2 || roles[j].users != 1)
            continue;
        const int other = sum->in[sum->in[0] == i], k = first_user(g, roles, j);
        if (other >= i || g->nodes[k].op != MC_OP_RELU)
            continue;
        if (is_read_between(g, roles, other, i, j))
            continue;
        r->relu = k;
        r->sum = j;
        r->other = other;
        roles[j].norm = roles[k].norm = i;
        if (may_share(g, roles, j, i, other))
            roles[other].shares = j;
    }
}

/* Share gradients with additions that no batch norm computes. */
static void share_gradients(const struct mc_graph *g, struct mc_role *roles)
{
    for (int j = 0; j < g->n_nodes; j++) {
        const struct mc_node *n = &g->nodes[j];
        int k = n->op == MC_OP_ADD && !roles[j].norm ? 0 : n->n_in;
        while (k < n->n_in && !may_share(g, roles, j, j, n->in[k]))
            k++;
        if (k < n->n_in)
            roles[n->in[k]].shares = j;
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
    fuse_additions(g, roles);
    share_gradients(g, roles);
    return roles;
}

int mc_adds_gradient(const struct mc_graph *g, const struct mc_role *roles, int node)
{
    for (int j = node + 1; j < g->n_nodes; j++)
        for (int k = 0; roles[j].live && roles[j].reach && k < g->nodes[j].n_in; k++)
            if (g->nodes[j].in[k] == g->nodes[node].in[0])
                return 1;
    return 0;
}

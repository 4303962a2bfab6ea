/* SPDX-License-Identifier: Apache-2.0
 *
 * The role of each node in a plan, the same for every backend: which nodes run, which need a
 * gradient, and which are fused. A batch norm computes the ReLU after it if nothing else reads its
 * output. It also replaces the bias of the layer before it if nothing else reads that layer's
 * output. A batch norm also computes an addition before that ReLU. */
#ifndef MC_ROLES_H
#define MC_ROLES_H

#include "kernels/backend.h"

struct mc_role {
    int live;       /* computed in this plan */
    int reach;      /* a loss depends on it */
    int tapped;     /* its output is read */
    int kept;       /* its output is read after the forward pass */
    int users;      /* number of live nodes' inputs that it feeds */
    int loss_users; /* those of nodes that reach a loss */
    int need_grad;  /* the gradient of its output is needed */
    int relu;       /* batch norm: node of the ReLU that it computes, or -1 */
    int sum;        /* batch norm: node of the addition before that ReLU, or -1 */
    int other;      /* batch norm: the addition's other input, computed earlier */
    int shares;     /* addition whose gradient is the first term of this node's gradient, so that
                       both may share memory; or -1. Each addition is shared by at most one node */
    int norm;       /* ReLU or addition: node of the batch norm that computes it, or 0 */
    int ready;      /* node after which the output exists: this one, unless a backend delays it */
    int skip_bias;  /* the batch norm after it replaces its bias */
};

/* Returns the roles of all nodes (g->n_nodes), which the caller frees. NULL: out of memory. */
struct mc_role *mc_roles_new(const struct mc_graph *g, const struct mc_plan_opts *o);

/* Returns whether the gradient of the node's first input already has a value when a backward pass
 * reaches the node. */
int mc_adds_gradient(const struct mc_graph *g, const struct mc_role *roles, int node);

/* Returns whether a loss is the main head's. */
static inline int mc_is_main(const struct mc_graph *g, const struct mc_node *loss)
{
    return !loss->train_only && loss->in[0] == g->logits;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The role of each node in a plan, the same for every backend: which nodes run, which are between
 * the parameters (or pixels) and a loss, and which are fused. A batch norm computes the ReLU that
 * alone follows it, and replaces the bias of a layer that it alone follows. If a backend supports
 * it, a batch norm also computes an addition before that ReLU. */
#ifndef MC_ROLES_H
#define MC_ROLES_H

#include "kernels/backend.h"

struct mc_role {
    int live;       /* computed in this plan */
    int reach;      /* a loss depends on it */
    int tapped;     /* its output is read */
    int users;      /* inputs of live nodes that it feeds */
    int loss_users; /* those of them whose node reaches a loss */
    int need_grad;  /* the gradient of its output is needed */
    int relu;       /* batch norm: node of the ReLU that it computes, or -1 */
    int sum;        /* batch norm: node of the addition before that ReLU, or -1 */
    int other;      /* batch norm: the addition's other input, computed earlier */
    int shares;     /* addition whose gradient is the first part of this node's, so that both may
                      share memory; or -1. At most one node names an addition */
    int done;       /* ReLU, addition: a batch norm computes it */
    int skip_bias;  /* the batch norm after it replaces its bias */
};

/* Roles of all nodes (g->n_nodes), to be freed; NULL: out of memory. adds: batch norms compute
 * additions, and gradients may be shared. */
struct mc_role *mc_roles_new(const struct mc_graph *g, const struct mc_plan_opts *o, int adds);

/* Returns whether a loss is the main head's. */
static inline int mc_is_main(const struct mc_graph *g, const struct mc_node *loss)
{
    return !loss->train_only && loss->in[0] == g->logits;
}

#endif

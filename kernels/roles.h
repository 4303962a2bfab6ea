/* SPDX-License-Identifier: Apache-2.0
 *
 * What each node of a graph is to a plan, the same for every backend: which nodes run, which lie
 * between the parameters (or pixels) and a loss, and what is done together: a ReLU that alone
 * follows a batch norm by that batch norm, and so a bias that a batch norm alone follows; by a
 * backend that offers it, an addition between batch norm and ReLU too. */
#ifndef MC_ROLES_H
#define MC_ROLES_H

#include "kernels/backend.h"

struct mc_role {
    int live;      /* computed in this plan */
    int reach;     /* a loss depends on it */
    int tapped;    /* somebody reads its output */
    int users;     /* inputs of live nodes that it feeds */
    int losers;    /* of those, inputs of nodes that reach a loss */
    int need_grad; /* the gradient of its output is wanted */
    int relu;      /* batch norm: number of the ReLU done with it, or -1 */
    int sum;       /* batch norm: of the addition in front of that ReLU, or -1 */
    int other;     /* and of what is added, which is computed before */
    int shares;    /* its gradient begins as that of this addition, and may lie there; or -1. An
                      addition is named by one node at most */
    int done;      /* ReLU, addition: its batch norm does it */
    int skip_bias; /* its bias is seen to by the batch norm behind it */
};

/* Of every node (g->n_nodes), to be freed; NULL: out of memory. adds: batch norms do additions, and
 * gradients may be shared. */
struct mc_role *mc_roles_new(const struct mc_graph *g, const struct mc_plan_opts *o, int adds);

/* Is a loss that of the main head? */
static inline int mc_is_main(const struct mc_graph *g, const struct mc_node *loss)
{
    return !loss->train_only && loss->in[0] == g->logits;
}

#endif

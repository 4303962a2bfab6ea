/* SPDX-License-Identifier: Apache-2.0
 *
 * Builder functions for operations that only graph files have. Header only. */
#ifndef MC_TEST_BUILDERS_H
#define MC_TEST_BUILDERS_H

#include "libcommon/graph/graph.h"

/* Add a node with one input. */
static inline int mc_graph_one(struct mc_graph *g, const char *name, int in, struct mc_node n)
{
    n.in[0] = in;
    n.n_in = 1;
    return mc_graph_node(g, name, &n);
}

static inline int mc_graph_layernorm(struct mc_graph *g, const char *name, int in, float eps)
{
    return mc_graph_one(g, name, in,
                        (struct mc_node){.op = MC_OP_LAYERNORM,
                                         .eps = eps,
                                         .weight_init = MC_INIT_ONE,
                                         .bias_init = MC_INIT_ZERO});
}

static inline int mc_graph_groupnorm(struct mc_graph *g, const char *name, int in, int groups,
                                     float eps)
{
    return mc_graph_one(g, name, in,
                        (struct mc_node){.op = MC_OP_GROUPNORM,
                                         .groups = groups,
                                         .eps = eps,
                                         .weight_init = MC_INIT_ONE,
                                         .bias_init = MC_INIT_ZERO});
}

/* An activation of op_list.h. factor: its setting, ignored if it has none. */
static inline int mc_graph_activation(struct mc_graph *g, const char *name, enum mc_op op, int in,
                                      float factor)
{
    return mc_graph_one(g, name, in, (struct mc_node){.op = op, .factor = factor});
}

static inline int mc_graph_mul(struct mc_graph *g, const char *name, int a, int b)
{
    struct mc_node n = {.op = MC_OP_MUL, .in = {a, b}, .n_in = 2};

    return mc_graph_node(g, name, &n);
}

/* before, after: zeros of each side, as channels, height, width. */
static inline int mc_graph_pad(struct mc_graph *g, const char *name, int in, const int before[3],
                               const int after[3])
{
    return mc_graph_one(g, name, in,
                        (struct mc_node){.op = MC_OP_PAD,
                                         .before = {before[0], before[1], before[2]},
                                         .after = {after[0], after[1], after[2]}});
}

#endif

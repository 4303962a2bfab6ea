/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling, and what its windows share with a convolution's. */
#include "libcommon/graph/ops/row.h"

/* clang-format off */
static const struct mc_field pool_fields[] = {
    MC_WINDOW_FIELDS,
    {"ceil", MC_FIELD_FLAG, MC_FIELD_ONE, MC_NODE_AT(ceil_mode), 0, 1,
     .meaning = "round the output's size up"},
    {0},
};

_Static_assert(offsetof(struct mc_node, w) == offsetof(struct mc_node, h) + sizeof(int),
               "\"size\" is h and w");
static const struct mc_field adaptpool_fields[] = {
    {"size", MC_FIELD_INT, MC_FIELD_SIDES, MC_NODE_AT(h), 1, MC_MAX_SIDE,
     .meaning = "size of the output"},
    {0},
};
/* clang-format on */

int mc_op_windows(struct mc_graph *g, struct mc_node *n)
{
    const struct mc_node *in = &g->nodes[n->in[0]];
    const int pool = n->op != MC_OP_CONV;
    int side[2] = {in->h, in->w};

    for (int i = 0; i < 2; i++) {
        int k = n->kernel[i], s = n->stride[i], p = n->pad[i], last = side[i] + 2 * p - k, out = 0;
        /* a window inside the padding has no value, so PyTorch bounds the padding of pools */
        if ((pool && p > k / 2) || last < 0)
            return mc_graph_fail(
                g, "node \"%s\": %s %d, stride %d, pad %d do not fit an input of %dx%d", n->name,
                pool ? "window" : "kernel", k, s, p, in->h, in->w);
        out = (last + (pool && n->ceil_mode ? s - 1 : 0)) / s + 1;
        /* the last window must not start after the end */
        if (pool && n->ceil_mode && (out - 1) * s >= side[i] + p)
            out--;
        side[i] = out;
    }
    n->h = side[0];
    n->w = side[1];
    return 0;
}

static int globalpool_shape(struct mc_graph *g, struct mc_node *n)
{
    (void)g;
    n->h = n->w = 1;
    return 0;
}

const struct mc_op_info mc_op_maxpool = {
    MC_ONE_INPUT,
    .out = "pooling",
    .fields = pool_fields,
    .shape = mc_op_windows,
};

const struct mc_op_info mc_op_avgpool = {
    MC_ONE_INPUT,
    .out = "pooling; the averages exclude the padding",
    .fields = pool_fields,
    .shape = mc_op_windows,
};

const struct mc_op_info mc_op_globalpool = {
    MC_ONE_INPUT,
    .out = "each channel's mean, flat",
    .shape = globalpool_shape,
};

const struct mc_op_info mc_op_adaptpool = {
    MC_ONE_INPUT,
    .out = "averages, as AdaptiveAvgPool2d's",
    .fields = adaptpool_fields,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that move channels or pixels. */
#include "libcommon/graph/ops/row.h"

/* clang-format off */
static const struct mc_field pad_fields[] = {
    {"before", MC_FIELD_INT, MC_FIELD_IMAGE, MC_NODE_AT(before), 0, MC_MAX_SIDE,
     .meaning = "zeros before the first channel, row and column"},
    {"after", MC_FIELD_INT, MC_FIELD_IMAGE, MC_NODE_AT(after), 0, MC_MAX_SIDE,
     .meaning = "zeros after the last channel, row and column"},
    {0},
};
/* clang-format on */

static int pad_shape(struct mc_graph *g, struct mc_node *n)
{
    const struct mc_node *in = &g->nodes[n->in[0]];

    n->c = in->c + n->before[0] + n->after[0];
    n->h = in->h + n->before[1] + n->after[1];
    n->w = in->w + n->before[2] + n->after[2];
    return 0;
}

static int flatten_shape(struct mc_graph *g, struct mc_node *n)
{
    const struct mc_node *in = &g->nodes[n->in[0]];
    const int64_t all = (int64_t)in->c * in->h * in->w;

    n->c = all > MC_MAX_CHANNELS ? 0 : (int)all;
    n->h = n->w = 1;
    return 0;
}

/* Zero channels are alike, so they move among themselves. */
static int pad_axis(struct mc_axes *a, int i, struct mc_error *err)
{
    const struct mc_node *n = &a->g->nodes[i];
    int rc = n->before[0] ? mc_axes_new(a, 1, n->before[0], 0, err) : 0;

    if (!rc)
        rc = mc_axes_copy(a, n->in[0], 1, err);
    if (!rc && n->after[0])
        rc = mc_axes_new(a, 1, n->after[0], 0, err);
    return rc;
}

static int flatten_axis(struct mc_axes *a, int i, struct mc_error *err)
{
    const struct mc_node *in = &a->g->nodes[a->g->nodes[i].in[0]];

    return mc_axes_copy(a, a->g->nodes[i].in[0], (size_t)in->h * (size_t)in->w, err);
}

const struct mc_op_info mc_op_pad = {
    MC_ONE_INPUT,         .out = "zero channels, rows and columns around the input's",
    .fields = pad_fields, .shape = pad_shape,
    .axis = pad_axis,
};

const struct mc_op_info mc_op_flatten = {
    MC_ONE_INPUT,
    .out = "channel after channel, each row by row",
    .shape = flatten_shape,
    .axis = flatten_axis,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions and linear layers. */
#include "libcommon/graph/ops/row.h"

/* clang-format off */
#define OUT                                                                                        \
    {"out", MC_FIELD_INT, MC_FIELD_ONE, MC_NODE_AT(c), 1, MC_MAX_CHANNELS, .meaning = "channels of the output"}
#define BIAS                                                                                       \
    {"bias", MC_FIELD_FLAG, MC_FIELD_ONE, MC_NODE_AT(has_bias), 0, 1, .meaning = "the layer has a bias"}
#define INITS                                                                                      \
    {"weight_init", MC_FIELD_INIT, MC_FIELD_ONE, MC_NODE_AT(weight_init), 0, MC_N_INITS - 1,            \
     .optional = 1, .absent = MC_INIT_UNIFORM_FAN_IN, .meaning = "initial weights"},               \
    {"bias_init", MC_FIELD_INIT, MC_FIELD_ONE, MC_NODE_AT(bias_init), 0, MC_N_INITS - 1, .with_bias = 1,\
     .optional = 1, .absent = MC_INIT_UNIFORM_FAN_IN, .meaning = "initial bias; written if `bias` is true"}

static const struct mc_field conv_fields[] = {
    OUT,
    MC_WINDOW_FIELDS,
    {"groups", MC_FIELD_INT, MC_FIELD_ONE, MC_NODE_AT(groups), 1, MC_MAX_CHANNELS,
     .meaning = "groups of channels; divides those of input and output"},
    BIAS,
    INITS,
    {0},
};
static const struct mc_field linear_fields[] = {OUT, BIAS, INITS, {0}};
/* clang-format on */

static int conv_shape(struct mc_graph *g, struct mc_node *n)
{
    const struct mc_node *in = &g->nodes[n->in[0]];

    if (in->c % n->groups || n->c % n->groups)
        return mc_graph_fail(
            g,
            "node \"%s\": invalid grouped convolution: %d input and %d output channels, %d groups",
            n->name, in->c, n->c, n->groups);
    return mc_op_windows(g, n);
}

static int linear_shape(struct mc_graph *g, struct mc_node *n)
{
    const struct mc_node *in = &g->nodes[n->in[0]];

    if (in->h != 1 || in->w != 1)
        return mc_graph_fail(g, "node \"%s\": a linear layer's input must be flat (got %dx%dx%d)",
                             n->name, in->c, in->h, in->w);
    n->h = n->w = 1;
    return 0;
}

static void conv_tensors(const struct mc_graph *g, struct mc_node *n, struct mc_op_tensors *t)
{
    const uint64_t c = (uint64_t)n->c, in = (uint64_t)(g->nodes[n->in[0]].c / n->groups);
    const uint64_t h = (uint64_t)n->kernel[0], w = (uint64_t)n->kernel[1];

    t->fan_in = in * h * w;
    t->fan_out = c * h * w;
    mc_op_tensor(t, &n->weight, ".weight", n->weight_init, (uint64_t[]){c, in, h, w});
    if (n->has_bias)
        mc_op_tensor(t, &n->bias, ".bias", n->bias_init, (uint64_t[4]){c});
}

static void linear_tensors(const struct mc_graph *g, struct mc_node *n, struct mc_op_tensors *t)
{
    t->fan_in = (uint64_t)g->nodes[n->in[0]].c;
    t->fan_out = (uint64_t)n->c;
    mc_op_tensor(t, &n->weight, ".weight", n->weight_init, (uint64_t[4]){t->fan_out, t->fan_in});
    if (n->has_bias)
        mc_op_tensor(t, &n->bias, ".bias", n->bias_init, (uint64_t[4]){t->fan_out});
}

static int conv_axis(struct mc_axes *a, int i, struct mc_error *err)
{
    const struct mc_node *n = &a->g->nodes[i];

    if (mc_is_depthwise(a->g, n))
        return mc_axes_copy(a, n->in[0], (size_t)(n->c / n->groups), err);
    int rc = mc_is_blocked(a->g, n) ? mc_axes_cut(a, n->in[0], n->groups, err) : 0;
    return rc ? rc : mc_axes_new(a, n->groups, n->c / n->groups, 0, err);
}

static int linear_axis(struct mc_axes *a, int i, struct mc_error *err)
{
    return mc_axes_new(a, 1, a->g->nodes[i].c, 0, err);
}

const struct mc_op_info mc_op_conv = {
    .flags = MC_OP_LAYER | MC_OP_READS_INPUT,
    MC_ONE_INPUT,
    .out = "convolution, as PyTorch's",
    .fields = conv_fields,
    .shape = conv_shape,
    .tensors = conv_tensors,
    .axis = conv_axis,
};

const struct mc_op_info mc_op_linear = {
    .flags = MC_OP_LAYER | MC_OP_READS_INPUT,
    .in = "1, flat",
    .out = "linear layer",
    .min_in = 1,
    .max_in = 1,
    .fields = linear_fields,
    .shape = linear_shape,
    .tensors = linear_tensors,
    .axis = linear_axis,
};

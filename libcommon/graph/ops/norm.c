/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations with one factor per channel, and the normalisation of pixels. */
#include "libcommon/graph/ops/row.h"

/* clang-format off */
#define EPS                                                                                        \
    {"eps", MC_FIELD_FLOAT, MC_FIELD_ONE, MC_NODE_AT(eps), 0, FLT_MAX, .over_min = 1,                   \
     .meaning = "added to the variance"}
#define WEIGHT_INIT                                                                                \
    {"weight_init", MC_FIELD_INIT, MC_FIELD_ONE, MC_NODE_AT(weight_init), 0, MC_INIT_ONE,               \
     .optional = 1, .absent = MC_INIT_ONE, .meaning = "initial weights"}
#define BIAS_INIT                                                                                  \
    {"bias_init", MC_FIELD_INIT, MC_FIELD_ONE, MC_NODE_AT(bias_init), 0, MC_INIT_ONE,                   \
     .optional = 1, .absent = MC_INIT_ZERO, .meaning = "initial bias"}

static const struct mc_field normalise_fields[] = {
    {"mean", MC_FIELD_FLOAT, MC_FIELD_CHANNELS, MC_NODE_AT(mean), -FLT_MAX, FLT_MAX,
     .meaning = "mean of the channel's pixels"},
    {"std", MC_FIELD_FLOAT, MC_FIELD_CHANNELS, MC_NODE_AT(std), 0, FLT_MAX, .over_min = 1,
     .meaning = "their standard deviation"},
    {0},
};
static const struct mc_field batchnorm_fields[] = {
    EPS,
    {"momentum", MC_FIELD_FLOAT, MC_FIELD_ONE, MC_NODE_AT(momentum), 0, 1, .training = 1,
     .meaning = "weight of the new batch in the running statistics"},
    WEIGHT_INIT,
    BIAS_INIT,
    {0},
};
static const struct mc_field layernorm_fields[] = {EPS, WEIGHT_INIT, BIAS_INIT, {0}};
static const struct mc_field groupnorm_fields[] = {
    {"groups", MC_FIELD_INT, MC_FIELD_ONE, MC_NODE_AT(groups), 1, MC_MAX_CHANNELS,
     .meaning = "groups of channels; divides their number"},
    EPS, WEIGHT_INIT, BIAS_INIT, {0},
};
static const struct mc_field scale_fields[] = {WEIGHT_INIT, {0}};
/* clang-format on */

static int normalise_shape(struct mc_graph *g, struct mc_node *n)
{
    (void)g;
    for (int i = n->c; i < MC_MAX_CHANNELS_IN; i++) {
        n->mean[i] = 0;
        n->std[i] = 1;
    }
    return 0;
}

static int groupnorm_shape(struct mc_graph *g, struct mc_node *n)
{
    return n->c % n->groups
               ? mc_graph_fail(g, "node \"%s\": %d channels do not divide into %d groups", n->name,
                               n->c, n->groups)
               : 0;
}

static void channel_tensors(const struct mc_graph *g, struct mc_node *n, struct mc_op_tensors *t)
{
    const uint64_t shape[4] = {(uint64_t)n->c};

    (void)g;
    mc_op_tensor(t, &n->weight, ".weight", n->weight_init, shape);
    mc_op_tensor(t, &n->bias, ".bias", n->bias_init, shape);
}

static void batchnorm_tensors(const struct mc_graph *g, struct mc_node *n, struct mc_op_tensors *t)
{
    channel_tensors(g, n, t);
    mc_op_tensor(t, &n->running_mean, ".running_mean", MC_INIT_ZERO, (uint64_t[4]){(uint64_t)n->c});
    mc_op_tensor(t, &n->running_var, ".running_var", MC_INIT_ONE, (uint64_t[4]){(uint64_t)n->c});
    t->list[t->n - 1].is_stat = t->list[t->n - 2].is_stat = 1;
}

/* A parameter without a module, as in PyTorch: the node's name without a suffix. */
static void scale_tensors(const struct mc_graph *g, struct mc_node *n, struct mc_op_tensors *t)
{
    (void)g;
    mc_op_tensor(t, &n->weight, "", n->weight_init, (uint64_t[4]){(uint64_t)n->c, 1, 1});
}

static int normalise_axis(struct mc_axes *a, int i, struct mc_error *err)
{
    return mc_axes_new(a, 1, a->g->nodes[i].c, 1, err);
}

/* A group's channels move among themselves. Whole groups move if blocks.c finds that they can.
 * Groups of one channel are normalised independently, so nothing ties them. */
static int groupnorm_axis(struct mc_axes *a, int i, struct mc_error *err)
{
    const struct mc_node *n = &a->g->nodes[i];

    mc_axes_share(a, i, n->in[0]);
    return mc_is_blocked(a->g, n) ? mc_axes_cut(a, n->in[0], n->groups, err) : 0;
}

const struct mc_op_info mc_op_normalise = {
    .in = "none; exactly the first node",
    .out = "(x − mean) / std",
    .fields = normalise_fields,
    .shape = normalise_shape,
    .axis = normalise_axis,
};

const struct mc_op_info mc_op_batchnorm = {
    .flags = MC_OP_NORM | MC_OP_READS_INPUT | MC_OP_IN_PLACE,
    MC_ONE_INPUT,
    .out = "per channel",
    .fields = batchnorm_fields,
    .tensors = batchnorm_tensors,
};

const struct mc_op_info mc_op_layernorm = {
    .flags = MC_OP_NORM | MC_OP_READS_INPUT | MC_OP_IN_PLACE,
    MC_ONE_INPUT,
    .out = "over the channels of each pixel: LayerNorm of channels-last, torchvision's LayerNorm2d",
    .fields = layernorm_fields,
    .tensors = channel_tensors,
};

const struct mc_op_info mc_op_groupnorm = {
    .flags = MC_OP_NORM | MC_OP_READS_INPUT | MC_OP_IN_PLACE,
    MC_ONE_INPUT,
    .out = "over the pixels and channels of each group of channels",
    .fields = groupnorm_fields,
    .shape = groupnorm_shape,
    .tensors = channel_tensors,
    .axis = groupnorm_axis,
};

const struct mc_op_info mc_op_scale = {
    .flags = MC_OP_NORM | MC_OP_READS_INPUT | MC_OP_IN_PLACE,
    MC_ONE_INPUT,
    .out = "each channel times a learned factor",
    .fields = scale_fields,
    .tensors = scale_tensors,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations and dropout. */
#include "libcommon/graph/ops/row.h"

#define ACTIVATION_FLAGS (MC_OP_ACTIVATION | MC_OP_READS_INPUT | MC_OP_IN_PLACE)

/* clang-format off */
static const struct mc_field relu_fields[] = {
    {"delta", MC_FIELD_FLOAT, MC_FIELD_ONE, MC_NODE_AT(delta), 0, FLT_MAX, .optional = 1,
     .meaning = "Huber's δ; 0 is the plain ReLU"},
    {0},
};

/* Without a key, the list of settings ends at once. */
#define ACTIVATION(NAME, op, key_, meaning_, text, ...)                                            \
    static const struct mc_field op##_fields[] = {                                                 \
        {.key = key_, MC_FIELD_FLOAT, MC_FIELD_ONE, MC_NODE_AT(factor), -FLT_MAX, FLT_MAX,              \
         .meaning = meaning_},                                                                     \
        {0},                                                                                       \
    };                                                                                             \
    const struct mc_op_info mc_op_##op = {                                                         \
        .flags = ACTIVATION_FLAGS,                                                                 \
        MC_ONE_INPUT,                                                                              \
        .out = text,                                                                               \
        .fields = op##_fields,                                                                     \
    };
MC_EACH_ACTIVATION(ACTIVATION)

static const struct mc_field dropout_fields[] = {
    {"p", MC_FIELD_FLOAT, MC_FIELD_ONE, MC_NODE_AT(drop), 0, 1, .below_max = 1, .training = 1,
     .meaning = "probability that a value is dropped"},
    {0},
};
/* clang-format on */

static int dropout_shape(struct mc_graph *g, struct mc_node *n)
{
    return (int64_t)n->c * n->h * n->w <= MC_MAX_DROPOUT
               ? 0
               : mc_graph_fail(g, "node \"%s\": dropout of more than %d values per image", n->name,
                               MC_MAX_DROPOUT);
}

const struct mc_op_info mc_op_relu = {
    .flags = ACTIVATION_FLAGS,
    MC_ONE_INPUT,
    .out = "0 below 0, x²/2δ up to δ, then x − δ/2",
    .fields = relu_fields,
};

const struct mc_op_info mc_op_dropout = {
    MC_ONE_INPUT,
    .out =
        "training only; remaining values are scaled by 1 / (1 − p); at most 2^22 values per image",
    .fields = dropout_fields,
    .shape = dropout_shape,
};

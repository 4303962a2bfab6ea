/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/graph/ops/row.h"

/* clang-format off */
static const struct mc_field loss_fields[] = {
    {"weight", MC_FIELD_FLOAT, MC_FIELD_ONE, MC_NODE_AT(loss_weight), 0, FLT_MAX,
     .meaning = "factor of this loss in the sum"},
    {"train_only", MC_FIELD_FLAG, MC_FIELD_ONE, MC_NODE_AT(train_only), 0, 1,
     .meaning = "used only in training"},
    {0},
};
/* clang-format on */

/* The classes have an order. */
static int loss_axis(struct mc_axes *a, int i, struct mc_error *err)
{
    const int logits = a->g->nodes[i].in[0];

    mc_axes_share(a, i, logits);
    return mc_axes_fix(a, logits, err);
}

const struct mc_op_info mc_op_loss = {
    .flags = MC_OP_READS_INPUT,
    .in = "1, flat, of `classes` channels: the logits",
    .out = "softmax cross-entropy",
    .min_in = 1,
    .max_in = 1,
    .fields = loss_fields,
    .axis = loss_axis,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the rows of several operations. */
#ifndef MC_OP_ROW_H
#define MC_OP_ROW_H

#include "libcommon/graph/axes.h"
#include "libcommon/graph/fields.h"
#include "libcommon/graph/op.h"

#include <float.h>

#define MC_NODE_AT(member) .offset = offsetof(struct mc_node, member)

#define MC_ONE_INPUT .in = "1", .min_in = 1, .max_in = 1

/* clang-format off */
#define MC_WINDOW_FIELDS                                                                           \
    {"kernel", MC_FIELD_INT, MC_FIELD_SIDES, MC_NODE_AT(kernel), 1, MC_MAX_SIDE,                        \
     .meaning = "size of the window"},                                                             \
    {"stride", MC_FIELD_INT, MC_FIELD_SIDES, MC_NODE_AT(stride), 1, MC_MAX_SIDE,                        \
     .meaning = "distance of neighbouring windows"},                                               \
    {"pad", MC_FIELD_INT, MC_FIELD_SIDES, MC_NODE_AT(pad), 0, MC_MAX_SIDE,                              \
     .meaning = "padding on each side; at most half a pooling window"}
/* clang-format on */

/* Sets the node's h and w to the number of windows; ceil_mode is for pools. */
int mc_op_windows(struct mc_graph *g, struct mc_node *n);

/* Adds a tensor; the dimensions after its last are 0. */
void mc_op_tensor(struct mc_op_tensors *t, struct mc_slot *slot, const char *suffix,
                  enum mc_init init, const uint64_t shape[4]);

#endif

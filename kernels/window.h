/* SPDX-License-Identifier: Apache-2.0
 *
 * A pooling's geometry, the same for every backend. */
#ifndef MC_WINDOW_H
#define MC_WINDOW_H

#include "libcommon/graph/graph.h"

struct mc_window {
    int ih, iw, oh, ow, kernel[2], stride[2], pad[2];
    int adaptive; /* windows as PyTorch's AdaptiveAvgPool2d */
};

/* Of a node and its input; of other nodes than pooling nothing reads it. */
static inline struct mc_window mc_window_of(const struct mc_node *in, const struct mc_node *n)
{
    const struct mc_window w = {in->h,
                                in->w,
                                n->h,
                                n->w,
                                {n->kernel[0], n->kernel[1]},
                                {n->stride[0], n->stride[1]},
                                {n->pad[0], n->pad[1]},
                                n->op == MC_OP_ADAPTPOOL};
    return w;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Geometry of a pooling or a convolution, the same for every backend. */
#ifndef MC_WINDOW_H
#define MC_WINDOW_H

#include "libcommon/base/both.h"
#include "libcommon/graph/graph.h"

struct mc_window {
    int ih, iw, oh, ow, kernel[2], stride[2], pad[2];
    int adaptive; /* windows as in PyTorch's AdaptiveAvgPool2d; one output: global pooling */
};

/* The window of node n with input `in`. Only pooling nodes use it. */
static inline struct mc_window mc_window_of(const struct mc_node *in, const struct mc_node *n)
{
    const struct mc_window w = {in->h,
                                in->w,
                                n->h,
                                n->w,
                                {n->kernel[0], n->kernel[1]},
                                {n->stride[0], n->stride[1]},
                                {n->pad[0], n->pad[1]},
                                n->op == MC_OP_ADAPTPOOL || n->op == MC_OP_GLOBALPOOL};
    return w;
}

struct mc_span {
    int from, to;
};

/* The part of output o's window that is inside the image. */
MC_BOTH_FN struct mc_span mc_window_at(const struct mc_window *w, int axis, int o)
{
    const int in = axis ? w->iw : w->ih, out = axis ? w->ow : w->oh;
    struct mc_span s;

    if (w->adaptive) {
        s.from = o * in / out;
        s.to = ((o + 1) * in + out - 1) / out;
        return s;
    }
    s.from = o * w->stride[axis] - w->pad[axis];
    s.to = s.from + w->kernel[axis] < in ? s.from + w->kernel[axis] : in;
    s.from = s.from < 0 ? 0 : s.from;
    return s;
}

/* The outputs whose windows have element k inside the image; empty if from >= to. */
MC_BOTH_FN struct mc_span mc_window_outputs(const struct mc_window *w, int axis, int k)
{
    const int in = axis ? w->iw : w->ih, out = axis ? w->ow : w->oh;
    const int first = w->pad[axis] - k, last = in - 1 + first;
    struct mc_span s;

    s.from = first > 0 ? (first + w->stride[axis] - 1) / w->stride[axis] : 0;
    s.to = last < 0 ? 0 : last / w->stride[axis] + 1;
    s.to = s.to < out ? s.to : out;
    return s;
}

#endif

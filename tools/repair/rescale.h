/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes whose output channels can be scaled and shifted by changing their parameters, and whose
 * statistics matter to a nonlinearity. These are the batch norms, and the convolutions, linear
 * layers and layer norms with a bias whose output reaches an activation or a product of two inputs
 * before another layer or norm. The logits are not among them. */
#ifndef MC_RESCALE_H
#define MC_RESCALE_H

#include "libcommon/graph/graph.h"

struct mc_rescale {
    struct mc_rescale_node {
        int node;
        int level; /* largest number of listed nodes on a path from the image to this one */
    } * nodes;     /* (n) in the graph's order */
    size_t n;
    int levels;     /* number of levels */
    size_t no_bias; /* layers that are not listed only because they have no bias */
};

/* List the nodes that evaluation computes. Release out with mc_rescale_release. MC_ENOMEM. */
MC_USE_RESULT int mc_rescale_find(struct mc_rescale *out, const struct mc_graph *g,
                                  struct mc_error *err);
void mc_rescale_release(struct mc_rescale *r);

/* Change params (P) so that the output y of channel c of this listed node becomes
 * scale * y + shift. */
void mc_rescale_channel(const struct mc_graph *g, int node, size_t c, double scale, double shift,
                        float *params);

#endif

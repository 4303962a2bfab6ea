/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights streams: one trained network. formats/codecs/weights.md is the specification.
 *
 * meta: net, graph, dataset (the name of what it was trained on). Tensors: the graph's parameters,
 * then its statistics, under PyTorch's names, float32. */
#ifndef MC_WEIGHTS_H
#define MC_WEIGHTS_H

#include "formats/codecs/flat.h"

struct mc_weights {
    struct mc_graph *graph;
    float *params; /* (P), 64-byte aligned, gaps 0 */
    float *stats;  /* (S) */
    char dataset[64];
    char id[MC_ID_LEN];
    int augmented; /* the history has a training on augmented images: set by reading */
};

/* Read a whole stream; its history becomes a parent in h (may be NULL). Values that are not finite
 * are MC_EINPUT. Release with mc_weights_release; after an error there is nothing to release. */
MC_USE_RESULT int mc_weights_read(struct mc_weights *out, struct mc_stream from,
                                  struct mc_history *h, struct mc_error *err);
/* Values that are not finite are MC_EFAIL, and nothing is written. */
MC_USE_RESULT int mc_weights_write(const struct mc_weights *w, const char *path,
                                   const struct mc_history *h, struct mc_error *err);
void mc_weights_release(struct mc_weights *w);
/* New weights with zeroed vectors for a copy of the graph. */
MC_USE_RESULT int mc_weights_init(struct mc_weights *out, const struct mc_graph *g,
                                  const char *dataset, struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights streams: one trained network. formats/codecs/weights.md is the specification.
 *
 * meta: net, graph, dataset (the name of the training data). Tensors: the graph's parameters, then
 * its statistics, under PyTorch's names: float32, float16 or bfloat16, float32 in memory. */
#ifndef MC_WEIGHTS_H
#define MC_WEIGHTS_H

#include "formats/codecs/flat.h"

struct mc_weights {
    struct mc_graph *graph;
    float *params;        /* (P), 64-byte aligned, gaps 0 */
    float *stats;         /* (S) */
    enum mc_dtype *types; /* (n_params + n_stats) of the tensors in a stream; NULL: all float32 */
    char dataset[64];
    char id[MC_ID_LEN];
    int augmented; /* set by mc_weights_read: the history trains on augmented images */
};

/* Read a whole stream. Its history becomes a parent in h, which may be NULL. MC_EINPUT if a value
 * is not finite. Release with mc_weights_release; after an error nothing needs release. */
MC_USE_RESULT int mc_weights_read(struct mc_weights *out, struct mc_stream from,
                                  struct mc_history *h, struct mc_error *err);
/* Values are rounded to their type. If a value is not finite, also in its type, returns MC_EFAIL and writes nothing. */
MC_USE_RESULT int mc_weights_write(const struct mc_weights *w, const char *path,
                                   const struct mc_history *h, struct mc_error *err);
void mc_weights_release(struct mc_weights *w);
/* New weights with zeroed vectors for a copy of the graph. All types are float32. */
MC_USE_RESULT int mc_weights_init(struct mc_weights *out, const struct mc_graph *g,
                                  const char *dataset, struct mc_error *err);
/* Make all types float32. The values are unchanged. */
void mc_weights_widen(struct mc_weights *w);

/* Open a stream of weights with the graph, types and dataset of `of`, whose vectors are not used. The
 * caller writes the values tensor by tensor: parameters, then statistics, in their types. */
MC_USE_RESULT int mc_weights_open(struct mc_writer **w, const struct mc_weights *of,
                                  const char *path, const struct mc_history *h,
                                  struct mc_error *err);
/* The two vectors in a stream's order. */
void mc_weights_flat(const struct mc_weights *w, struct mc_flat out[2]);

#endif

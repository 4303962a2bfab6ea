/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights streams: one trained network. formats/weights.md is the specification.
 *
 * meta: net, graph, dataset (the name of what it was trained on). Tensors: the graph's parameters,
 * then its statistics, under PyTorch's names, float32. */
#ifndef MC_WEIGHTS_H
#define MC_WEIGHTS_H

#include "mc_gather.h"
#include "mc_graph.h"
#include "mc_stream.h"

struct mc_weights {
    struct mc_graph *graph;
    float *params; /* (P), 64-byte aligned, gaps 0 */
    float *stats;  /* (S) */
    char dataset[64];
    char id[MC_ID_LEN];
};

/* Read a whole stream; its history becomes a parent in h (may be NULL). Values that are not finite
 * are MC_EINPUT. Release with mc_weights_release; after an error there is nothing to release. */
MC_USE_RESULT int mc_weights_read(struct mc_weights *out, const char *path, struct mc_history *h,
                                  struct mc_error *err);
/* The same from an open reader, which stays the caller's: for programs that take several kinds. */
MC_USE_RESULT int mc_weights_read_stream(struct mc_weights *out, struct mc_reader *r,
                                         struct mc_history *h, struct mc_error *err);
/* Values that are not finite are MC_EFAIL, and nothing is written. */
MC_USE_RESULT int mc_weights_write(const struct mc_weights *w, const char *path,
                                   const struct mc_history *h, struct mc_error *err);
void mc_weights_release(struct mc_weights *w);
/* New weights with zeroed vectors for a copy of the graph. */
MC_USE_RESULT int mc_weights_init(struct mc_weights *out, const struct mc_graph *g,
                                  const char *dataset, struct mc_error *err);

/* Of kinds that hold a graph and flat vectors (weights, curve): the announced tensors of a flat
 * vector, their names behind `prefix`; writing them, and where mc_gather puts them when the vector
 * is sink `sink`. */
void mc_flat_tensors(const struct mc_param *params, size_t n, const char *prefix,
                     struct mc_tensor *out);
MC_USE_RESULT int mc_flat_write(struct mc_writer *w, size_t first, const struct mc_param *params,
                                size_t n, const float *flat, struct mc_error *err);
/* MC_EINPUT unless the tensors [first, first + n) of the stream are these. */
MC_USE_RESULT int mc_flat_expect(const struct mc_reader *r, size_t first,
                                 const struct mc_param *params, size_t n, const char *prefix,
                                 struct mc_error *err);
void mc_flat_places(const struct mc_param *params, size_t n, size_t sink, struct mc_place *out);
/* MC_EINPUT for a value that is not finite, or a running variance below 0. file may be NULL. */
MC_USE_RESULT int mc_flat_finite(const struct mc_param *params, size_t n, const float *flat,
                                 const char *file, struct mc_error *err);
/* The keys net, dataset and graph of an open map, and back; *g is unpacked anew. */
void mc_flat_pack_meta(struct mc_pack *p, const struct mc_graph *g, const char *dataset);
MC_USE_RESULT int mc_flat_unpack_meta(struct mc_graph **g, char *dataset, size_t size,
                                      const struct mc_reader *r, struct mc_error *err);

#endif

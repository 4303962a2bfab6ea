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

/* The weighted mean of networks, summed in float64. Beside the sum, one record of one network is in
 * memory.
 *
 *     rc = mc_weights_sum_open(&s, from, h, err);       for each network; the program compares
 *     rc = mc_weights_sum_add(&s, weight, err);         s.next with s.first.graph between the two
 *     rc = mc_weights_sum_write(&s, path, h, err);
 *     mc_weights_sum_release(&s);
 *
 * The mean of equal networks is that network, bit for bit: the sums' rounding errors are far below
 * half a unit in the last place of float32. */
struct mc_weights_sum {
    struct mc_weights first; /* the first network without its vectors; types: those of all networks,
                                float32 where they differ */
    double *params, *stats;  /* (P), (S): sums of weight times value */
    double weight;           /* sum of the weights */
    struct mc_stream from;
    struct mc_reader *reader; /* reads the open network, unless that is the first */
    struct mc_graph *next;    /* its graph, or NULL */
};

/* Open the next network, which may have no graph, and read its header; the first one whole. Its
 * history becomes a parent in h, which may be NULL. */
MC_USE_RESULT int mc_weights_sum_open(struct mc_weights_sum *s, struct mc_stream from,
                                      struct mc_history *h, struct mc_error *err);
/* Add the open network with this weight, at least 0, and close it. It is read to its verified end.
 * MC_EINPUT if its tensors differ from the first network's, or as mc_weights_read. */
MC_USE_RESULT int mc_weights_sum_add(struct mc_weights_sum *s, double weight, struct mc_error *err);
/* Write the sum divided by the sum of the weights, which must not be 0. The sum is lost. */
MC_USE_RESULT int mc_weights_sum_write(struct mc_weights_sum *s, const char *path,
                                       const struct mc_history *h, struct mc_error *err);
void mc_weights_sum_release(struct mc_weights_sum *s);

#endif

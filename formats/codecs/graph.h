/* SPDX-License-Identifier: Apache-2.0
 *
 * A network's graph in a stream's header. formats/codecs/graph.md is the specification.
 *
 * A map:
 *     {"input": [C,H,W], "classes": n, "nodes": [
 *        {"op": "normalise", "name": "normalise", "in": [], "mean": [...], "std": [...]},
 *        {"op": "conv", "name": "layers.0.conv", "in": ["normalise"], "out": 16, "kernel": [3,3],
 *         "stride": [1,1], "pad": [1,1], "groups": 1, "bias": true,
 *         "weight_init": "xavier_normal", "bias_init": "zero"}, ...]} */
#ifndef MC_CODEC_GRAPH_H
#define MC_CODEC_GRAPH_H

#include "formats/stream/pack.h"
#include "libcommon/graph/graph.h"

void mc_graph_pack(const struct mc_graph *g, struct mc_pack *out);
/* Hash the bytes of mc_graph_pack (MC_ID_LEN). MC_ENOMEM. */
MC_USE_RESULT int mc_graph_id(const struct mc_graph *g, char *id, struct mc_error *err);
/* Unpack untrusted input: every number is bounded. *out is finished. MC_EINPUT names the node. */
MC_USE_RESULT int mc_graph_unpack(struct mc_graph **out, const msgpack_object *map,
                                  struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Graph files: the graph of a stream's header as JSON (formats/codecs/graph.md). With them a new
 * network needs no C code. Both directions use the MessagePack map, so that it has one reader and
 * one writer (mc_graph_pack). */
#ifndef MC_GRAPH_JSON_H
#define MC_GRAPH_JSON_H

#include "libcommon/nets/nets.h"

#include <stdio.h>

#define MC_GRAPH_JSON_BYTES ((size_t)2 << 20) /* less than a stream's header */

/* 1 if a network's name is a file: it ends in .json or contains a '/'. */
int mc_graph_json_is(const char *net);

/* Read untrusted input; errors name the file and the node. A graph without a net is named after the
 * file, without folder and extension. MC_EFAIL if it cannot be read, MC_EINPUT if invalid. */
MC_USE_RESULT int mc_graph_json_read(struct mc_graph **out, const char *path, struct mc_error *err);

/* Make a network for this data: by a builder's name (mc_net_build), or from a graph file, whose
 * image size and classes must equal the data's (MC_EINPUT). A graph file sets its own
 * normalisation. */
MC_USE_RESULT int mc_network_build(struct mc_graph **out, const char *name_or_file,
                                   const struct mc_net_spec *spec, struct mc_error *err);

/* Print a graph, one node per line, such that it reads back equal. MC_ENOMEM. */
MC_USE_RESULT int mc_graph_json_print(FILE *f, const struct mc_graph *g, struct mc_error *err);

#endif

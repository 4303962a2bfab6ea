/* SPDX-License-Identifier: Apache-2.0
 *
 * Graph files: the graph of a stream's header as JSON (formats/codecs/graph.md), so that a
 * stranger's network needs no line of C. Both directions go through the MessagePack map, of which
 * there is one reader and one writer (mc_graph_pack). */
#ifndef MC_GRAPH_JSON_H
#define MC_GRAPH_JSON_H

#include "libcommon/nets/nets.h"

#include <stdio.h>

#define MC_GRAPH_JSON_BYTES ((size_t)2 << 20) /* as much as a stream's header may have */

/* Whether the name of a network means a file: it ends in .json, or holds a '/'. */
int mc_graph_json_is(const char *net);

/* Untrusted input; errors name the file, and the node. Where the file names no net, it is called
 * as the file is, without folder and ending. MC_EFAIL when it cannot be read, MC_EINPUT. */
MC_USE_RESULT int mc_graph_json_read(struct mc_graph **out, const char *path, struct mc_error *err);

/* A network for this data: a builder's by its name (mc_net_build), or a graph file, whose images
 * and classes have to be the data's (MC_EINPUT); its pixels are normalised as it says. */
MC_USE_RESULT int mc_network_build(struct mc_graph **out, const char *name_or_file,
                                   const struct mc_net_spec *spec, struct mc_error *err);

/* Print it whole, a node a line; what was printed reads back as the same graph. MC_ENOMEM. */
MC_USE_RESULT int mc_graph_json_print(FILE *f, const struct mc_graph *g, struct mc_error *err);

#endif

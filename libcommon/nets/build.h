/* SPDX-License-Identifier: Apache-2.0
 *
 * The builders used by libcommon/nets/nets.h. Each adds the nodes of its network to a new graph.
 * args: the text after the colon, or NULL. MC_EUSAGE for invalid arguments. Errors of the graph
 * stay in g. */
#ifndef MC_NETS_BUILD_H
#define MC_NETS_BUILD_H

#include "libcommon/graph/graph.h"

#define MC_NET_BN_EPS 1e-5f
#define MC_NET_MAX_WIDTH 65536

MC_USE_RESULT int mc_net_tinyten(struct mc_graph *g, const char *args, struct mc_error *err);
MC_USE_RESULT int mc_net_mlp(struct mc_graph *g, const char *args, struct mc_error *err);
MC_USE_RESULT int mc_net_resnet(struct mc_graph *g, const char *args, struct mc_error *err);
MC_USE_RESULT int mc_net_googlenet(struct mc_graph *g, const char *args, struct mc_error *err);
MC_USE_RESULT int mc_net_vgg(struct mc_graph *g, const char *args, struct mc_error *err);

/* Parse "16,64": up to n numbers from 1 to MC_NET_MAX_WIDTH. Returns their number or -1. */
int mc_net_numbers(const char *args, int *out, int n);

#endif

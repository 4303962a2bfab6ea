/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading two networks that must have the same graph. */
#ifndef MC_NETWORKS_H
#define MC_NETWORKS_H

#include "formats/codecs/weights.h"
#include "libcommon/nets/nets.h"
#include "tools/cli/cli.h"

/* Help of options that name a network; completion.bash reads the names from it. */
#define MC_HELP_NET "one of: " MC_NET_LIST "; or a graph file"

/* MC_EINPUT, naming both files, unless the graphs are the same. Warns if they differ in settings
 * that only training uses. */
MC_USE_RESULT int mc_expect_same_network(const struct mc_cli *cli, const struct mc_graph *a,
                                         const struct mc_graph *b, const char *path_a,
                                         const char *path_b, struct mc_error *err);
/* Reads the first two operands and expects the same network. declared: accept networks without a
 * graph. Release both even after an error. */
MC_USE_RESULT int mc_read_networks(struct mc_weights *a, struct mc_weights *b,
                                   const struct mc_cli *cli, int declared, struct mc_history *h,
                                   struct mc_error *err);

#endif

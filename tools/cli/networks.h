/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs read two networks of one graph. */
#ifndef MC_NETWORKS_H
#define MC_NETWORKS_H

#include "formats/codecs/weights.h"
#include "tools/cli/cli.h"

/* MC_EINPUT names both files unless the graphs are the same. Warns if they differ in what only
 * training uses. */
MC_USE_RESULT int mc_expect_same_network(const struct mc_cli *cli, const struct mc_graph *a,
                                         const struct mc_graph *b, const char *path_a,
                                         const char *path_b, struct mc_error *err);
/* Read the first two operands, and expect the same network. declared: accept networks without a
 * graph. Release both after an error too. */
MC_USE_RESULT int mc_read_networks(struct mc_weights *a, struct mc_weights *b,
                                   const struct mc_cli *cli, int declared, struct mc_history *h,
                                   struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The nodes at which the groups of a graph are observed (struct mc_tap). Used only by
 * symmetry.c. */
#ifndef MC_TAPS_H
#define MC_TAPS_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* observed (n_nodes): 1 if groups are observed at the node. shown (n_groups): 1 if the group is
 * observed at any node. Reads only the axes of s. */
MC_USE_RESULT int mc_taps_find_nodes(const struct mc_graph *g, const struct mc_symmetry *s,
                                     size_t n_groups, unsigned char *observed, unsigned char *shown,
                                     struct mc_error *err);
/* Set the taps of these nodes. */
MC_USE_RESULT int mc_taps_list(struct mc_symmetry *out, const struct mc_graph *g,
                               const unsigned char *observed, struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the groups of a graph can be observed (struct mc_tap). For symmetry.c alone. */
#ifndef MC_SEEN_H
#define MC_SEEN_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* seen (n_nodes): 1 where groups are seen; shown (n_groups): 1 where anything shows the group. s:
 * its axes are looked at. */
MC_USE_RESULT int mc_seen_find(const struct mc_graph *g, const struct mc_symmetry *s,
                               size_t n_groups, unsigned char *seen, unsigned char *shown,
                               struct mc_error *err);
/* The taps of these nodes. */
MC_USE_RESULT int mc_seen_taps(struct mc_symmetry *out, const struct mc_graph *g,
                               const unsigned char *seen, struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole blocks of grouped convolutions that move among each other: groups whose units hold groups.
 * For symmetry.c alone. */
#ifndef MC_BLOCKS_H
#define MC_BLOCKS_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* To the groups of a graph, each of which is in no other, add those of blocks (symmetry.h says
 * which they are): each before the first group in its units. Taps of one node that see the groups
 * of all units become one. MC_ENOMEM. */
MC_USE_RESULT int mc_symmetry_add_blocks(struct mc_symmetry *s, const struct mc_graph *g,
                                         struct mc_error *err);

#endif

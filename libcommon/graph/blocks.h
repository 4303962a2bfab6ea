/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups that permute whole blocks of grouped convolutions; their units contain groups. For
 * symmetry.c alone. */
#ifndef MC_BLOCKS_H
#define MC_BLOCKS_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* Add the groups of blocks (see symmetry.h) to groups that are not nested, each before the first
 * group in its units. The taps of one node that see the groups of all units are merged.
 * MC_ENOMEM. */
MC_USE_RESULT int mc_symmetry_add_blocks(struct mc_symmetry *s, const struct mc_graph *g,
                                         struct mc_error *err);

#endif

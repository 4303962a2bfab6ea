/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups that permute whole blocks of grouped convolutions. A unit of such a group is a block and
 * contains groups. Used only by symmetry.c. */
#ifndef MC_BLOCKS_H
#define MC_BLOCKS_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* Add the groups of blocks (see symmetry.h) to s, whose groups are not nested yet. Each is inserted
 * before the first group in its units. Taps of one node that observe the groups of all units are
 * merged. Returns 0 or MC_ENOMEM. */
MC_USE_RESULT int mc_symmetry_add_blocks(struct mc_symmetry *s, const struct mc_graph *g,
                                         struct mc_error *err);

#endif

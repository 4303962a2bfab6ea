/* SPDX-License-Identifier: Apache-2.0
 *
 * What a group permutes, as memory: where the units of a use lie in a flat vector, and in which
 * order the uses of all groups take effect. */
#ifndef MC_USES_H
#define MC_USES_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* The units of one use: `blocks` blocks of (K, m) floats, `stride` apart, the first at `base` of
 * the flat vector. Of a tensor (rows, axis, inner), there is a block a row, and m is what a unit
 * has of the axis times inner. */
struct mc_unit_blocks {
    size_t k, m, blocks, stride, base;
};
struct mc_unit_blocks mc_unit_blocks(const struct mc_graph *g, const struct mc_use *u);

struct mc_placed_use {
    size_t group;
    size_t height; /* levels of groups within its units: 0, none */
    const struct mc_use *use;
    struct mc_unit_blocks at;
};

/* The uses of all groups: those of parameters in the order of the tensors, then those of
 * statistics; of a tensor in the order in which they take effect: a group within the units of
 * another before they move; else first what takes fewer places a unit. Uses of one height change
 * places freely. Release with free. MC_ENOMEM. */
MC_USE_RESULT int mc_uses_in_order(const struct mc_symmetry *s, const struct mc_graph *g,
                                   struct mc_placed_use **out, size_t *n, struct mc_error *err);

/* 1: x, of the same tensor, takes effect after y, and not beside it. */
static inline int mc_use_is_after(const struct mc_placed_use *x, const struct mc_placed_use *y)
{
    return x->height != y->height ? x->height > y->height : x->use->repeat > y->use->repeat;
}

/* x, a flat vector of 4-byte values: unit i becomes what unit perm[i] was; inverse: what was unit i
 * becomes unit perm[i]. room: k m values. */
void mc_units_permute(const struct mc_unit_blocks *at, const int32_t *perm, int inverse, void *x,
                      void *room);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What a group permutes, as memory: where the units of a use lie in a flat vector, and in which
 * order the uses of all groups take effect. */
#ifndef MC_USES_H
#define MC_USES_H

#include "libcommon/graph/symmetry.h"

/* The units of one use: `blocks` blocks of (K, m) floats, `stride` apart, the first at `base` of
 * the flat vector. Of a tensor (rows, axis, inner), there is a block a row, and m is what a unit
 * has of the axis times inner. */
struct mc_unit_blocks {
    size_t k, m, blocks, stride, base;
};
struct mc_unit_blocks mc_unit_blocks(const struct mc_graph *g, const struct mc_use *u);

struct mc_placed_use {
    size_t group;
    const struct mc_use *use;
    struct mc_unit_blocks at;
};

/* The uses of all groups: those of parameters in the order of the tensors, then those of
 * statistics; of a tensor in the order in which they take effect: first what takes fewer places a
 * unit, so that a group within the units of another moves before they do. Uses of different axes,
 * and of different places of one, change places freely. Release with free. MC_ENOMEM. */
MC_USE_RESULT int mc_uses_in_order(const struct mc_symmetry *s, const struct mc_graph *g,
                                   struct mc_placed_use **out, size_t *n, struct mc_error *err);

/* x, a flat vector of 4-byte values: unit i becomes what unit perm[i] was; inverse: what was unit i
 * becomes unit perm[i]. room: k m values. */
void mc_units_permute(const struct mc_unit_blocks *at, const int32_t *perm, int inverse, void *x,
                      void *room);

#endif

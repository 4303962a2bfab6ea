/* SPDX-License-Identifier: Apache-2.0
 *
 * The position of a use's units in a flat vector, and the order in which uses apply. */
#ifndef MC_USES_H
#define MC_USES_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* The units of one use: `slices` slices of (K, m) floats, `stride` apart, the first at `base` in
 * the flat vector. A tensor (rows, axis, inner) has one slice per row, and m is a unit's number of
 * entries on the axis times inner. */
struct mc_unit_layout {
    size_t k, m, slices, stride, base;
};
struct mc_unit_layout mc_unit_layout(const struct mc_graph *g, const struct mc_use *u);

struct mc_placed_use {
    size_t group;
    size_t height; /* levels of groups nested in its units, or 0 */
    const struct mc_use *use;
    struct mc_unit_layout layout;
};

/* List the uses of all groups: parameters in tensor order, then statistics. The uses of one tensor
 * are in the order in which they apply: nested groups before outer ones, else units with fewer
 * entries first. Uses of equal height commute. Release *out with free. MC_ENOMEM. */
MC_USE_RESULT int mc_uses_in_order(const struct mc_symmetry *s, const struct mc_graph *g,
                                   struct mc_placed_use **out, size_t *n, struct mc_error *err);

/* 1 if x must apply after y (uses of the same tensor). */
static inline int mc_use_is_after(const struct mc_placed_use *x, const struct mc_placed_use *y)
{
    return x->height != y->height ? x->height > y->height : x->use->repeat > y->use->repeat;
}

/* Permute x, a flat vector of values of `size` bytes, 2 or 4: unit i becomes the old unit perm[i].
 * inverse: the old unit i becomes unit perm[i]. scratch: k * m values. */
void mc_units_permute(const struct mc_unit_layout *layout, const int32_t *perm, int inverse,
                      size_t size, void *x, void *scratch);

#endif

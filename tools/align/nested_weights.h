/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights of two networks, as used by the groups inside all units of one group. */
#ifndef MC_NESTED_WEIGHTS_H
#define MC_NESTED_WEIGHTS_H

#include "libcommon/graph/uses.h"
#include "libcommon/permutation/nested_matching.h"

struct mc_inside_weights {
    size_t slots, stride; /* stride: floats per unit */
    size_t *values;       /* (slots) values per unit of the inner group */
    size_t *start;        /* (slots) offset in a unit's floats */
    float *x, *y;         /* (units,stride), within a slot (values,K) */
    size_t *packed;       /* (units,slots) values packed so far */
};
/* uses: of parameters, from mc_uses_in_order. Release w also after an error. */
MC_USE_RESULT int mc_inside_weights_open(struct mc_inside_weights *w, const struct mc_inside *in,
                                         const struct mc_placed_use *uses, size_t n_uses,
                                         struct mc_error *err);
void mc_inside_weights_release(struct mc_inside_weights *w);
/* Append one use of an inner group from the flat vectors a and b. Both must see the uses in the
 * same order. */
void mc_inside_weights_pack(struct mc_inside_weights *w, size_t unit, size_t slot,
                            const struct mc_unit_layout *layout, const float *a, const float *b);
mc_inside_values mc_inside_weights_values; /* arg: struct mc_inside_weights */

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Best assignments inside the units of a group, for each pair of a position and a unit that could
 * move there. The value of a pair is the sum of these assignments' values. */
#ifndef MC_NESTED_GROUPS_H
#define MC_NESTED_GROUPS_H

#include "libcommon/assign/assign.h"
#include "libcommon/permutation/permutation.h"
#include "libcommon/graph/uses.h"

struct mc_inside {
    const struct mc_nesting *nesting;
    const unsigned char *keep;  /* (n_groups) 1: keeps its permutation, the identity by default */
    size_t group, units, slots; /* slots: number of groups in each unit */
    size_t width;               /* total size of one unit's groups */
    struct mc_assignment *assignment; /* (units,units,slots), by position and unit */
    int32_t *best; /* (units,units,width): the permutations, by position and unit */
};

/* Release in also after an error. */
MC_USE_RESULT int mc_inside_open(struct mc_inside *in, const struct mc_nesting *nesting,
                                 const unsigned char *keep, size_t group, struct mc_error *err);
void mc_inside_release(struct mc_inside *in);

/* Fill the matrix (K,K), which is zero: values of the slot's group in position h (rows) and unit u
 * (columns). */
typedef int mc_inside_values(const void *arg, const struct mc_inside *in, size_t h, size_t u,
                             size_t slot, double *matrix, struct mc_error *err);
/* Match all pairs. Adds the sum of each pair's values to value[h * units + u]. If current is not
 * NULL, the value of unit u's current permutations is subtracted. If the group is kept, only the
 * pairs of a unit and its own position are matched. An error is that of the first
 * failing pair. */
MC_USE_RESULT int mc_inside_match(struct mc_inside *in, mc_inside_values *values, const void *arg,
                                  const struct mc_perm *current, double *value, int threads,
                                  struct mc_error *err);
/* Swap the inner permutations with the best for units[h] at position h; a second call restores
 * them. Returns 1 if a permutation changed. */
int mc_inside_exchange(struct mc_inside *in, const int32_t *units, struct mc_perm *p);

/* Weights of two networks, as used by the groups inside all units of one group. */
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

/* SPDX-License-Identifier: Apache-2.0
 *
 * The best assignments inside the units of a group, for each pair of a place and a unit that may
 * come there: what the pair is worth. */
#ifndef MC_NESTED_GROUPS_H
#define MC_NESTED_GROUPS_H

#include "libcommon/assign/assign.h"
#include "libcommon/graph/permutation.h"
#include "libcommon/graph/uses.h"

struct mc_inside {
    const struct mc_nesting *nesting;
    size_t group, units, slots;  /* slots: groups in each unit */
    size_t width;                /* units of a unit's groups together */
    struct mc_assignment *found; /* (units,units,slots), by place and unit */
    int32_t *best;               /* (units,units,width), likewise: the permutations */
};

/* After an error too, release. */
MC_USE_RESULT int mc_inside_open(struct mc_inside *in, const struct mc_nesting *nesting,
                                 size_t group, struct mc_error *err);
void mc_inside_release(struct mc_inside *in);

/* The matrix (K,K) of a slot's group at place h and of unit u's in that slot, from zeros. */
typedef int mc_inside_values(const void *arg, const struct mc_inside *in, size_t h, size_t u,
                             size_t slot, double *matrix, struct mc_error *err);
/* Match all pairs. value[h * units + u] += the sum of their values; now, not NULL: over what the
 * unit's permutations there are worth. The error is the first pair's. */
MC_USE_RESULT int mc_inside_match(struct mc_inside *in, mc_inside_values *values, const void *arg,
                                  const struct mc_perm *now, double *value, int threads,
                                  struct mc_error *err);
/* The permutations inside become the best for units[h] at place h; done again, they are restored.
 * Returns 1 if one changed. */
int mc_inside_exchange(struct mc_inside *in, const int32_t *units, struct mc_perm *p);

/* The weights of the groups in all units of one, of two networks. */
struct mc_inside_weights {
    size_t slots, stride; /* stride: floats of a unit */
    size_t *values;       /* (slots) of one unit of these */
    size_t *start;        /* (slots) in a unit's floats */
    double *x, *y;        /* (units,stride), in a slot (values,K) */
    size_t *have;         /* (units,slots) values packed so far */
};
/* uses: of parameters (mc_uses_in_order). After an error too, release. */
MC_USE_RESULT int mc_inside_weights_open(struct mc_inside_weights *w, const struct mc_inside *in,
                                         const struct mc_placed_use *uses, size_t n_uses,
                                         struct mc_error *err);
void mc_inside_weights_release(struct mc_inside_weights *w);
/* Each use of each group inside, in one order, from two flat vectors. */
void mc_inside_weights_pack(struct mc_inside_weights *w, size_t unit, size_t slot,
                            const struct mc_unit_blocks *at, const float *a, const float *b);
mc_inside_values mc_inside_weights_values; /* arg: a struct mc_inside_weights */

#endif

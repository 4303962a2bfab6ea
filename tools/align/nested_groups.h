/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups within the units of other groups, for weight matching: of two units of the outer group,
 * what the best assignments inside are worth. */
#ifndef MC_NESTED_GROUPS_H
#define MC_NESTED_GROUPS_H

#include "libcommon/graph/nesting.h"
#include "libcommon/graph/uses.h"

struct mc_nested_group {
    size_t n_units, n_inside; /* groups inside each unit */
    const size_t *inside;     /* (n_units,n_inside) which */
    const size_t *sizes;      /* (n_groups) of all groups */
    size_t *values;           /* (n_inside) values of a unit of these, in all uses */
    size_t width;             /* units of a unit's groups together */
    /* while values are made, by unit and group inside: (values,size) of a and b, how many are
     * there, and (n_units,n_units,width) the best permutations of each pair */
    double **x, **y;
    size_t *have;
    int32_t *best;
};

struct mc_nested_groups {
    struct mc_nesting nesting;
    struct mc_nested_group *groups; /* (n_groups) */
};

/* p: of the groups, which must outlive out; uses: of parameters, in order (mc_uses_in_order). */
MC_USE_RESULT int mc_nested_find(struct mc_nested_groups *out, const struct mc_perm *p,
                                 const struct mc_placed_use *uses, size_t n_uses,
                                 struct mc_error *err);
void mc_nested_release(struct mc_nested_groups *n, size_t n_groups);

/* Forget what was packed; then each use of each group inside, in one order, of two flat vectors.
 * at: the group's place in `inside`. */
MC_USE_RESULT int mc_nested_begin(struct mc_nested_group *n, struct mc_error *err);
void mc_nested_pack(struct mc_nested_group *n, size_t at, const struct mc_unit_blocks *units,
                    const float *a, const float *b);
/* value[h*n_units + u] += what the best permutations inside b's unit u, put at place h, are worth
 * over those of p. */
MC_USE_RESULT int mc_nested_add_values(struct mc_nested_group *n, const struct mc_perm *p,
                                       double *value, int threads, struct mc_error *err);
/* The permutations inside become the best for units[h] at place h; done again, what they were.
 * Returns 1 where one is another now. */
int mc_nested_exchange(struct mc_nested_group *n, const int32_t *units, struct mc_perm *p);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Best assignments inside the units of a group, for each pair of a position and a unit that could
 * move there. The value of a pair is the sum of these assignments' values. */
#ifndef MC_NESTED_MATCHING_H
#define MC_NESTED_MATCHING_H

#include "libcommon/assign/assign.h"
#include "libcommon/permutation/permutation.h"

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
static inline size_t mc_inside_slot_size(const struct mc_inside *in, size_t slot)
{
    return in->nesting->groups[mc_nesting_child(in->nesting, in->group, 0, slot)].size;
}

/* Match a group that is not nested, and the groups in its units: exactly in two levels, first the best
 * assignments inside each pair of units, then the units by the sums of those values. value: (n_groups)
 * matrices over the taps of each group that has any. keep: (n_groups) 1 for groups that stay the
 * identity, in value and order of their units. out: the identity. info: (n_groups), set for these
 * groups. */
MC_USE_RESULT int mc_match_group(struct mc_perm *out, struct mc_assignment *info,
                                 const struct mc_nesting *nesting, const double *const *value,
                                 const unsigned char *keep, size_t group, struct mc_error *err);

#endif

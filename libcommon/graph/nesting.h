/* SPDX-License-Identifier: Apache-2.0
 *
 * Which groups lie in the units of which (struct mc_group: within, unit): what every program asks
 * that permutes, matches or checks groups within units. */
#ifndef MC_NESTING_H
#define MC_NESTING_H

#include "libcommon/graph/symmetry.h"

/* The groups in the units of each: those of group g, by unit and slot, from child[first[g]] on, as
 * many a unit as slots[g]; and the slot of each group (0 of one that lies in none). */
struct mc_nesting {
    size_t *first, *slots, *child, *slot; /* (n_groups) */
};
/* MC_EINPUT as mc_perm_check_nesting. After an error there is nothing to release. p: its names,
 * sizes, within and unit are looked at. */
MC_USE_RESULT int mc_nesting_find(struct mc_nesting *n, const struct mc_perm *p,
                                  struct mc_error *err);
void mc_nesting_release(struct mc_nesting *n);
/* Which unit comes to each place that the taps of group g show: of the group itself or, where it
 * lies in unit 0 of another, of all like it, unit by unit. */
void mc_perm_of_taps(const struct mc_perm *p, const struct mc_nesting *n, size_t g, int32_t *to);

/* *from (n_groups), which the caller frees: the group that comes to the place of each as p permutes
 * the groups; units take along what they hold. */
MC_USE_RESULT int mc_nesting_sources(const struct mc_perm *p, size_t **from, struct mc_error *err);
/* Groups that lie within units do so alike in all units; MC_EINPUT names a group that does not. */
MC_USE_RESULT int mc_perm_check_nesting(const struct mc_perm *p, struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of groups, and groups within the units of others: the heads of an attention hold the
 * channels of each, blocks of a grouped convolution theirs. All that programs need to know of them
 * is here; libcommon/graph/blocks.h and row_nesting.h find them. */
#ifndef MC_NESTING_H
#define MC_NESTING_H

#include "libcommon/base/error.h"
#include "libcommon/base/tensor.h"

struct mc_group {
    char name[MC_NAME_MAX]; /* of the first layer whose outputs it permutes */
    size_t size;            /* K */
    /* 1 + the group within whose unit `unit` it lies, or 0. What lies in the units of one group is
     * alike in all of them, in the same order (the groups of a unit, by their slots). A group
     * within moves first, then the units with what they hold. */
    size_t within, unit;
};

/* 1: both are in the same unit of the same group, or both in none. */
static inline int mc_group_same_place(const struct mc_group *a, const struct mc_group *b)
{
    return a->within == b->within && (!a->within || a->unit == b->unit);
}
/* 1: the units of group k hold other groups. */
static inline int mc_group_holds_others(const struct mc_group *groups, size_t n, size_t k)
{
    size_t g = 0;

    while (g < n && groups[g].within != 1 + k)
        g++;
    return g < n;
}

/* Units that taps and matrices of group k have: its own or, if it is in unit 0 of another, those of
 * all groups like it, unit by unit; 0 if it is in another unit. */
static inline size_t mc_group_seen(const struct mc_group *groups, size_t k)
{
    const struct mc_group *g = &groups[k];

    return !g->within ? g->size : g->unit ? 0 : g->size * groups[g->within - 1].size;
}
/* MC_EINPUT names a group within a group that is within another. */
MC_USE_RESULT int mc_groups_check_depth(const struct mc_group *groups, size_t n,
                                        struct mc_error *err);

/* The groups in the units of each. */
struct mc_nesting {
    const struct mc_group *groups; /* lent */
    size_t n_groups;
    size_t *slots;         /* (n_groups) of each: groups per unit */
    size_t *first, *child; /* (n_groups) those of g, by unit and slot, from child[first[g]] on */
    size_t *slot;          /* (n_groups) of each within another; else 0 */
};
/* MC_EINPUT names a group that is not alike in all units of one, or lies in itself. After an error
 * there is nothing to release. */
MC_USE_RESULT int mc_nesting_find(struct mc_nesting *n, const struct mc_group *groups,
                                  size_t n_groups, struct mc_error *err);
void mc_nesting_release(struct mc_nesting *n);
/* mc_nesting_find for its errors alone. */
MC_USE_RESULT int mc_groups_check(const struct mc_group *groups, size_t n, struct mc_error *err);
/* The group in a slot of a unit of group g. */
static inline size_t mc_nesting_child(const struct mc_nesting *n, size_t g, size_t unit,
                                      size_t slot)
{
    return n->child[n->first[g] + unit * n->slots[g] + slot];
}
/* perm: of each group. to: the unit that comes to each place that the taps of group g show, those
 * of the group itself or, if it is in unit 0 of another, of all like it, unit by unit. */
void mc_nesting_of_taps(const struct mc_nesting *n, int32_t *const *perm, size_t g, int32_t *to);
/* *from (n_groups), which the caller frees: the group that comes to the place of each as perm
 * permutes the groups; units take along what they hold. */
MC_USE_RESULT int mc_nesting_sources(const struct mc_group *groups, size_t n, int32_t *const *perm,
                                     size_t **from, struct mc_error *err);

#endif

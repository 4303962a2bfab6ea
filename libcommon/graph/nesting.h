/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups and their nesting: a group may be nested in one unit of another group. For example, each
 * attention head contains channels, and so does each block of a grouped convolution. Programs need
 * only this header; libcommon/graph/blocks.h and row_nesting.h find the nesting. */
#ifndef MC_NESTING_H
#define MC_NESTING_H

#include "libcommon/base/error.h"
#include "libcommon/base/tensor.h"

#include <stdint.h>

/* The maps that may act on a group's units without changing the function; in a permutation, the map
 * that does. All are orthogonal matrices, so the inverse is the transpose. */
enum mc_allows {
    MC_ALLOWS_PERMUTATION,
    MC_ALLOWS_SIGNED,     /* a permutation with a sign per unit */
    MC_ALLOWS_ROTATION,   /* a rotation of each pair of units i and i + K/2 */
    MC_ALLOWS_HALF_TURN,  /* a sign of each pair of units i and i + K/2 */
    MC_ALLOWS_ORTHOGONAL, /* any orthogonal matrix */
    MC_ALLOWS_CENTRED,    /* any orthogonal matrix that fixes the vector of ones */
    MC_N_ALLOWS
};
/* 1 if the units are pairs i and i + K/2 that stay in place. */
static inline int mc_allows_of_pairs(enum mc_allows a)
{
    return a == MC_ALLOWS_ROTATION || a == MC_ALLOWS_HALF_TURN;
}
/* Names in streams and group files, indexed by enum mc_allows. */
extern const char *const mc_allows_names[MC_N_ALLOWS];
/* For messages: all names except "permutation". */
#define MC_ALLOWS_LIST "signed, rotation, half-turn, orthogonal or centred"
/* The value with that name (`length` bytes), or MC_N_ALLOWS. */
enum mc_allows mc_allows_find(const char *name, size_t length);

#define MC_NO_GROUP SIZE_MAX /* `outer` of a group that is not nested */
struct mc_group {
    char name[MC_NAME_MAX]; /* the first layer whose outputs it permutes */
    size_t size;            /* K */
    /* The group is nested in unit `unit` of group `outer` (an index), unless outer is MC_NO_GROUP.
     * All units of a group contain equal groups in the same order (slots). A nested group is
     * permuted first, then the outer units with their contents. */
    size_t outer, unit;
    enum mc_allows allows;
};

static inline int mc_group_is_nested(const struct mc_group *g)
{
    return g->outer != MC_NO_GROUP;
}

/* 1 if both are nested in the same unit of the same group, or neither is nested. */
static inline int mc_group_same_place(const struct mc_group *a, const struct mc_group *b)
{
    return a->outer == b->outer && (!mc_group_is_nested(a) || a->unit == b->unit);
}
/* 1 if groups are nested in the units of group k. */
static inline int mc_group_contains_groups(const struct mc_group *groups, size_t n, size_t k)
{
    size_t g = 0;

    while (g < n && groups[g].outer != k)
        g++;
    return g < n;
}

/* Number of units in the taps and matrices of group k. If the group is not nested, this is its
 * size. If it is nested in unit 0, this is the total size of the equal groups in all units. If it
 * is nested in another unit, this is 0. */
static inline size_t mc_group_tap_units(const struct mc_group *groups, size_t k)
{
    const struct mc_group *g = &groups[k];

    return !mc_group_is_nested(g) ? g->size : g->unit ? 0 : g->size * groups[g->outer].size;
}
/* MC_EINPUT names a group that is nested in a nested group. */
MC_USE_RESULT int mc_groups_check_depth(const struct mc_group *groups, size_t n,
                                        struct mc_error *err);

/* The groups nested in each group. */
struct mc_nesting {
    const struct mc_group *groups; /* borrowed */
    size_t n_groups;
    size_t *slots;         /* (n_groups) groups per unit */
    size_t *first, *child; /* (n_groups) groups in g, by unit and slot, start at child[first[g]] */
    size_t *slot;          /* (n_groups) slot of a nested group; else 0 */
};
/* MC_EINPUT names a group that is nested in itself, differs between units, has pairs and an odd
 * number of units, or contains groups and allows more than permutations. After an error there is
 * nothing to release. */
MC_USE_RESULT int mc_nesting_find(struct mc_nesting *n, const struct mc_group *groups,
                                  size_t n_groups, struct mc_error *err);
void mc_nesting_release(struct mc_nesting *n);
/* Only check the nesting. */
MC_USE_RESULT int mc_groups_check(const struct mc_group *groups, size_t n, struct mc_error *err);
/* The group in a unit and slot of group g. */
static inline size_t mc_nesting_child(const struct mc_nesting *n, size_t g, size_t unit,
                                      size_t slot)
{
    return n->child[n->first[g] + unit * n->slots[g] + slot];
}
/* Set `to` to the unit that moves to each position in the taps of group g. The taps contain the
 * group's units or, if it is nested in unit 0, those of the equal groups in all units, unit by
 * unit. perm: one permutation per group. */
void mc_nesting_of_taps(const struct mc_nesting *n, int32_t *const *perm, size_t g, int32_t *to);
/* *from (n_groups; the caller frees it): the group that takes each group's position when perm is
 * applied. Nested groups move with their unit. If perm is NULL: the equal group in the first units.
 * MC_EINPUT as mc_nesting_find. */
MC_USE_RESULT int mc_nesting_sources(const struct mc_group *groups, size_t n, int32_t *const *perm,
                                     size_t **from, struct mc_error *err);

#endif

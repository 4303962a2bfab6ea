/* SPDX-License-Identifier: Apache-2.0
 *
 * The nesting of groups. */
#include "libcommon/graph/nesting.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

const char *const mc_allows_names[MC_N_ALLOWS] = {"permutation", "signed",     "rotation",
                                                  "half-turn",   "orthogonal", "centred"};

enum mc_allows mc_allows_find(const char *name, size_t length)
{
    enum mc_allows a = 0;

    while (a < MC_N_ALLOWS &&
           (strlen(mc_allows_names[a]) != length || memcmp(name, mc_allows_names[a], length)))
        a++;
    return a;
}

void mc_nesting_release(struct mc_nesting *n)
{
    free(n->first);
    free(n->slots);
    free(n->child);
    free(n->slot);
    *n = (struct mc_nesting){0};
}

static int bad_nesting(const struct mc_group *g, struct mc_error *err)
{
    return mc_fail(err, MC_EINPUT,
                   "group \"%s\": invalid nesting (the units of a group must contain equal groups)",
                   g->name);
}

/* Set from (n_groups) to the group that takes each group's position under perm; nested groups move
 * with their unit. If perm is NULL, set it to the counterpart of each group in the first units,
 * which must be equal. Return a group whose size or number of slots differs from those of its
 * from[], or n_groups. */
static size_t trace(const struct mc_nesting *n, int32_t *const *perm, size_t *from)
{
    int open = 1;

    for (size_t g = 0; g < n->n_groups; g++)
        from[g] = mc_group_is_nested(&n->groups[g]) ? n->n_groups : g;
    while (open) {
        open = 0;
        for (size_t g = 0; g < n->n_groups; g++) {
            const struct mc_group *group = &n->groups[g];
            if (from[g] < n->n_groups)
                continue;
            const size_t outer = from[group->outer];
            if (outer == n->n_groups) {
                open = 1;
                continue;
            }
            from[g] =
                mc_nesting_child(n, outer, perm ? (size_t)perm[outer][group->unit] : 0, n->slot[g]);
            if (n->groups[from[g]].size != group->size || n->slots[from[g]] != n->slots[g])
                return g;
        }
    }
    return n->n_groups;
}

/* Count the groups nested in each into n->slots. */
static int count_inside(struct mc_nesting *n, struct mc_error *err)
{
    for (size_t g = 0; g < n->n_groups; g++) {
        size_t depth = 0, outer = n->groups[g].outer;
        if (outer == MC_NO_GROUP)
            continue;
        if (outer >= n->n_groups || n->groups[g].unit >= n->groups[outer].size)
            return bad_nesting(&n->groups[g], err);
        n->slots[outer]++;
        for (; outer < n->n_groups && depth <= n->n_groups; depth++)
            outer = n->groups[outer].outer;
        if (depth > n->n_groups) /* a group nested in itself */
            return bad_nesting(&n->groups[g], err);
    }
    return 0;
}

/* Other maps of an outer group would mix the contents of its units. */
static int check_allows(const struct mc_nesting *n, struct mc_error *err)
{
    for (size_t g = 0; g < n->n_groups; g++) {
        const struct mc_group *group = &n->groups[g];
        if (n->slots[g] && group->allows)
            return mc_fail(err, MC_EINPUT,
                           "group \"%s\" allows %s, but contains groups (permutation expected)",
                           group->name, mc_allows_names[group->allows]);
        if (mc_allows_of_pairs(group->allows) && group->size % 2)
            return mc_fail(err, MC_EINPUT,
                           "group \"%s\": %s requires an even number of units (got %zu)",
                           group->name, mc_allows_names[group->allows], group->size);
    }
    return 0;
}

static int list_inside(struct mc_nesting *n, size_t *met, struct mc_error *err)
{
    size_t total = 0;

    for (size_t g = 0; g < n->n_groups; g++) {
        const struct mc_group *group = &n->groups[g];
        n->first[g] = total;
        total += n->slots[g];
        if (n->slots[g] && n->slots[g] % group->size)
            return mc_fail(err, MC_EINPUT, "the units of group \"%s\" contain different groups",
                           group->name);
        n->slots[g] /= group->size ? group->size : 1;
    }
    for (size_t g = 0; g < n->n_groups; g++) {
        const struct mc_group *group = &n->groups[g];
        if (!mc_group_is_nested(group))
            continue;
        const size_t outer = group->outer, unit = n->first[outer] + group->unit * n->slots[outer];
        if (met[unit] == n->slots[outer])
            return bad_nesting(group, err);
        n->slot[g] = met[unit]++;
        n->child[unit + n->slot[g]] = g;
    }
    return 0;
}

int mc_nesting_find(struct mc_nesting *n, const struct mc_group *groups, size_t n_groups,
                    struct mc_error *err)
{
    size_t bad, *room = NULL; /* first used as the number of groups found in each unit */
    int rc = 0;

    *n = (struct mc_nesting){.groups = groups, .n_groups = n_groups};
    if ((rc = mc_new(&n->first, n_groups, err)) || (rc = mc_new(&n->slots, n_groups, err)) ||
        (rc = mc_new(&n->child, n_groups, err)) || (rc = mc_new(&n->slot, n_groups, err)) ||
        (rc = mc_new(&room, n_groups, err)) || (rc = count_inside(n, err)) ||
        (rc = check_allows(n, err)) || (rc = list_inside(n, room, err)))
        goto out;
    if ((bad = trace(n, NULL, room)) < n_groups)
        rc = bad_nesting(&groups[bad], err);
out:
    free(room);
    if (rc)
        mc_nesting_release(n);
    return rc;
}

int mc_groups_check(const struct mc_group *groups, size_t n, struct mc_error *err)
{
    struct mc_nesting nesting;
    int rc = mc_nesting_find(&nesting, groups, n, err);

    mc_nesting_release(&nesting);
    return rc;
}

int mc_groups_check_depth(const struct mc_group *groups, size_t n, struct mc_error *err)
{
    for (size_t k = 0; k < n; k++)
        if (mc_group_is_nested(&groups[k]) && mc_group_is_nested(&groups[groups[k].outer]))
            return mc_fail(err, MC_EINPUT, "group %s: nested more than one level deep",
                           groups[k].name);
    return 0;
}

void mc_nesting_of_taps(const struct mc_nesting *n, int32_t *const *perm, size_t g, int32_t *to)
{
    const size_t K = n->groups[g].size, outer = n->groups[g].outer;

    if (outer == MC_NO_GROUP)
        memcpy(to, perm[g], K * sizeof *to);
    for (size_t h = 0; outer != MC_NO_GROUP && h < n->groups[outer].size; h++) {
        const size_t u = (size_t)perm[outer][h];
        for (size_t i = 0; i < K; i++)
            to[h * K + i] = (int32_t)(u * K) + perm[mc_nesting_child(n, outer, u, n->slot[g])][i];
    }
}

int mc_nesting_sources(const struct mc_group *groups, size_t n, int32_t *const *perm, size_t **from,
                       struct mc_error *err)
{
    struct mc_nesting nesting;
    int rc = mc_nesting_find(&nesting, groups, n, err);

    *from = NULL;
    if (!rc && !(rc = mc_new(from, n, err)))
        (void)trace(&nesting, perm, *from);
    mc_nesting_release(&nesting);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Which groups lie in the units of which. */
#include "libcommon/graph/nesting.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

void mc_nesting_release(struct mc_nesting *n)
{
    free(n->first);
    free(n->slots);
    free(n->child);
    free(n->slot);
    *n = (struct mc_nesting){0};
}

static int bad_nesting(const struct mc_perm *p, size_t g, struct mc_error *err)
{
    return mc_fail(err, MC_EINPUT, "group \"%s\" does not lie alike in all units of a group",
                   p->names[g]);
}

/* from (n_groups): the group that comes to the place of each, as units take along what they hold;
 * or, without `moved`, the one in the first units that it should be like. Returns a group that is
 * of another size or holds another number of groups than that one, or n_groups. */
static size_t trace(const struct mc_nesting *n, const struct mc_perm *p, int moved, size_t *from)
{
    int open = 1;

    for (size_t g = 0; g < p->n_groups; g++)
        from[g] = p->within[g] ? p->n_groups : g;
    while (open) {
        open = 0;
        for (size_t g = 0; g < p->n_groups; g++) {
            const size_t up = p->within[g] ? from[p->within[g] - 1] : 0;
            if (from[g] < p->n_groups)
                continue;
            if (up == p->n_groups) {
                open = 1;
                continue;
            }
            const size_t unit = moved ? (size_t)p->perm[up][p->unit[g]] : 0;
            const size_t to = n->child[n->first[up] + unit * n->slots[up] + n->slot[g]];
            if (p->sizes[to] != p->sizes[g] || n->slots[to] != n->slots[g])
                return g;
            from[g] = to;
        }
    }
    return p->n_groups;
}

int mc_nesting_find(struct mc_nesting *n, const struct mc_perm *p, struct mc_error *err)
{
    size_t total = 0, bad = 0, *met = NULL, *from = NULL; /* met: of each unit's groups */
    int rc = 0;

    *n = (struct mc_nesting){0};
    if ((rc = mc_new(&n->first, p->n_groups, err)) || (rc = mc_new(&n->slots, p->n_groups, err)) ||
        (rc = mc_new(&n->child, p->n_groups, err)) || (rc = mc_new(&n->slot, p->n_groups, err)))
        goto out;
    for (size_t g = 0; g < p->n_groups; g++) {
        size_t depth = 0, up = p->within[g];
        if (!up)
            continue;
        if (up > p->n_groups || p->unit[g] >= p->sizes[up - 1]) {
            rc = bad_nesting(p, g, err);
            goto out;
        }
        n->slots[up - 1]++;
        for (; up && depth <= p->n_groups; depth++)
            up = p->within[up - 1] <= p->n_groups ? p->within[up - 1] : 0;
        if (up) { /* a group within itself */
            rc = bad_nesting(p, g, err);
            goto out;
        }
    }
    for (size_t g = 0; g < p->n_groups; g++) {
        n->first[g] = total;
        total += n->slots[g];
        if (n->slots[g] && n->slots[g] % p->sizes[g]) {
            rc = mc_fail(err, MC_EINPUT, "the units of group \"%s\" do not hold the same groups",
                         p->names[g]);
            goto out;
        }
        n->slots[g] /= p->sizes[g] ? p->sizes[g] : 1;
    }
    /* units of all groups that hold others: no more than there are groups */
    if ((rc = mc_new(&met, p->n_groups, err)))
        goto out;
    for (size_t g = 0; g < p->n_groups; g++) {
        if (!p->within[g])
            continue;
        const size_t up = p->within[g] - 1, of = n->first[up] + p->unit[g] * n->slots[up];
        if (met[of] == n->slots[up]) {
            rc = bad_nesting(p, g, err);
            goto out;
        }
        n->slot[g] = met[of]++;
        n->child[of + n->slot[g]] = g;
    }
    if (!(rc = mc_new(&from, p->n_groups, err)) && (bad = trace(n, p, 0, from)) < p->n_groups)
        rc = bad_nesting(p, bad, err);
out:
    free(met);
    free(from);
    if (rc)
        mc_nesting_release(n);
    return rc;
}

int mc_perm_check_nesting(const struct mc_perm *p, struct mc_error *err)
{
    struct mc_nesting n;
    int rc = mc_nesting_find(&n, p, err);

    if (!rc)
        mc_nesting_release(&n);
    return rc;
}

void mc_perm_of_taps(const struct mc_perm *p, const struct mc_nesting *n, size_t g, int32_t *to)
{
    const size_t K = p->sizes[g], up = p->within[g] - 1;

    if (!p->within[g])
        memcpy(to, p->perm[g], K * sizeof *to);
    for (size_t h = 0; p->within[g] && h < p->sizes[up]; h++) {
        const size_t u = (size_t)p->perm[up][h];
        const int32_t *perm = p->perm[n->child[n->first[up] + u * n->slots[up] + n->slot[g]]];
        for (size_t i = 0; i < K; i++)
            to[h * K + i] = (int32_t)(u * K) + perm[i];
    }
}

int mc_nesting_sources(const struct mc_perm *p, size_t **from, struct mc_error *err)
{
    struct mc_nesting n = {0};
    int rc = mc_nesting_find(&n, p, err);

    *from = NULL;
    if (rc)
        return rc;
    if (!(rc = mc_new(from, p->n_groups, err)))
        (void)trace(&n, p, 1, *from);
    mc_nesting_release(&n);
    return rc;
}

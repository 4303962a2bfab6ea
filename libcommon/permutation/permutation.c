/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/permutation/permutation.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/rng.h"
#include "libcommon/permutation/maps.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

int mc_perm_alloc(struct mc_perm *p, size_t n_groups, struct mc_error *err)
{
    int rc = 0;

    *p = (struct mc_perm){.n_groups = n_groups};
    if ((rc = mc_new(&p->groups, n_groups, err)) || (rc = mc_new(&p->perm, n_groups, err)))
        mc_perm_release(p);
    return rc;
}

int mc_perm_identity(struct mc_perm *p, const struct mc_group *groups, size_t n,
                     struct mc_error *err)
{
    int rc = mc_perm_alloc(p, n, err);

    for (size_t g = 0; g < n && !rc; g++) {
        p->groups[g] = groups[g];
        p->groups[g].allows = MC_ALLOWS_PERMUTATION;
        rc = mc_new(&p->perm[g], groups[g].size, err);
    }
    if (rc)
        mc_perm_release(p);
    else
        mc_perm_reset(p);
    return rc;
}

int mc_perm_init(struct mc_perm *p, const struct mc_symmetry *s, struct mc_error *err)
{
    return mc_perm_identity(p, s->groups, s->n_groups, err);
}

void mc_perm_release(struct mc_perm *p)
{
    for (size_t g = 0; p->perm && g < p->n_groups; g++)
        free(p->perm[g]);
    for (size_t g = 0; p->map && g < p->n_groups; g++)
        free(p->map[g]);
    free(p->map);
    free(p->groups);
    free(p->perm);
    *p = (struct mc_perm){0};
}

void mc_perm_reset(struct mc_perm *p)
{
    for (size_t g = 0; g < p->n_groups; g++)
        for (size_t i = 0; i < p->groups[g].size; i++)
            p->perm[g][i] = (int32_t)i;
}

void mc_perm_random(struct mc_perm *p, uint64_t seed)
{
    mc_perm_reset(p);
    for (size_t g = 0; g < p->n_groups; g++) {
        int32_t *perm = p->perm[g];
        for (size_t i = p->groups[g].size; i > 1; i--) { /* Fisher and Yates */
            struct mc_rng4 r = mc_rng(seed, MC_RNG_PERMUTE, (uint32_t)g, (uint32_t)i, 0);
            size_t k = mc_rng_below(r.v[0], (uint32_t)i);
            int32_t t = perm[i - 1];
            perm[i - 1] = perm[k];
            perm[k] = t;
        }
    }
}

/* ---- matrices ----------------------------------------------------------------------------------- */

int mc_perm_set_matrix(struct mc_perm *p, size_t g, enum mc_allows kind, const double *m,
                       struct mc_error *err)
{
    const size_t n = p->groups[g].size * p->groups[g].size;
    float *map = NULL;
    int rc = p->map ? 0 : mc_new(&p->map, p->n_groups, err);

    if (rc || (rc = mc_new(&map, n, err)))
        return rc;
    for (size_t i = 0; i < n; i++)
        map[i] = (float)m[i];
    free(p->map[g]);
    free(p->perm[g]);
    p->map[g] = map;
    p->perm[g] = NULL;
    p->groups[g].allows = kind;
    return 0;
}

void mc_perm_matrix(const struct mc_perm *p, size_t g, double *m)
{
    const size_t K = p->groups[g].size;

    for (size_t i = 0; i < K * K; i++)
        m[i] = mc_perm_map(p, g) ? (double)p->map[g][i] : 0;
    for (size_t i = 0; i < K && !mc_perm_map(p, g); i++)
        m[i * K + (size_t)p->perm[g][i]] = 1;
}

/* Return 1 if the map of group g is one of this kind. */
static int is_allowed(const struct mc_perm *p, size_t g, enum mc_allows allowed)
{
    return mc_map_is_kind_of(p->groups[g].allows, allowed) ||
           (!mc_perm_map(p, g) && !mc_perm_moved(p, g));
}

/* The kind of a product. */
static enum mc_allows product_kind(const struct mc_perm *p, size_t i, const struct mc_perm *q,
                                   size_t g)
{
    if (is_allowed(p, i, q->groups[g].allows))
        return q->groups[g].allows;
    return is_allowed(q, g, p->groups[i].allows) ? p->groups[i].allows : MC_ALLOWS_ORTHOGONAL;
}

/* Set group `to` of p, which has the same units, to its map followed by that of group g of q, if one
 * of the two is a matrix. Return 1 if so, 0, or an error. */
static int product(struct mc_perm *p, size_t to, const struct mc_perm *q, size_t g,
                   struct mc_error *err)
{
    const size_t K = p->groups[to].size;
    const int k = (int)K;
    double *m = NULL;

    if (!mc_perm_map(p, to) && !mc_perm_map(q, g))
        return 0;
    int rc = mc_new(&m, 3 * K * K, err);
    if (rc)
        return rc;
    mc_perm_matrix(q, g, m);
    mc_perm_matrix(p, to, m + K * K);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, k, k, 1, m, k, m + K * K, k, 0,
                m + 2 * K * K, k);
    rc = mc_perm_set_matrix(p, to, product_kind(p, to, q, g), m + 2 * K * K, err);
    free(m);
    return rc ? rc : 1;
}

int mc_perm_clone(struct mc_perm *to, const struct mc_perm *p, struct mc_error *err)
{
    int rc = mc_perm_identity(to, p->groups, p->n_groups, err);

    for (size_t g = 0; g < p->n_groups && !rc; g++) {
        const size_t n = p->groups[g].size;
        double *m = NULL;
        if (!mc_perm_map(p, g))
            memcpy(to->perm[g], p->perm[g], n * sizeof *p->perm[g]);
        else if (!(rc = mc_new(&m, n * n, err))) {
            mc_perm_matrix(p, g, m);
            rc = mc_perm_set_matrix(to, g, p->groups[g].allows, m, err);
        }
        free(m);
    }
    if (rc) {
        mc_perm_release(to);
        return rc;
    }
    memcpy(to->ids, p->ids, sizeof to->ids);
    return 0;
}

/* ---- algebra ------------------------------------------------------------------------------------ */

/* Invert in place along the cycles; the complement marks entries that are done. */
static void invert(int32_t *perm, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int32_t from = (int32_t)i, index = perm[i];
        while (index >= 0) {
            int32_t next = perm[index];
            perm[index] = ~from;
            from = index;
            index = next;
        }
    }
    for (size_t i = 0; i < size; i++)
        perm[i] = ~perm[i];
}

int mc_perm_inverse(struct mc_perm *p, struct mc_error *err)
{
    struct {
        int32_t *perm;
        float *map;
        enum mc_allows kind;
    } *old = NULL;
    size_t *from = NULL;
    int rc = mc_nesting_sources(p->groups, p->n_groups, p->perm, &from, err);

    if (rc || (rc = mc_new(&old, p->n_groups, err)))
        goto out;
    memset(p->ids, 0, sizeof p->ids);
    for (size_t g = 0; g < p->n_groups; g++) {
        old[g].perm = p->perm[g];
        old[g].kind = p->groups[g].allows;
        if (mc_perm_map(p, g))
            mc_map_transpose(p->groups[g].size, old[g].map = p->map[g]);
        else
            invert(old[g].perm, p->groups[g].size);
    }
    for (size_t g = 0; g < p->n_groups; g++) {
        p->perm[g] = old[from[g]].perm;
        p->groups[g].allows = old[from[g]].kind;
        if (p->map)
            p->map[g] = old[from[g]].map;
    }
out:
    free(old);
    free(from);
    return rc;
}

/* Return MC_EINPUT if group g of p has another name or size than `expected`. */
static int check_group(const struct mc_perm *p, size_t g, const struct mc_group *expected,
                       struct mc_error *err)
{
    const struct mc_group *got = &p->groups[g];

    if (strcmp(got->name, expected->name) || got->size != expected->size)
        return mc_fail(err, MC_EINPUT, "group %zu: \"%s\" of %zu units expected, got \"%s\" of %zu",
                       g, expected->name, expected->size, got->name, got->size);
    return 0;
}

int mc_perm_compose(struct mc_perm *p, const struct mc_perm *q, struct mc_error *err)
{
    int32_t *old = NULL;
    size_t *from = NULL, max = 0;
    int rc = 0;

    if (p->n_groups != q->n_groups)
        return mc_fail(err, MC_EINPUT, "permutations of %zu and %zu groups cannot be composed",
                       p->n_groups, q->n_groups);
    for (size_t g = 0; g < p->n_groups; g++) {
        if ((rc = check_group(p, g, &q->groups[g], err)))
            return rc;
        if (!mc_group_same_place(&p->groups[g], &q->groups[g]))
            return mc_fail(err, MC_EINPUT, "the permutations nest group \"%s\" differently",
                           p->groups[g].name);
        max = p->groups[g].size > max ? p->groups[g].size : max;
    }
    if ((rc = mc_new(&old, max, err)) ||
        (rc = mc_nesting_sources(p->groups, p->n_groups, p->perm, &from, err)))
        goto out;
    memset(p->ids, 0, sizeof p->ids);
    for (size_t g = 0; g < p->n_groups; g++, rc = 0) { /* p has moved the groups that q permutes */
        int32_t *perm = p->perm[from[g]];
        if ((rc = product(p, from[g], q, g, err)) < 0)
            goto out;
        if (rc) /* at least one is a matrix */
            continue;
        memcpy(old, perm, p->groups[g].size * sizeof *old);
        for (size_t i = 0; i < p->groups[g].size; i++)
            perm[i] = old[q->perm[g][i]];
    }
out:
    free(old);
    free(from);
    return rc;
}

size_t mc_perm_moved(const struct mc_perm *p, size_t group)
{
    const size_t K = p->groups[group].size;
    const float *map = mc_perm_map(p, group);
    size_t n = 0;

    for (size_t i = 0; i < K; i++)
        n += map ? map[i * K + i] != 1 : p->perm[group][i] != (int32_t)i;
    return n;
}

int mc_perm_is_identity(const struct mc_perm *p)
{
    for (size_t g = 0; g < p->n_groups; g++)
        if (mc_perm_moved(p, g))
            return 0;
    return 1;
}

void mc_perm_copy(struct mc_perm *to, const struct mc_perm *from)
{
    for (size_t g = 0; g < from->n_groups; g++)
        memcpy(to->perm[g], from->perm[g], from->groups[g].size * sizeof *to->perm[g]);
}

int mc_perm_found_elsewhere(const struct mc_perm *p, const char *a, const char *b)
{
    return (*p->ids[0] && *a && strcmp(p->ids[0], a) != 0) ||
           (*p->ids[1] && *b && strcmp(p->ids[1], b) != 0);
}

int mc_perm_check(const struct mc_perm *p, struct mc_error *err)
{
    for (size_t g = 0; g < p->n_groups; g++) {
        unsigned char *seen = NULL;
        size_t bad = p->groups[g].size;
        int rc = 0;
        if (mc_perm_map(p, g)) {
            if ((rc = mc_map_check(&p->groups[g], p->map[g], err)))
                return rc;
            continue;
        }
        rc = mc_new(&seen, p->groups[g].size, err);
        if (rc)
            return rc;
        for (size_t i = p->groups[g].size; i-- > 0;) {
            int32_t u = p->perm[g][i];
            if (u < 0 || (size_t)u >= p->groups[g].size || seen[u]++)
                bad = i;
        }
        free(seen);
        if (bad < p->groups[g].size)
            return mc_fail(err, MC_EINPUT,
                           "group \"%s\": entry %zu is %d (each of %zu units must occur once)",
                           p->groups[g].name, bad, (int)p->perm[g][bad], p->groups[g].size);
    }
    return 0;
}

int mc_perm_check_groups(const struct mc_perm *p, const struct mc_symmetry *s, struct mc_error *err)
{
    if (p->n_groups != s->n_groups)
        return mc_fail(err, MC_EINPUT,
                       "the permutation is for another network: %zu group%s expected, got %zu",
                       s->n_groups, s->n_groups == 1 ? "" : "s", p->n_groups);
    int rc = 0, nested = 0;
    for (size_t g = 0; g < p->n_groups; g++)
        nested |= mc_group_is_nested(&p->groups[g]);
    for (size_t g = 0; g < s->n_groups && !rc; g++) {
        const struct mc_group *to = &s->groups[g];
        rc = check_group(p, g, to, err);
        if (!rc && nested && !mc_group_same_place(&p->groups[g], to))
            rc = mc_fail(err, MC_EINPUT, "group \"%s\" is nested in another unit", to->name);
        if (!rc && !is_allowed(p, g, to->allows))
            rc = mc_fail(err, MC_EINPUT,
                         "group \"%s\" allows %s maps (got %s, which would change the function)",
                         to->name, mc_allows_names[to->allows],
                         mc_allows_names[p->groups[g].allows]);
    }
    return mc_fail_in(rc, err, "the permutation is for another network");
}

int mc_perm_set_nesting(struct mc_perm *p, const struct mc_symmetry *s, struct mc_error *err)
{
    struct mc_perm all; /* p with its missing groups */
    size_t k = 0, missing = 0;
    int rc = mc_perm_init(&all, s, err);

    if (rc)
        return rc;
    for (size_t g = 0; g < s->n_groups && !p->map; g++)
        if (k < p->n_groups && !mc_group_is_nested(&p->groups[k]) &&
            !check_group(p, k, &all.groups[g], NULL))
            memcpy(all.perm[g], p->perm[k++], all.groups[g].size * sizeof *all.perm[g]);
        else if (mc_group_contains_groups(s->groups, s->n_groups, g))
            missing++;
        else
            break;
    if (missing && k == p->n_groups && k + missing == s->n_groups) {
        memcpy(all.ids, p->ids, sizeof all.ids);
        mc_perm_release(p);
        *p = all;
        return 0;
    }
    mc_perm_release(&all);
    if (!(rc = mc_perm_check_groups(p, s, err)))
        for (size_t g = 0; g < s->n_groups; g++) {
            p->groups[g].outer = s->groups[g].outer;
            p->groups[g].unit = s->groups[g].unit;
        }
    return rc;
}

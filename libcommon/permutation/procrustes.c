/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/permutation/procrustes.h"

#include "libcommon/base/alloc.h"
#include "libcommon/permutation/maps.h"
#include "libcommon/spectral/polar.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* The matrix of one group, and the place of its map. */
struct problem {
    enum mc_allows kind;
    size_t K;
    const double *c;     /* (K,K) */
    const double *plain; /* (K,K), or NULL */
    double *m;           /* (K,K) zero, or NULL: only the value is required */
    int32_t *perm;       /* (K), of an assignment */
    struct mc_assignment info;
    struct mc_procrustes found;
};

/* ---- one map --------------------------------------------------------------------------------- */

static int best_signed(struct problem *p, struct mc_error *err)
{
    const size_t K = p->K;
    double *size = NULL;
    int rc = mc_new(&size, K * K, err);

    for (size_t i = 0; i < K * K && !rc; i++)
        size[i] = fabs(p->c[i]) + (p->plain ? p->plain[i] : 0);
    if (!rc)
        rc = mc_assign_max(K, size, p->perm, &p->info, err);
    for (size_t i = 0; i < K && !rc; i++) {
        const size_t at = i * K + (size_t)p->perm[i];
        p->found.n_free += p->c[at] == 0;
        if (p->m)
            p->m[at] = p->c[at] < 0 ? -1 : 1;
    }
    p->found.value = p->info.value;
    free(size);
    return rc;
}

/* Each pair has its own angle, and a value of |along + i across|. */
static void best_rotation(struct problem *p)
{
    const size_t K = p->K, half = K / 2;

    for (size_t i = 0, j = half; i < half; i++, j++) {
        const double along = p->c[i * K + i] + p->c[j * K + j];
        const double across = p->c[j * K + i] - p->c[i * K + j];
        const double length = hypot(along, across);
        p->found.value += length;
        if (!(length > 0))
            p->found.n_free += 2;
        if (!p->m)
            continue;
        p->m[i * K + i] = p->m[j * K + j] = length > 0 ? along / length : 1;
        p->m[j * K + i] = length > 0 ? across / length : 0;
        p->m[i * K + j] = -p->m[j * K + i];
    }
}

/* Solve the problem in the complement of the ones. */
static int best_centred(struct problem *p, struct mc_error *err)
{
    const size_t K = p->K, n = K - 1;
    double *c = NULL, *part = NULL;
    int rc = mc_new(&c, K * K, err);

    if (rc || (rc = mc_new(&part, n * n, err)))
        goto out;
    memcpy(c, p->c, K * K * sizeof *c);
    mc_map_reflect(K, c);
    const double fixed = c[0];
    for (size_t i = 0; i < n; i++)
        memcpy(part + i * n, c + (i + 1) * K + 1, n * sizeof *part);
    rc = n ? mc_polar(n, part, p->m ? c : NULL, &p->found.value, &p->found.n_free, err) : 0;
    p->found.value += fixed;
    if (rc || !p->m)
        goto out;
    p->m[0] = 1;
    for (size_t i = 0; i < n; i++)
        memcpy(p->m + (i + 1) * K + 1, c + i * n, n * sizeof *c);
    mc_map_reflect(K, p->m);
out:
    free(c);
    free(part);
    return rc;
}

static int solve(struct problem *p, struct mc_error *err)
{
    int rc = 0;

    if (p->kind == MC_ALLOWS_SIGNED)
        return best_signed(p, err);
    if (p->kind == MC_ALLOWS_CENTRED)
        return best_centred(p, err);
    if (p->kind == MC_ALLOWS_ORTHOGONAL)
        return mc_polar(p->K, p->c, p->m, &p->found.value, &p->found.n_free, err);
    if (p->kind == MC_ALLOWS_ROTATION)
        best_rotation(p);
    else if (!(rc = mc_assign_max(p->K, p->c, p->perm, &p->info, err)))
        p->found.value = p->info.value;
    return rc;
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct search {
    const double *const *value, *plain;
    const struct mc_nesting *nesting;
    struct mc_perm *out;
    struct mc_assignment *info;
    struct mc_procrustes *found;
    size_t slot;
};

/* Solve group g for a matrix. Set its map, or only return the value. */
static int solve_group(const struct search *s, size_t g, const double *c, int set, double *value,
                       struct mc_error *err)
{
    const struct mc_group *group = &s->nesting->groups[g];
    const size_t K = group->size;
    struct problem p = {.kind = group->allows, .K = K, .c = c, .plain = s->plain};
    int rc = mc_new(&p.perm, K, err);

    if (!rc && set && p.kind)
        rc = mc_new(&p.m, K * K, err);
    if (!rc)
        rc = solve(&p, err);
    *value = p.found.value;
    if (!rc && set && p.m)
        rc = mc_perm_set_matrix(s->out, g, p.kind, p.m, err);
    else if (!rc && set)
        memcpy(s->out->perm[g], p.perm, K * sizeof *p.perm);
    if (set) {
        s->info[g] = p.m ? (struct mc_assignment){.kept = 1} : p.info;
        s->found[g] = p.found;
    }
    free(p.perm);
    free(p.m);
    return rc;
}

/* trace(M^T C) for the map M of group g. */
static int current_value(const struct search *s, size_t g, const double *c, double *value,
                         struct mc_error *err)
{
    const size_t K = s->nesting->groups[g].size;
    double *m = NULL;
    int rc = mc_new(&m, K * K, err);

    *value = 0;
    if (!rc)
        mc_perm_matrix(s->out, g, m);
    for (size_t i = 0; i < K * K && !rc; i++)
        *value += m[i] * c[i];
    free(m);
    return rc;
}

/* Solve the groups in unit u for the pair of places h and u, and add their values; or what they
 * gain over their current maps, if the group has values. */
static int solve_pair(const struct search *s, size_t g, size_t h, size_t u, int set, double *value,
                      struct mc_error *err)
{
    int rc = 0;

    for (size_t slot = 0; slot < s->nesting->slots[g] && !rc; slot++) {
        const size_t first = mc_nesting_child(s->nesting, g, 0, slot);
        const size_t K = s->nesting->groups[first].size;
        const size_t n = K * s->nesting->groups[g].size;
        const size_t inner = mc_nesting_child(s->nesting, g, u, slot);
        double *c = NULL, old = 0, part = 0;
        if (s->slot != MC_ALL_SLOTS && slot != s->slot)
            continue;
        if ((rc = mc_new(&c, K * K, err)))
            return rc;
        for (size_t i = 0; i < K; i++)
            memcpy(c + i * K, s->value[first] + (h * K + i) * n + u * K, K * sizeof *c);
        if (s->value[g])
            rc = current_value(s, inner, c, &old, err);
        if (!rc)
            rc = solve_group(s, inner, c, set, &part, err);
        *value += part - old;
        free(c);
    }
    return rc;
}

static int solve_units(const struct search *s, size_t g, struct mc_error *err)
{
    const size_t U = s->nesting->groups[g].size;
    double *value = NULL;
    int rc = mc_new(&value, U * U, err);

    if (!rc && s->value[g])
        memcpy(value, s->value[g], U * U * sizeof *value);
    for (size_t i = 0; i < U * U && !rc; i++)
        rc = solve_pair(s, g, i / U, i % U, 0, &value[i], err);
    if (!rc && !(rc = solve_group(s, g, value, 1, &value[0], err)))
        for (size_t h = 0; h < U && !rc; h++)
            rc = solve_pair(s, g, h, (size_t)s->out->perm[g][h], 1, &value[0], err);
    free(value);
    return rc;
}

int mc_procrustes_group(struct mc_perm *out, struct mc_assignment *info,
                        struct mc_procrustes *found, const struct mc_nesting *nesting,
                        const double *const *value, const double *plain, size_t g, size_t slot,
                        struct mc_error *err)
{
    const struct search s = {value, plain, nesting, out, info, found, slot};
    double sum;
    int rc =
        nesting->slots[g] ? solve_units(&s, g, err) : solve_group(&s, g, value[g], 1, &sum, err);

    if (!rc && !isfinite(info[g].bound + found[g].value))
        rc = mc_fail(err, MC_EINPUT, "the sum of matched values is not finite");
    return mc_fail_in(rc, err, "%s", nesting->groups[g].name);
}

int mc_procrustes(struct mc_perm *out, struct mc_assignment *info, struct mc_procrustes *found,
                  const struct mc_nesting *nesting, const double *const *value, int threads,
                  struct mc_error *err)
{
    const size_t n = nesting->n_groups;
    size_t failed = n;
    int rc = mc_new(&out->map, n, err);

    if (rc)
        return rc;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads ? threads : omp_get_max_threads())
    for (size_t g = 0; g < n; g++) {
        struct mc_error local_err = {0};
        if (!mc_group_is_nested(&nesting->groups[g]) &&
            mc_procrustes_group(out, info, found, nesting, value, NULL, g, MC_ALL_SLOTS,
                                &local_err)) {
#pragma omp critical
            if (g < failed) {
                failed = g;
                *err = local_err;
            }
        }
    }
    return failed < n ? err->code : 0;
}

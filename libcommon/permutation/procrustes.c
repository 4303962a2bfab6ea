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
    const double *c;        /* (K,K) */
    const double *fallback; /* (K,K), or NULL */
    const double *plain;    /* (K,K), or NULL */
    double *m;              /* (K,K) zero, or NULL: only the value is required */
    int32_t *perm;          /* (K), of an assignment */
    struct mc_assignment info;
    struct mc_procrustes found;
};

/* ---- one map --------------------------------------------------------------------------------- */

/* Set row and column to 1 for the units that c says nothing about. Returns the largest |c|. */
static double find_empty(size_t K, const double *c, unsigned char *row, unsigned char *column)
{
    double largest = 0;

    memset(row, 1, K);
    memset(column, 1, K);
    for (size_t i = 0; i < K * K; i++)
        largest = fmax(largest, fabs(c[i]));
    for (size_t i = 0; i < K * K; i++)
        if (fabs(c[i]) > MC_POLAR_FREE * largest)
            row[i / K] = column[i % K] = 0;
    return largest;
}

/* The value of a pair of units: c, or |c| if signs are free, and the values without signs. */
static double size_of(const struct problem *p, const double *c, const double *plain, size_t i)
{
    return (p->kind == MC_ALLOWS_SIGNED ? fabs(c[i]) : c[i]) + (plain ? plain[i] : 0);
}

/* Assign the units. Pairs with a unit that c says nothing about have values by the fallback, which
 * are so small that they do not change other pairs. */
static int best_order(struct problem *p, struct mc_error *err)
{
    const size_t K = p->K;
    const double *plain = p->fallback ? NULL : p->plain; /* else part of the fallback */
    unsigned char *row = NULL, *column;
    double *size = NULL, largest, most = 0;
    int rc = mc_new(&size, K * K, err);

    if (rc || (rc = mc_new(&row, 2 * K, err)))
        goto out;
    column = row + K;
    largest = find_empty(K, p->c, row, column);
    for (size_t i = 0; i < K * K; i++) {
        const int is_free = row[i / K] || column[i % K];
        size[i] = p->fallback && is_free ? size_of(p, p->fallback, p->plain, i) : 0;
        most = fmax(most, fabs(size[i]));
    }
    const double share = largest > 0 && most > 0 ? MC_POLAR_FREE * largest / most / (double)K : 1;
    for (size_t i = 0; i < K * K; i++)
        size[i] = share * size[i] + size_of(p, p->c, plain, i);
    rc = mc_assign_max(K, size, p->perm, &p->info, err);
    p->found.value = p->fallback ? 0 : p->info.value;
    for (size_t i = 0; i < K && !rc; i++) {
        const size_t at = i * K + (size_t)p->perm[i];
        const int is_free = row[i] || column[p->perm[i]];
        const double *by = is_free ? p->fallback : p->c;
        p->found.n_free += (size_t)is_free;
        if (p->m)
            p->m[at] = by && by[at] < 0 ? -1 : 1;
        if (p->fallback)
            p->found.value += size_of(p, p->c, NULL, at);
    }
    p->info.value = p->found.value;
out:
    free(size);
    free(row);
    return rc;
}

/* Set the pair i and i + K/2 of m to its best turn by c, the identity if c is NULL, and return its
 * value: |along + i across|. m may be NULL. */
static double best_turn(const struct problem *p, size_t i, const double *c, double *m)
{
    const size_t K = p->K, j = i + K / 2;
    const double along = c ? c[i * K + i] + c[j * K + j] : 1;
    const double across = c && p->kind == MC_ALLOWS_ROTATION ? c[j * K + i] - c[i * K + j] : 0;
    const double length = hypot(along, across);

    if (m) {
        m[i * K + i] = m[j * K + j] = length > 0 ? along / length : 1;
        m[j * K + i] = length > 0 ? across / length : 0;
        m[i * K + j] = 0 - m[j * K + i];
    }
    return length;
}

static void best_turns(struct problem *p)
{
    double largest = 0;

    for (size_t i = 0; i < p->K / 2; i++)
        largest = fmax(largest, best_turn(p, i, p->c, NULL));
    for (size_t i = 0; i < p->K / 2; i++) {
        const double length = best_turn(p, i, p->c, p->m);
        p->found.value += length;
        if (length > MC_POLAR_FREE * largest)
            continue;
        p->found.n_free += 2;
        if (p->m)
            best_turn(p, i, p->fallback, p->m);
    }
}

/* *part (K-1,K-1; the caller frees it): c in the complement of the ones. *fixed: c along them. */
static int complement_of(size_t K, const double *c, double **part, double *fixed,
                         struct mc_error *err)
{
    const size_t n = K - 1;
    int rc = mc_new(part, K * K, err);

    if (rc)
        return rc;
    memcpy(*part, c, K * K * sizeof *c);
    mc_map_reflect(K, *part);
    *fixed = **part;
    for (size_t i = 0; i < n; i++)
        memmove(*part + i * n, *part + (i + 1) * K + 1, n * sizeof *c);
    return 0;
}

/* Solve the problem in the complement of the ones. */
static int best_centred(struct problem *p, struct mc_error *err)
{
    const size_t K = p->K, n = K - 1;
    double *c = NULL, *fallback = NULL, fixed = 0, unused;
    int rc = complement_of(K, p->c, &c, &fixed, err);

    if (!rc && p->fallback)
        rc = complement_of(K, p->fallback, &fallback, &unused, err);
    if (!rc && n)
        rc = mc_polar(n, c, fallback, p->m, &p->found.value, &p->found.n_free, err);
    p->found.value += fixed;
    if (!rc && p->m)
        mc_map_from_complement(K, p->m);
    free(c);
    free(fallback);
    return rc;
}

static int solve(struct problem *p, struct mc_error *err)
{
    if (p->kind == MC_ALLOWS_CENTRED)
        return best_centred(p, err);
    if (p->kind == MC_ALLOWS_ORTHOGONAL)
        return mc_polar(p->K, p->c, p->fallback, p->m, &p->found.value, &p->found.n_free, err);
    if (!mc_allows_of_pairs(p->kind))
        return best_order(p, err);
    best_turns(p);
    return 0;
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct search {
    const struct mc_procrustes_values *values;
    const struct mc_nesting *nesting;
    struct mc_perm *out;
    struct mc_assignment *info;
    struct mc_procrustes *found;
    size_t slot;
};

/* Solve group g for a matrix. Set its map, or only return the value. */
static int solve_group(const struct search *s, size_t g, const double *c, const double *fallback,
                       int set, double *value, struct mc_error *err)
{
    const struct mc_group *group = &s->nesting->groups[g];
    const size_t K = group->size;
    struct problem p = {
        .kind = group->allows, .K = K, .c = c, .fallback = fallback, .plain = s->values->plain};
    int rc = mc_new(&p.perm, K, err);

    for (size_t i = 0; i < K * K && fallback && !rc; i++)
        if (!isfinite(fallback[i]))
            rc = mc_fail(err, MC_EINPUT, "a product of weights is not finite");
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
        if (p.m)
            p.info = (struct mc_assignment){.kept = 1};
        s->info[g] = p.info;
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

/* *out (K,K; the caller frees it): the values of units h and u in a matrix (n,n). */
static int copy_pair(const double *all, size_t K, size_t n, size_t h, size_t u, double **out,
                     struct mc_error *err)
{
    int rc = mc_new(out, K * K, err);

    for (size_t i = 0; i < K && !rc; i++)
        memcpy(*out + i * K, all + (h * K + i) * n + u * K, K * sizeof **out);
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
        double *c = NULL, *fallback = NULL, old = 0, part = 0;
        if (s->slot != MC_ALL_SLOTS && slot != s->slot)
            continue;
        rc = copy_pair(s->values->c[first], K, n, h, u, &c, err);
        if (!rc && s->values->fallback)
            rc = copy_pair(s->values->fallback[first], K, n, h, u, &fallback, err);
        if (!rc && s->values->c[g])
            rc = current_value(s, inner, c, &old, err);
        if (!rc)
            rc = solve_group(s, inner, c, fallback, set, &part, err);
        *value += part - old;
        free(c);
        free(fallback);
    }
    return rc;
}

static int match_units(const struct search *s, size_t g, struct mc_error *err)
{
    const size_t U = s->nesting->groups[g].size;
    double *value = NULL, sum;
    int rc = mc_new(&value, U * U, err);

    if (!rc && s->values->c[g])
        memcpy(value, s->values->c[g], U * U * sizeof *value);
    for (size_t i = 0; i < U * U && !rc; i++)
        rc = solve_pair(s, g, i / U, i % U, 0, &value[i], err);
    if (!rc)
        rc = solve_group(s, g, value, NULL, 1, &sum, err);
    free(value);
    return rc;
}

static int solve_units(const struct search *s, size_t g, struct mc_error *err)
{
    const size_t U = s->nesting->groups[g].size;
    double sum = 0;
    int rc = s->values->fallback ? 0 : match_units(s, g, err);

    for (size_t h = 0; h < U && !rc; h++)
        rc = solve_pair(s, g, h, (size_t)s->out->perm[g][h], 1, &sum, err);
    return rc;
}

int mc_procrustes_group(struct mc_perm *out, struct mc_assignment *info,
                        struct mc_procrustes *found, const struct mc_nesting *nesting,
                        const struct mc_procrustes_values *values, size_t g, size_t slot,
                        struct mc_error *err)
{
    const struct search s = {values, nesting, out, info, found, slot};
    const double *fallback = values->fallback ? values->fallback[g] : NULL;
    double sum;
    int rc = nesting->slots[g] ? solve_units(&s, g, err)
                               : solve_group(&s, g, values->c[g], fallback, 1, &sum, err);

    if (!rc && !isfinite(info[g].bound + found[g].value))
        rc = mc_fail(err, MC_EINPUT, "the sum of matched values is not finite");
    return mc_fail_in(rc, err, "%s", nesting->groups[g].name);
}

int mc_procrustes(struct mc_perm *out, struct mc_assignment *info, struct mc_procrustes *found,
                  const struct mc_nesting *nesting, const struct mc_procrustes_values *values,
                  int threads, struct mc_error *err)
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
            mc_procrustes_group(out, info, found, nesting, values, g, MC_ALL_SLOTS, &local_err)) {
#pragma omp critical
            mc_error_first(g, &failed, err, &local_err);
        }
    }
    return failed < n ? err->code : 0;
}

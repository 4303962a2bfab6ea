/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimal assignments of all groups. */
#include "tools/align/matching.h"

#include "libcommon/assign/assign.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "libcommon/graph/nesting.h"

#include <math.h>
#include <omp.h>
#include <string.h>

int mc_match_check(const struct mc_matrices *m, const struct mc_matrices *c, const char *path,
                   const char *path_c, struct mc_error *err)
{
    const char *file = mc_file_called(path_c), *post = mc_file_called(path);

    if (strcmp(c->at, "pre"))
        return mc_fail(err, MC_EINPUT, "%s: is of activations after the ReLU, not before it", file);
    if (strcmp(m->at, "post"))
        return mc_fail(err, MC_EINPUT, "%s: is of activations before the ReLU, not after it", post);
    if (c->n_groups != m->n_groups)
        return mc_fail(err, MC_EINPUT, "%s has %zu group%s, %s has %zu", file, c->n_groups,
                       c->n_groups == 1 ? "" : "s", post, m->n_groups);
    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_matrix_group *x = &m->groups[k], *y = &c->groups[k];
        if (x->within || x->holds || y->within)
            return mc_fail(err, MC_EINPUT,
                           "a constraint is not for groups within units of others (%s in %s)",
                           x->name, post);
        if (strcmp(x->name, y->name) || x->size != y->size)
            return mc_fail(err, MC_EINPUT, "%s has %s of %zu units where %s has %s of %zu", file,
                           y->name, y->size, post, x->name, x->size);
    }
    return 0;
}

static int match_group(const struct mc_matrix_group *g, const struct mc_matrix_group *constraint,
                       int32_t *col, struct mc_assignment *info, struct mc_constrained *constrained,
                       struct mc_error *err)
{
    int rc = 0;

    if (!constraint) {
        rc = mc_assign_max(g->size, g->value, col, info, err);
    } else {
        rc = mc_assign_constrained(g->size, g->value, constraint->value, col, constrained, err);
        *info = constrained->found;
    }
    return rc;
}

/* Of place h and unit u of a group, for each group in a unit: their part of the matrix of all. */
struct pair {
    struct mc_assignment found;
    int32_t *col;
};

static int match_pair(struct pair *pair, const struct mc_matrices *m, size_t inner, size_t h,
                      size_t u, struct mc_error *err)
{
    const size_t K = m->groups[inner].size, n = mc_matrix_order(m, inner);
    double *value = NULL;
    int rc = mc_new(&value, K * K, err);

    if (!rc)
        rc = mc_new(&pair->col, K, err);
    for (size_t i = 0; i < K && !rc; i++)
        memcpy(value + i * K, m->groups[inner].value + (h * K + i) * n + u * K, K * sizeof *value);
    if (!rc)
        rc = mc_assign_max(K, value, pair->col, &pair->found, err);
    free(value);
    return rc;
}

/* A group whose units hold others: a pair of units is worth what the best assignments inside are.
 */
static int match_units(struct mc_perm *out, struct mc_assignment *info, const struct mc_matrices *m,
                       const struct mc_nesting *nesting, size_t group, struct mc_error *err)
{
    const size_t U = out->sizes[group], slots = nesting->slots[group];
    const size_t *inside = nesting->child + nesting->first[group]; /* (U,slots) */
    struct pair *pairs = NULL;
    double *value = NULL;
    int rc = mc_new(&pairs, U * U * slots, err);

    if (!rc)
        rc = mc_new(&value, U * U, err);
    for (size_t i = 0; i < U * U * slots && !rc; i++) {
        const size_t h = i / slots / U, u = i / slots % U;
        if (!(rc = match_pair(&pairs[i], m, inside[i % slots], h, u, err)))
            value[h * U + u] += pairs[i].found.value;
    }
    if (!rc)
        rc = mc_assign_max(U, value, out->perm[group], &info[group], err);
    for (size_t i = 0; i < U * slots && !rc; i++) {
        const size_t h = i / slots, u = (size_t)out->perm[group][h], c = i % slots;
        const size_t to = inside[u * slots + c];
        const struct pair *pair = &pairs[(h * U + u) * slots + c];
        memcpy(out->perm[to], pair->col, out->sizes[to] * sizeof *pair->col);
        info[to] = pair->found;
    }
    for (size_t i = 0; pairs && i < U * U * slots; i++)
        free(pairs[i].col);
    free(pairs);
    free(value);
    return rc;
}

int mc_match(struct mc_perm *out, struct mc_assignment *info, struct mc_constrained *constrained,
             const struct mc_matrices *m, const struct mc_matrices *constraint, int threads,
             struct mc_error *err)
{
    size_t failed = m->n_groups;
    struct mc_nesting nesting;
    int rc = mc_perm_alloc(out, m->n_groups, err);

    for (size_t k = 0; k < m->n_groups && !rc; k++) {
        rc = mc_perm_set_group(out, k, m->groups[k].name, m->groups[k].size, err);
        out->within[k] = m->groups[k].within;
        out->unit[k] = m->groups[k].unit;
    }
    if (rc || (rc = mc_nesting_find(&nesting, out, err)))
        return rc;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads ? threads : omp_get_max_threads())
    for (size_t k = 0; k < m->n_groups; k++) {
        struct mc_error mine = {0};
        int bad = 0;
        if (nesting.slots[k])
            bad = match_units(out, info, m, &nesting, k, &mine);
        else if (!m->groups[k].within)
            bad = match_group(&m->groups[k], constraint ? &constraint->groups[k] : NULL,
                              out->perm[k], &info[k], &constrained[k], &mine);
        if (bad) {
#pragma omp critical
            if (k < failed) {
                failed = k;
                *err = mine;
            }
        }
    }
    mc_nesting_release(&nesting);
    if (failed < m->n_groups)
        return mc_fail_in(err->code, err, "%s", m->groups[failed].name);
    for (size_t k = 0; k < m->n_groups; k++)
        if (!isfinite(info[k].bound + info[k].value + constrained[k].multiplier +
                      constrained[k].slack))
            return mc_fail(err, MC_EINPUT, "%s: the sum of the matched values is not finite",
                           m->groups[k].name);
    return 0;
}

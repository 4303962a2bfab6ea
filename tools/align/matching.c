/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimal assignments of all groups. */
#include "tools/align/matching.h"

#include "libcommon/assign/assign.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "tools/align/nested_groups.h"

#include <math.h>
#include <omp.h>
#include <string.h>

int mc_match_check(const struct mc_matrices *m, const struct mc_matrices *c, const char *path,
                   const char *path_c, struct mc_error *err)
{
    const char *file = mc_file_called(path_c), *post = mc_file_called(path);

    if (strcmp(c->place, "pre"))
        return mc_fail(err, MC_EINPUT,
                       "%s: matrices before the ReLU expected, got after it (mc-acts --at pre)",
                       file);
    if (strcmp(m->place, "post"))
        return mc_fail(err, MC_EINPUT,
                       "%s: matrices after the ReLU expected, got before it (mc-acts --at post)",
                       post);
    if (c->n_groups != m->n_groups)
        return mc_fail(err, MC_EINPUT, "%s has %zu group%s, but %s has %zu", file, c->n_groups,
                       c->n_groups == 1 ? "" : "s", post, m->n_groups);
    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_group *x = &m->groups[k], *y = &c->groups[k];
        if (mc_group_is_nested(x) || m->matrices[k].holds || mc_group_is_nested(y))
            return mc_fail(err, MC_EINPUT,
                           "%s: group %s is nested (a constraint supports only unnested groups)",
                           post, x->name);
        if (strcmp(x->name, y->name) || x->size != y->size)
            return mc_fail(err, MC_EINPUT,
                           "%s: group %s of %zu units expected as in %s, got %s of %zu", file,
                           x->name, x->size, post, y->name, y->size);
    }
    return 0;
}

static int match_group(const struct mc_matrix *m, const struct mc_matrix *constraint, int32_t *col,
                       struct mc_assignment *info, struct mc_constrained *constrained,
                       struct mc_error *err)
{
    int rc = 0;

    if (!constraint) {
        rc = mc_assign_max(m->n, m->value, col, info, err);
    } else {
        rc = mc_assign_constrained(m->n, m->value, constraint->value, col, constrained, err);
        *info = constrained->found;
    }
    return rc;
}

/* Copy the block of one pair of units from the inner group's matrix over all units. */
static int pair_values(const void *arg, const struct mc_inside *in, size_t h, size_t u, size_t slot,
                       double *matrix, struct mc_error *err)
{
    const struct mc_matrices *m = arg;
    const size_t inner = mc_nesting_child(in->nesting, in->group, 0, slot);
    const size_t K = m->groups[inner].size, n = m->matrices[inner].n;

    (void)err;
    for (size_t i = 0; i < K; i++)
        memcpy(matrix + i * K, m->matrices[inner].value + (h * K + i) * n + u * K,
               K * sizeof *matrix);
    return 0;
}

/* Match a group whose units contain groups: the value of a pair is that of the best assignments
 * inside. */
static int match_units(struct mc_perm *out, struct mc_assignment *info, const struct mc_matrices *m,
                       const struct mc_nesting *nesting, const unsigned char *keep, size_t group,
                       struct mc_error *err)
{
    const size_t U = out->groups[group].size, slots = nesting->slots[group];
    struct mc_inside in;
    double *value = NULL;
    int rc = mc_inside_open(&in, nesting, keep, group, err);

    info[group].kept = keep[group];
    if (rc || (rc = mc_new(&value, U * U, err)) ||
        (rc = mc_inside_match(&in, pair_values, m, NULL, value, 1, err)) ||
        (!keep[group] && (rc = mc_assign_max(U, value, out->perm[group], &info[group], err))))
        goto out;
    (void)mc_inside_exchange(&in, out->perm[group], out);
    for (size_t i = 0; i < U * slots; i++) {
        const size_t h = i / slots, u = (size_t)out->perm[group][h], c = i % slots;
        info[mc_nesting_child(nesting, group, u, c)] = in.assignment[(h * U + u) * slots + c];
    }
out:
    mc_inside_release(&in);
    free(value);
    return rc;
}

int mc_match(struct mc_perm *out, struct mc_assignment *info, struct mc_constrained *constrained,
             const struct mc_matrices *m, const struct mc_matrices *constraint,
             const unsigned char *keep, int threads, struct mc_error *err)
{
    size_t failed = m->n_groups;
    struct mc_nesting nesting;
    int rc = mc_perm_identity(out, m->groups, m->n_groups, err);

    if (rc || (rc = mc_nesting_find(&nesting, m->groups, m->n_groups, err)))
        return rc;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads ? threads : omp_get_max_threads())
    for (size_t k = 0; k < m->n_groups; k++) {
        struct mc_error local_err = {0};
        int bad = 0;
        if (nesting.slots[k])
            bad = match_units(out, info, m, &nesting, keep, k, &local_err);
        else if (keep[k] && !mc_group_is_nested(&m->groups[k]))
            info[k].kept = 1;
        else if (!mc_group_is_nested(&m->groups[k]))
            bad = match_group(&m->matrices[k], constraint ? &constraint->matrices[k] : NULL,
                              out->perm[k], &info[k], &constrained[k], &local_err);
        if (bad) {
#pragma omp critical
            if (k < failed) {
                failed = k;
                *err = local_err;
            }
        }
    }
    mc_nesting_release(&nesting);
    if (failed < m->n_groups)
        return mc_fail_in(err->code, err, "%s", m->groups[failed].name);
    for (size_t k = 0; k < m->n_groups; k++)
        if (!isfinite(info[k].bound + info[k].value + constrained[k].multiplier +
                      constrained[k].slack))
            return mc_fail(err, MC_EINPUT, "%s: the sum of matched values is not finite",
                           m->groups[k].name);
    return 0;
}

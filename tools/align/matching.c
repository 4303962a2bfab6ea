/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimal assignments of all groups. */
#include "tools/align/matching.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "libcommon/permutation/nested_matching.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
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

int mc_match(struct mc_perm *out, struct mc_assignment *info, struct mc_constrained *constrained,
             const struct mc_matrices *m, const struct mc_matrices *constraint,
             const unsigned char *keep, int threads, struct mc_error *err)
{
    size_t failed = m->n_groups;
    const double **value = NULL;
    struct mc_nesting nesting = {0};
    int rc = 0;

    if ((rc = mc_perm_identity(out, m->groups, m->n_groups, err)) ||
        (rc = mc_new(&value, m->n_groups, err)) ||
        (rc = mc_nesting_find(&nesting, m->groups, m->n_groups, err)))
        goto out;
    for (size_t k = 0; k < m->n_groups; k++)
        value[k] = m->matrices[k].value;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads ? threads : omp_get_max_threads())
    for (size_t k = 0; k < m->n_groups; k++) {
        struct mc_error local_err = {0};
        int bad = 0;
        if (constraint && !keep[k]) {
            bad = mc_assign_constrained(m->groups[k].size, value[k], constraint->matrices[k].value,
                                        out->perm[k], &constrained[k], &local_err);
            info[k] = constrained[k].found;
        } else if (!mc_group_is_nested(&m->groups[k])) {
            bad = mc_match_group(out, info, &nesting, value, keep, k, &local_err);
        }
        if (bad) {
#pragma omp critical
            mc_error_first(k, &failed, err, &local_err);
        }
    }
    if (failed < m->n_groups)
        rc = mc_fail_in(err->code, err, "%s", m->groups[failed].name);
    for (size_t k = 0; k < m->n_groups && !rc; k++)
        if (!isfinite(info[k].bound + info[k].value + constrained[k].multiplier +
                      constrained[k].slack))
            rc = mc_fail(err, MC_EINPUT, "%s: the sum of matched values is not finite",
                         m->groups[k].name);
out:
    mc_nesting_release(&nesting);
    free(value);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/permutation/nested_matching.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

int mc_inside_open(struct mc_inside *in, const struct mc_nesting *nesting,
                   const unsigned char *keep, size_t group, struct mc_error *err)
{
    const size_t U = nesting->groups[group].size, slots = nesting->slots[group];
    int rc = 0;

    *in = (struct mc_inside){
        .nesting = nesting, .keep = keep, .group = group, .units = U, .slots = slots};
    for (size_t c = 0; c < slots; c++)
        in->width += mc_inside_slot_size(in, c);
    if (!(rc = mc_new(&in->assignment, U * U * slots, err)))
        rc = mc_new(&in->best, U * U * in->width, err);
    return rc;
}

void mc_inside_release(struct mc_inside *in)
{
    free(in->assignment);
    free(in->best);
    *in = (struct mc_inside){0};
}

/* Match the units of one inner group, or keep their order (current; NULL: the identity). */
static int match_inner(const struct mc_inside *in, size_t inner, const struct mc_perm *current,
                       const double *matrix, int32_t *best, struct mc_assignment *a,
                       struct mc_error *err)
{
    const size_t K = in->nesting->groups[inner].size;

    if (!in->keep[inner])
        return mc_assign_max(K, matrix, best, a, err);
    *a = (struct mc_assignment){.kept = 1};
    for (size_t i = 0; i < K; i++) {
        best[i] = current ? current->perm[inner][i] : (int32_t)i;
        a->value += matrix[i * K + (size_t)best[i]];
    }
    return 0;
}

static int match_pair(struct mc_inside *in, mc_inside_values *values, const void *arg,
                      const struct mc_perm *current, size_t pair, double *sum, struct mc_error *err)
{
    const size_t h = pair / in->units, u = pair % in->units;
    struct mc_assignment *assignment = in->assignment + pair * in->slots;
    int32_t *best = in->best + pair * in->width;
    int rc = 0;

    if (in->keep[in->group] && h != u)
        return 0;
    for (size_t c = 0; c < in->slots && !rc; c++) {
        const size_t K = mc_inside_slot_size(in, c),
                     inner = mc_nesting_child(in->nesting, in->group, u, c);
        double *matrix = NULL;
        if (!(rc = mc_new(&matrix, K * K, err)) && !(rc = values(arg, in, h, u, c, matrix, err)) &&
            !(rc = match_inner(in, inner, current, matrix, best, &assignment[c], err))) {
            *sum += assignment[c].value;
            for (size_t i = 0; current && i < K; i++)
                *sum -= matrix[i * K + (size_t)current->perm[inner][i]];
            best += K;
        }
        free(matrix);
    }
    return rc;
}

int mc_inside_match(struct mc_inside *in, mc_inside_values *values, const void *arg,
                    const struct mc_perm *current, double *value, int threads, struct mc_error *err)
{
    const size_t pairs = in->units * in->units;
    size_t failed = pairs;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (size_t i = 0; i < pairs; i++) {
        struct mc_error local_err = {0};
        double sum = 0;
        const int bad = match_pair(in, values, arg, current, i, &sum, &local_err);
        value[i] += sum;
        if (bad) {
#pragma omp critical
            mc_error_first(i, &failed, err, &local_err);
        }
    }
    return failed < pairs ? err->code : 0;
}

int mc_inside_exchange(struct mc_inside *in, const int32_t *units, struct mc_perm *p)
{
    int changed = 0;

    for (size_t h = 0; h < in->units; h++) {
        const size_t u = (size_t)units[h];
        int32_t *best = in->best + (h * in->units + u) * in->width;
        for (size_t c = 0; c < in->slots; c++) {
            const size_t group = mc_nesting_child(in->nesting, in->group, u, c);
            for (size_t i = 0; i < p->groups[group].size; i++) {
                int32_t t = p->perm[group][i];
                changed |= t != *best;
                p->perm[group][i] = *best;
                *best++ = t;
            }
        }
    }
    return changed;
}

/* ---- one group ------------------------------------------------------------------------------- */

/* Copy the block of one pair of units from the inner group's matrix over all units. */
static int pair_values(const void *arg, const struct mc_inside *in, size_t h, size_t u, size_t slot,
                       double *matrix, struct mc_error *err)
{
    const double *const *value = arg;
    const size_t inner = mc_nesting_child(in->nesting, in->group, 0, slot);
    const size_t K = mc_inside_slot_size(in, slot), n = K * in->units;

    (void)err;
    for (size_t i = 0; i < K; i++)
        memcpy(matrix + i * K, value[inner] + (h * K + i) * n + u * K, K * sizeof *matrix);
    return 0;
}

/* Match a group whose units contain groups: the value of a pair is that of the best assignments
 * inside. */
static int match_units(struct mc_perm *out, struct mc_assignment *info,
                       const struct mc_nesting *nesting, const double *const *value_of,
                       const unsigned char *keep, size_t group, struct mc_error *err)
{
    const size_t U = out->groups[group].size, slots = nesting->slots[group];
    struct mc_inside in;
    double *value = NULL;
    int rc = mc_inside_open(&in, nesting, keep, group, err);

    info[group].kept = keep[group];
    if (rc || (rc = mc_new(&value, U * U, err)) ||
        (rc = mc_inside_match(&in, pair_values, value_of, NULL, value, 1, err)) ||
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

int mc_match_group(struct mc_perm *out, struct mc_assignment *info,
                   const struct mc_nesting *nesting, const double *const *value,
                   const unsigned char *keep, size_t group, struct mc_error *err)
{
    if (nesting->slots[group])
        return match_units(out, info, nesting, value, keep, group, err);
    if ((info[group].kept = keep[group]))
        return 0;
    return mc_assign_max(out->groups[group].size, value[group], out->perm[group], &info[group],
                         err);
}

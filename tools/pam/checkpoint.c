/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: permutations and reports between host, device and checkpoint.
 */
#include "tools/pam/pam.h"

#include <stdlib.h>
#include <string.h>

size_t mc_pam_units(const struct mc_pam *p)
{
    size_t n = 0;

    for (size_t g = 0; g < p->symmetry->n_groups; g++)
        n += p->symmetry->groups[g].size;
    return n;
}

int mc_pam_put_matrices(struct mc_pam *p, struct mc_train *f, struct mc_buf *to,
                        struct mc_error *err)
{
    float *m = malloc(p->matrices * sizeof *m);

    if (!m)
        return mc_no_memory(err);
    mc_soft_perm_matrices(p->symmetry, &p->previous, m);
    int rc = f->be->put(f->be, to, 0, m, p->matrices * sizeof *m, err);
    free(m);
    return rc;
}

/* A checkpoint holds float32: a unit's number is exact in one. */
static int put_perm(struct mc_train *f, const struct mc_perm *perm, struct mc_buf *to,
                    struct mc_error *err)
{
    size_t at = 0;
    int rc = 0;

    for (size_t g = 0; !rc && g < perm->n_groups; g++) {
        float *unit = malloc(perm->sizes[g] * sizeof *unit);
        if (!unit)
            return mc_no_memory(err);
        for (size_t i = 0; i < perm->sizes[g]; i++)
            unit[i] = (float)perm->perm[g][i];
        rc = f->be->put(f->be, to, at * sizeof *unit, unit, perm->sizes[g] * sizeof *unit, err);
        at += perm->sizes[g];
        free(unit);
    }
    return rc;
}

static int get_perm(struct mc_train *f, const struct mc_buf *from, struct mc_perm *perm,
                    struct mc_error *err)
{
    size_t at = 0;
    int rc = 0;

    for (size_t g = 0; !rc && g < perm->n_groups; g++) {
        float *unit = malloc(perm->sizes[g] * sizeof *unit);
        if (!unit)
            return mc_no_memory(err);
        rc = f->be->get(f->be, from, at * sizeof *unit, unit, perm->sizes[g] * sizeof *unit, err);
        for (size_t i = 0; !rc && i < perm->sizes[g]; i++)
            perm->perm[g][i] =
                unit[i] >= 0 && unit[i] < (float)perm->sizes[g] ? (int32_t)unit[i] : -1;
        at += perm->sizes[g];
        free(unit);
    }
    return rc ? rc : mc_perm_check(perm, err);
}

int mc_pam_put_all(struct mc_pam *p, struct mc_train *f, struct mc_error *err)
{
    int rc = put_perm(f, p->perm, p->d_perm, err);

    if (!rc)
        rc = put_perm(f, &p->previous, p->d_previous, err);
    if (!rc)
        rc = f->be->put(f->be, p->d_report, 0, p->report, p->o->outer * sizeof *p->report, err);
    return rc;
}

int mc_pam_get_all(struct mc_pam *p, struct mc_train *f, struct mc_error *err)
{
    int rc = get_perm(f, p->d_perm, p->perm, err);

    if (!rc)
        rc = get_perm(f, p->d_previous, &p->previous, err);
    if (!rc)
        rc = f->be->get(f->be, p->d_report, 0, p->report, p->o->outer * sizeof *p->report, err);
    return rc;
}

size_t mc_pam_saved(struct mc_objective *o, struct mc_train *f, struct mc_train_vector *v)
{
    const struct mc_pam *p = (const struct mc_pam *)o;
    const size_t P = p->graph->P, n = mc_pam_units(p);
    const struct mc_train_vector all[] = {
        {"offset", p->d_offset, P, "--lr"},
        {"momentum", p->d_momentum, P, "--lr"},
        {"anchor", p->d_anchor, P, NULL},
        {"permutation", p->d_perm, n, NULL},
        {"previous", p->d_previous, n, NULL},
        {"report", p->d_report, p->o->outer * sizeof *p->report / sizeof(float), NULL},
        {"matrices", p->d_matrices, p->matrices,
         "--permutation-lr"}}; /* last: a curve step alone has none */
    const size_t saved = sizeof all / sizeof *all - !p->o->permutation_epochs;

    (void)f;
    memcpy(v, all, saved * sizeof *all);
    return saved;
}

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
static int copy_perm(struct mc_pam *p, struct mc_train *f, struct mc_perm *perm, struct mc_buf *buf,
                     int to_device, struct mc_error *err)
{
    const size_t bytes = mc_pam_units(p) * sizeof(float);
    float *units = malloc(bytes + sizeof *units), *unit = units;

    if (!units)
        return mc_no_memory(err);
    for (size_t g = 0; g < perm->n_groups; g++)
        for (size_t i = 0; i < perm->sizes[g]; i++)
            *unit++ = (float)perm->perm[g][i];
    int rc = to_device ? f->be->put(f->be, buf, 0, units, bytes, err)
                       : f->be->get(f->be, buf, 0, units, bytes, err);
    unit = units;
    for (size_t g = 0; !rc && g < perm->n_groups; g++)
        for (size_t i = 0; i < perm->sizes[g]; i++, unit++)
            perm->perm[g][i] = *unit >= 0 && *unit < (float)perm->sizes[g] ? (int32_t)*unit : -1;
    free(units);
    return rc || to_device ? rc : mc_perm_check(perm, err);
}

int mc_pam_copy_state(struct mc_pam *p, struct mc_train *f, int to_device, struct mc_error *err)
{
    const size_t bytes = p->o->outer * sizeof *p->report;
    int rc;

    if ((rc = copy_perm(p, f, p->perm, p->d_perm, to_device, err)) ||
        (rc = copy_perm(p, f, &p->previous, p->d_previous, to_device, err)))
        return rc;
    return to_device ? f->be->put(f->be, p->d_report, 0, p->report, bytes, err)
                     : f->be->get(f->be, p->d_report, 0, p->report, bytes, err);
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

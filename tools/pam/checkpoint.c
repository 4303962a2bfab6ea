/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: transfer of permutations and reports between host, device and
 * checkpoint. */
#include "tools/pam/pam.h"

#include <stdlib.h>
#include <string.h>

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

/* Store unit indices as float32, a checkpoint's type, which represents them exactly. */
static void save_perm(const struct mc_perm *perm, float *unit)
{
    for (size_t g = 0; g < perm->n_groups; g++)
        for (size_t i = 0; i < perm->groups[g].size; i++)
            *unit++ = (float)perm->perm[g][i];
}

static int restore_perm(struct mc_perm *perm, const float *unit, struct mc_error *err)
{
    for (size_t g = 0; g < perm->n_groups; g++)
        for (size_t i = 0; i < perm->groups[g].size; i++, unit++)
            perm->perm[g][i] =
                *unit >= 0 && *unit < (float)perm->groups[g].size ? (int32_t)*unit : -1;
    return mc_perm_check(perm, err);
}

void mc_pam_save_perms(struct mc_pam *p)
{
    save_perm(p->perm, p->units);
    save_perm(&p->previous, p->units + p->n_units);
}

int mc_pam_restore_perms(struct mc_pam *p, struct mc_error *err)
{
    int rc = restore_perm(p->perm, p->units, err);

    return rc ? rc : restore_perm(&p->previous, p->units + p->n_units, err);
}

size_t mc_pam_vectors(struct mc_objective *o, struct mc_train *f, struct mc_train_vector *v)
{
    const struct mc_pam *p = (const struct mc_pam *)o;
    const size_t P = p->graph->P, n = p->n_units;
    const struct mc_train_vector all[] = {
        {"offset", p->d_offset, NULL, P, "--lr"},
        {"momentum", p->d_momentum, NULL, P, "--lr"},
        {"anchor", p->d_anchor, NULL, P, NULL},
        {"permutation", NULL, p->units, n, NULL},
        {"previous", NULL, p->units + n, n, NULL},
        /* doubles; the checkpoint copies their bits */
        {"report", NULL, (float *)p->report, p->o->outer * sizeof *p->report / sizeof(float), NULL},
        {"matrices", p->d_matrices, NULL, p->matrices,
         "--permutation-lr"}}; /* last: runs without permutation steps omit it */
    const size_t n_vectors = sizeof all / sizeof *all - !p->o->permutation_epochs;

    (void)f;
    memcpy(v, all, n_vectors * sizeof *all);
    return n_vectors;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: permutations and reports in a checkpoint. */
#include "tools/pam/pam.h"

#include <math.h>
#include <string.h>

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
        for (size_t i = 0; i < perm->groups[g].size; i++, unit++) {
            const int in_range = *unit >= 0 && *unit < (float)perm->groups[g].size;
            perm->perm[g][i] = in_range && !fmodf(*unit, 1) ? (int32_t)*unit : -1;
        }
    return mc_perm_check(perm, err);
}

void mc_pam_save_perms(struct mc_pam *p)
{
    save_perm(p->perm, p->units);
    save_perm(&p->previous, p->units + p->n_units);
}

/* MC_EINPUT if the report holds values that no run writes. NAN is one that was not measured. */
static int check_report(const struct mc_pam *p, struct mc_error *err)
{
    for (size_t k = 0; k < p->o->outer; k++) {
        const struct mc_pam_report *r = &p->report[k];
        const double *number = (const double *)r;
        int possible = !(r->rejected > 0 && r->rejected < 1) && !(r->rejected > 1);
        for (size_t i = 0; i < MC_PAM_REPORT; i++) /* only a decrease can be below 0 */
            possible &= &number[i] == &r->decrease || !(number[i] < 0);
        if (!possible)
            return mc_fail(err, MC_EINPUT,
                           "\"report\" holds results of iteration %zu that no run has", k + 1);
    }
    return 0;
}

int mc_pam_restore(struct mc_pam *p, struct mc_error *err)
{
    int rc = restore_perm(p->perm, p->units, err);

    if (!rc)
        rc = restore_perm(&p->previous, p->units + p->n_units, err);
    return rc ? rc : check_report(p, err);
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

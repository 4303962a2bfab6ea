/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: the second theorem's conditions, its constraint on the control
 * point, and its minimum move per iteration. */
#include "tools/pam/pam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Check that both ends are within the norm. */
static int check_ends(const struct mc_pam *p, struct mc_error *err)
{
    for (size_t l = 0; l < p->layers.L; l++) {
        const struct mc_param *t = &p->graph->params[p->layers.weight[l]];
        for (int end = 0; end < 2; end++) {
            double norm = 0;
            int rc = mc_spectral_norm((size_t)t->tensor.shape[0], (size_t)t->tensor.shape[1],
                                      (end ? p->b : p->a) + t->offset, &norm, err);
            if (rc)
                return rc;
            if (norm > p->o->spectral * (1 + 1e-6))
                return mc_fail(err, MC_EUSAGE,
                               "spectral norm of %s in the %s network must be at most %g for the "
                               "theorem (got %g)",
                               t->tensor.name, end ? "second" : "first", p->o->spectral, norm);
        }
    }
    return 0;
}

int mc_pam_theorem_init(struct mc_pam *p, struct mc_error *err)
{
    int rc = mc_spectral_layers(p->graph, &p->layers, err);

    return rc ? rc : check_ends(p, err);
}

/* Project one layer's weight of the control point. w: (3,count), scratch. */
static int clip_layer(struct mc_pam *p, struct mc_train *f, const struct mc_param *t, float *w,
                      struct mc_error *err)
{
    const size_t n = t->count, from = t->offset * sizeof *w;
    float *middle = w + n, *offset = w + 2 * n;
    int rc = f->be->get(f->be, p->d_offset, from, offset, n * sizeof *w, err);

    if (!rc)
        rc = f->be->get(f->be, p->d_pb, from, middle, n * sizeof *w, err);
    for (size_t i = 0; !rc && i < n; i++) {
        middle[i] = .5f * (p->a[t->offset + i] + middle[i]);
        w[i] = middle[i] + offset[i];
    }
    if (!rc)
        rc = mc_spectral_clip((size_t)t->tensor.shape[0], (size_t)t->tensor.shape[1], w,
                              p->o->spectral, err);
    if (rc <= 0) /* nothing clipped: keep the offset's bits, which a sum would round */
        return rc;
    for (size_t i = 0; i < n; i++)
        offset[i] = w[i] - middle[i];
    return f->be->put(f->be, p->d_offset, from, offset, n * sizeof *w, err);
}

int mc_pam_clip(struct mc_pam *p, struct mc_train *f, struct mc_error *err)
{
    size_t largest = 1;
    float *w;
    int rc;

    for (size_t l = 0; l < p->layers.L; l++) {
        const size_t n = p->graph->params[p->layers.weight[l]].count;
        largest = n > largest ? n : largest;
    }
    rc = (w = malloc(3 * largest * sizeof *w)) ? 0 : mc_no_memory(err);
    for (size_t l = 0; !rc && l < p->layers.L; l++)
        rc = clip_layer(p, f, &p->graph->params[p->layers.weight[l]], w, err);
    free(w);
    return rc;
}

/* |Q - Q_delta| <= E = K_L sqrt(M) (delta / 2) sum of K_W^i, i = 1 ... L - 1, with K_L = sqrt(2).
 * The result is 2 E, as both iterates differ by up to E. */
double mc_pam_min_move(const struct mc_pam *p, const struct mc_train *f)
{
    double sum = 0, power = 1;

    for (size_t i = 1; i < p->layers.L; i++) {
        power *= p->o->spectral;
        sum += power;
    }
    return 2 * sqrt(2) * sqrt((double)p->layers.M) * .5 * f->o->huber * sum;
}

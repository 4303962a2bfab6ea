/* SPDX-License-Identifier: Apache-2.0
 *
 * Upper bound on the barrier of a straight line. */
#include "tools/align/bound.h"

#include "libcommon/base/alloc.h"
#include "libcommon/spectral/spectral.h"
#include "tools/align/correlation.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The network is a chain: each group is one hidden layer with one tap. */
static int hidden_layers(struct mc_bound *b, const struct mc_graph *g, struct mc_error *err)
{
    struct mc_symmetry s = {0};
    int rc = mc_symmetry_derive(&s, g, err);

    for (size_t i = 0; !rc && i + 1 < b->L; i++) {
        const struct mc_node *n = &g->nodes[g->params[b->weight[i]].node];
        if (n->c < 2)
            rc = mc_fail(err, MC_EINPUT, "linear '%s' has 1 unit (moments require at least 2)",
                         n->name);
    }
    if (!rc)
        rc = mc_taps_init(&b->pre, &s, g, 1, err);
    assert(rc || b->pre.n_taps == b->L - 1);
    mc_symmetry_release(&s);
    return rc;
}

int mc_bound_init(struct mc_bound *out, const struct mc_weights *a, const struct mc_weights *b,
                  struct mc_error *err)
{
    const struct mc_graph *g = a->graph;
    struct mc_spectral_layers layers;
    int rc = mc_spectral_layers(g, &layers, err);

    if (rc == MC_EUSAGE) { /* for mc-pam an option requires such layers, here the bound does */
        rc = MC_EINPUT;
        if (err)
            err->code = rc;
    }
    *out = (struct mc_bound){.L = layers.L, .weight = layers.weight};
    if (!rc)
        rc = hidden_layers(out, g, err);
    if (!rc)
        rc = mc_new(&out->norm, out->L, err);
    for (size_t l = 0; !rc && l < out->L; l++) {
        const struct mc_param *p = &g->params[out->weight[l]];
        const size_t rows = (size_t)p->tensor.shape[0], cols = (size_t)p->tensor.shape[1];
        if (!(rc = mc_spectral_norm(rows, cols, a->params + p->offset, &out->norm[l][0], err)))
            rc = mc_spectral_norm(rows, cols, b->params + p->offset, &out->norm[l][1], err);
    }
    return rc;
}

void mc_bound_release(struct mc_bound *b)
{
    free(b->norm);
    free(b->weight);
    mc_taps_release(&b->pre);
    *b = (struct mc_bound){0};
}

int mc_bound_check(const struct mc_bound *b, const struct mc_moments *m,
                   const struct mc_weights *first, const struct mc_weights *second,
                   struct mc_error *err)
{
    const struct mc_weights *const networks[2] = {first, second};

    if (strcmp(m->taps.place, b->pre.place) != 0)
        return mc_fail(
            err, MC_EINPUT,
            "moments of pre-activations expected, got post-activations: run mc-acts with "
            "--at pre");
    if (!mc_taps_same(&m->taps, &b->pre))
        return mc_fail(err, MC_EINPUT,
                       "moments are from a different architecture than the networks");
    int rc = mc_moments_expect_whole(m, err);
    if (rc)
        return rc;
    if (*m->conditions.attack)
        return mc_fail(
            err, MC_EINPUT,
            "moments of plain images expected, got attacked images (they differ per network)");
    if (m->conditions.precision != MC_PRECISION_F32)
        return mc_fail(err, MC_EINPUT, "moments in f32 expected, got %s",
                       mc_precision_names[m->conditions.precision]);
    for (size_t i = 0; i < m->taps.n_taps; i++)
        if (m->taps.taps[i].samples != m->images)
            return mc_fail(err, MC_EINPUT, "tap %s: 1 sample per image (%llu) expected, got %llu",
                           m->taps.taps[i].name, (unsigned long long)m->images,
                           (unsigned long long)m->taps.taps[i].samples);
    for (size_t i = 0; i < 2; i++)
        if (*m->inputs[i] && *networks[i]->id && strcmp(m->inputs[i], networks[i]->id) != 0)
            return mc_fail(err, MC_EINPUT, "moments were computed from a different %s network",
                           i ? "second" : "first");
    return 0;
}

int mc_bound_distances(const struct mc_bound *b, const struct mc_moments *m,
                       const struct mc_perm *perm, double *delta, struct mc_error *err)
{
    struct mc_matrices d; /* negative mean squared distances */
    int rc = mc_corr_matrices(&d, m, MC_MEASURE_L2, err);

    for (size_t i = 0; !rc && i + 1 < b->L; i++) {
        const struct mc_matrix *g = &d.matrices[b->pre.taps[i].group];
        const int32_t *to = perm ? perm->perm[b->pre.taps[i].group] : NULL;
        double sum = 0;

        for (size_t k = 0; k < g->n; k++)
            sum -= g->value[k * g->n + (to ? (size_t)to[k] : k)];
        delta[i] = sqrt(sum);
        if (!isfinite(delta[i]))
            rc = mc_fail(err, MC_EINPUT, "tap %s: the distance is not finite", b->pre.taps[i].name);
    }
    mc_matrices_release(&d);
    return rc;
}

double mc_bound_at(const struct mc_bound *b, const double *delta, double t)
{
    double d0 = 0, d1 = 0;

    for (size_t i = 0; i + 1 < b->L; i++) {
        const double c = (1 - t) * b->norm[i][0] * d0 + t * b->norm[i][1] * d1;
        d0 = c + t * delta[i];
        d1 = c + (1 - t) * delta[i];
    }
    return sqrt(2) * ((1 - t) * b->norm[b->L - 1][0] * d0 + t * b->norm[b->L - 1][1] * d1);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Training steps on a fixture's data set, with every feature of a step: augmented batches, one rate
 * per step, a point other than the parameters, momentum and decay, sums. Header only. */
#ifndef MC_TEST_STEPS_H
#define MC_TEST_STEPS_H

#include "tests/unit/kernels/device.h"

enum { STEP_SUMS = MC_N_METRICS + 1 }; /* the metrics, and half the sum of the point's squares */

struct steps {
    struct fixture f;
    struct mc_plan *p;
    struct mc_buf *m, *point, *lrs, *coefs, *sums;
};

/* n steps: order (n,B), lrs (n), coefs (n; the point is the parameters times coef) or NULL. Owns
 * the graph; teardown(&s->f) releases everything. */
static inline void open_steps(struct steps *s, struct mc_graph *g, size_t n, const int32_t *order,
                              const float *lrs, const float *coefs)
{
    static const struct mc_augment augment = {.rotate = 15, .flip = 1, .pad = 2};
    const struct mc_ctl ctl = {.seed = 5, .epoch = 3};

    setup(&s->f, g, 1);
    put(s->f.d_ctl, 0, &ctl, sizeof ctl);
    s->f.source.order = buf(n * B * sizeof *order, order);
    s->f.source.augment = &augment;
    s->f.source.purpose = MC_RNG_AUGMENT;
    s->m = buf(g->P * sizeof(float), NULL);
    s->point = coefs ? buf(g->P * sizeof(float), NULL) : s->f.d_params;
    s->lrs = buf(n * sizeof *lrs, lrs);
    s->coefs = coefs ? buf(n * sizeof *coefs, coefs) : NULL;
    s->sums = buf(STEP_SUMS * sizeof(double), NULL);
    s->p = plan(g, (struct mc_plan_opts){.backward = 1, .train_only = 1});
}

/* One step of open_steps' struct `arg`, for a backend's repeat(). */
static inline void step(void *arg)
{
    struct steps *s = arg;
    struct fixture *f = &s->f;
    const struct mc_buf *const from[] = {f->d_params};
    const struct mc_sgd sgd = {.p = f->d_params,
                               .m = s->m,
                               .grad = f->d_grad,
                               .point = s->point,
                               .lrs = s->lrs,
                               .coefs = s->coefs,
                               .stride = 1,
                               .momentum = .9f,
                               .decay = s->coefs ? .01f : 5e-4f,
                               .nesterov = 1};

    if (s->coefs)
        be->lincomb(be, f->g->P, s->point, 1, from, s->coefs, f->d_ctl);
    be->load(s->p, &f->source, f->d_ctl);
    be->forward(s->p, MC_MODE_TRAIN, s->point, f->d_stats, NULL, f->d_ctl);
    be->metrics(s->p, s->sums);
    be->sumsq(be, f->g->P, s->point, .5, s->sums, MC_N_METRICS);
    be->backward(s->p, s->point, f->d_grad);
    be->sgd(be, f->g->P, &sgd, f->d_ctl);
    be->ctl_next(be, f->d_ctl);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Training objectives whose point is a linear combination of vectors: a network or a curve. */
#include "tools/curve/objective.h"

#include <stdio.h>
#include <string.h>

static int prepare(struct mc_objective *o, struct mc_train *f, struct mc_error *err)
{
    struct mc_curve_objective *l = (struct mc_curve_objective *)o;
    const size_t bytes = f->graph->P * sizeof(float);

    for (size_t i = 0; i < l->k; i++) {
        mc_bufs_add(&f->bufs, &l->p[i], l->host[i], bytes, err);
        if (l->is_free[i])
            mc_bufs_add(&f->bufs, &l->m[i], NULL, bytes, err);
    }
    if (l->k > 1) {
        mc_bufs_add(&f->bufs, &l->point, NULL, bytes, err);
        mc_bufs_add(&f->bufs, &l->coefs, NULL, f->steps * l->k * sizeof(float), err);
    }
    if (f->bufs.rc || !l->host_stats || !f->graph->S)
        return f->bufs.rc;
    return f->be->put(f->be, f->stats, 0, l->host_stats, f->graph->S * sizeof(float), err);
}

static void weights_at(const void *arg, double t, float *weights)
{
    const struct mc_curve_objective *l = arg;
    double c[MC_MAX_POINTS];

    mc_curve_coefs(l->kind, l->k, t, c);
    for (size_t i = 0; i < l->k; i++)
        weights[i] = (float)c[i];
}

static int epoch(struct mc_objective *o, struct mc_train *f, uint64_t e, struct mc_error *err)
{
    struct mc_curve_objective *l = (struct mc_curve_objective *)o;

    return l->k > 1 ? mc_train_put_weights(f, e, l->k, weights_at, l, l->coefs, err) : 0;
}

static const struct mc_buf *point(struct mc_objective *o, struct mc_train *f)
{
    struct mc_curve_objective *l = (struct mc_curve_objective *)o;

    if (l->k == 1)
        return l->p[0];
    f->be->lincomb(f->be, f->graph->P, l->point, l->k, (const struct mc_buf *const *)l->p, l->coefs,
                   f->ctl);
    return l->point;
}

static void step(struct mc_objective *o, struct mc_train *f, const struct mc_buf *point)
{
    struct mc_curve_objective *l = (struct mc_curve_objective *)o;

    for (size_t i = 0; i < l->k; i++) {
        if (!l->is_free[i])
            continue;
        struct mc_sgd s = {.p = l->p[i],
                           .m = l->m[i],
                           .grad = f->grad,
                           .point = point,
                           .lrs = f->lrs,
                           .coefs = l->coefs,
                           .stride = l->k,
                           .k = i,
                           .momentum = (float)f->o->momentum,
                           .decay = (float)f->o->decay,
                           .nesterov = f->o->nesterov};
        f->be->sgd(f->be, f->graph->P, &s, f->ctl);
    }
}

static size_t vectors(struct mc_objective *o, struct mc_train *f, struct mc_train_vector *v)
{
    struct mc_curve_objective *l = (struct mc_curve_objective *)o;
    const size_t P = f->graph->P, S = f->graph->S;
    size_t n = 0;

    for (size_t i = 0; i < l->k; i++) {
        if (!l->is_free[i])
            continue;
        v[n] = (struct mc_train_vector){.buf = l->p[i], .n = P, .rate = "--lr"};
        snprintf(v[n++].name, sizeof v->name, "point.%zu", i);
        v[n] = (struct mc_train_vector){.buf = l->m[i], .n = P, .rate = "--lr"};
        snprintf(v[n++].name, sizeof v->name, "momentum.%zu", i);
    }
    if (l->host_stats && S)
        v[n++] = (struct mc_train_vector){"statistics", f->stats, NULL, S, "--lr"};
    return n;
}

static int finish(struct mc_objective *o, struct mc_train *f, struct mc_error *err)
{
    struct mc_curve_objective *l = (struct mc_curve_objective *)o;
    struct mc_backend *be = f->be;
    int rc = 0;

    for (size_t i = 0; !rc && i < l->k; i++)
        if (l->is_free[i])
            rc = be->get(be, l->p[i], 0, l->host[i], f->graph->P * sizeof(float), err);
    if (!rc && l->host_stats && f->graph->S)
        rc = be->get(be, f->stats, 0, l->host_stats, f->graph->S * sizeof(float), err);
    return rc;
}

static void memory(const struct mc_objective *o, const struct mc_train_options *t,
                   struct mc_train_memory *m)
{
    const struct mc_curve_objective *l = (const struct mc_curve_objective *)o;
    size_t n_free = 0;

    for (size_t i = 0; i < l->k; i++)
        n_free += l->is_free[i] != 0;
    m->vectors += 2 * l->k + n_free + (l->k > 1) + 1 + (t->checkpoint ? 2 * n_free : 0);
}

static const struct mc_objective linear = {.prepare = prepare,
                                           .epoch = epoch,
                                           .point = point,
                                           .step = step,
                                           .vectors = vectors,
                                           .memory = memory,
                                           .finish = finish};

void mc_curve_objective_network(struct mc_curve_objective *l, struct mc_weights *w)
{
    *l = (struct mc_curve_objective){
        .objective = linear, .k = 1, .host = {w->params}, .is_free = {1}, .host_stats = w->stats};
    l->objective.mode = MC_MODE_TRAIN;
}

void mc_curve_objective_curve(struct mc_curve_objective *l, struct mc_curve *c)
{
    *l = (struct mc_curve_objective){.objective = linear, .k = c->n_points, .kind = c->kind};
    l->objective.mode = MC_MODE_BATCH;
    for (size_t i = 0; i < c->n_points; i++) {
        l->host[i] = c->points[i];
        l->is_free[i] = i > 0 && i + 1 < c->n_points;
    }
}

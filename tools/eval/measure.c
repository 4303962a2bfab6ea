/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation of many points in one pass over the data. */
#include "tools/eval/measure.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pass over a data set, with the device buffers of all its points. */
struct pass {
    const struct mc_span *span;
    struct mc_loader loader;
    struct mc_batch_attack attack;
    struct mc_model model;   /* at the first vector */
    struct mc_buf **vectors; /* (k) */
    struct mc_buf **stats;   /* (T), or NULL each for batch statistics */
    struct mc_buf **acc;     /* (T): sums at each point */
    struct mc_buf **robust;  /* (T): sums over its adversarial examples, or NULL each */
    struct mc_buf *coefs, *point, *point_ctl;
    const struct mc_eval_output *out[2]; /* clean, robust; for results per image */
    size_t first;                        /* images before the loaded batch */
    struct mc_buf *per_image;            /* (B) of the loaded batch */
    float *host;                         /* (B) */
};

static void release(struct pass *p)
{
    mc_model_release(&p->model);
    mc_batch_attack_release(&p->attack);
    mc_loader_release(&p->loader);
    free(p->vectors);
    free(p->host);
}

/* Upload vectors and coefficients. A single vector with weight 1 is used directly. */
static int put_span(struct pass *p, struct mc_error *err)
{
    const struct mc_span *s = p->span;
    const size_t bytes = s->graph->P * sizeof(float);
    struct mc_bufs *b = &p->loader.bufs;

    p->vectors[0] = p->model.params;
    if (s->k == 1)
        return 0;
    for (size_t i = 1; i < s->k; i++)
        mc_bufs_add(b, &p->vectors[i], s->vectors[i], bytes, err);
    float *rows = NULL;
    int rc = mc_new(&rows, s->T * s->k, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < s->T * s->k; i++)
        rows[i] = (float)s->coef[i];
    mc_bufs_add(b, &p->coefs, rows, s->T * s->k * sizeof *rows, err);
    mc_bufs_add(b, &p->point_ctl, NULL, sizeof(struct mc_ctl), err);
    mc_bufs_add(b, &p->point, NULL, bytes, err);
    free(rows);
    return b->rc;
}

/* doubles: number of sums per point. with_statistics: use the span's statistics, else the
 * batches'. */
static int prepare(struct pass *p, const struct mc_loader_options *o,
                   const struct mc_attack_options *attack, int with_statistics, size_t doubles,
                   struct mc_error *err)
{
    const struct mc_span *s = p->span;
    const struct mc_plan_opts plan = {.batch = o->batch};
    const size_t S = s->graph->S, bytes = doubles * sizeof(double);
    struct mc_bufs *b = &p->loader.bufs;
    int rc = mc_loader_open(&p->loader, s->graph, o, err);

    if (!rc)
        rc = mc_batch_attack_open(&p->attack, attack,
                                  with_statistics ? MC_RNG_ATTACK_MEASURE : MC_RNG_ATTACK_BN,
                                  &p->loader, s->graph, err);
    if (!rc)
        rc = mc_model_open(&p->model, o->be, s->graph, s->vectors[0], NULL, &plan, err);
    if (rc || (rc = mc_new(&p->vectors, s->k + 3 * s->T, err)))
        return rc;
    p->stats = p->vectors + s->k;
    p->acc = p->stats + s->T;
    p->robust = p->acc + s->T;
    rc = put_span(p, err);
    for (size_t i = 0; !rc && i < s->T; i++) {
        mc_bufs_add(b, &p->acc[i], NULL, bytes, err);
        if (with_statistics)
            mc_bufs_add(b, &p->stats[i], s->stats + i * S, S * sizeof(float), err);
        if (with_statistics && attack)
            mc_bufs_add(b, &p->robust[i], NULL, bytes, err);
        rc = b->rc;
    }
    return rc;
}

/* Fetch loss and correctness of each of the n loaded images at point i. */
static int get_per_image(struct pass *p, const struct mc_model *m, size_t i, size_t n, int robust,
                         struct mc_error *err)
{
    const struct mc_eval_output *out = p->out[robust];
    const size_t offset = i * p->loader.n_images + p->first;

    if (!out->loss)
        return 0;
    m->be->output(m->plan, MC_OUT_LOSS, 0, p->per_image);
    int rc = m->be->get(m->be, p->per_image, 0, out->loss + offset, n * sizeof *out->loss, err);
    if (rc)
        return rc;
    m->be->output(m->plan, MC_OUT_CORRECT, 0, p->per_image);
    rc = m->be->get(m->be, p->per_image, 0, p->host, n * sizeof *p->host, err);
    for (size_t k = 0; !rc && k < n; k++)
        out->correct[offset + k] = p->host[k] > 0;
    return rc;
}

/* Run the loaded batch of n images at point i. */
static int run_point(struct pass *p, struct mc_buf *point, size_t i, size_t n, struct mc_error *err)
{
    const struct mc_model m = {
        .be = p->loader.be, .plan = p->model.plan, .params = point, .stats = p->stats[i]};

    if (!m.stats) {
        mc_batch_attack_run(&p->attack, &p->loader, &m, MC_MODE_BATCH);
        m.be->forward(m.plan, MC_MODE_REESTIMATE, point, NULL, p->acc[i], p->loader.ctl);
        return 0;
    }
    if (p->robust[i] && i) /* the previous point left its adversarial examples there */
        mc_loader_reload(&p->loader, &m);
    mc_model_forward(&m, p->loader.ctl);
    m.be->metrics(m.plan, p->acc[i]);
    int rc = get_per_image(p, &m, i, n, 0, err);
    if (rc || !p->robust[i])
        return rc;
    mc_batch_attack_run(&p->attack, &p->loader, &m, MC_MODE_EVAL);
    mc_model_forward(&m, p->loader.ctl);
    m.be->metrics(m.plan, p->robust[i]);
    return get_per_image(p, &m, i, n, 1, err);
}

/* Run the loaded batch of n images at every point. */
static int run_batch(struct pass *p, size_t n, struct mc_error *err)
{
    struct mc_backend *be = p->loader.be;
    const struct mc_span *s = p->span;
    const struct mc_ctl ctl = {.seed = p->loader.o.seed};
    int rc = mc_batch_attack_load(&p->attack, &p->loader, n, err);

    if (!rc && s->k > 1)
        rc = be->put(be, p->point_ctl, 0, &ctl, sizeof ctl, err);
    for (size_t i = 0; !rc && i < s->T; i++) {
        if (s->k > 1) {
            be->lincomb(be, s->graph->P, p->point, s->k, (const struct mc_buf *const *)p->vectors,
                        p->coefs, p->point_ctl);
            be->ctl_next(be, p->point_ctl);
        }
        rc = run_point(p, s->k > 1 ? p->point : p->vectors[0], i, n, err);
    }
    p->first += n;
    return rc;
}

static int run_pass(struct pass *p, struct mc_error *err)
{
    size_t n = 0;
    int rc = 0;

    while (!rc && !(rc = mc_loader_next(&p->loader, &p->model, 1, &n, err)) && n)
        rc = run_batch(p, n, err);
    return rc;
}

int mc_eval_statistics(const struct mc_span *span, const struct mc_loader_options *o,
                       const struct mc_attack_options *attack, float *stats, struct mc_error *err)
{
    struct mc_backend *be = o->be;
    const size_t S = span->graph->S;
    struct pass p = {.span = span};
    struct mc_buf *out = NULL;
    int rc = prepare(&p, o, attack, 0, MC_REESTIMATE_SIZE(S), err);

    if (!rc)
        rc = mc_data_batches(span->graph, mc_reader_name(mc_dataset_stream(o->data)),
                             p.loader.n_images, o->batch, err);
    if (!rc)
        rc = run_pass(&p, err);
    if (!rc)
        mc_bufs_add(&p.loader.bufs, &out, NULL, S * sizeof(float), err);
    rc = rc ? rc : p.loader.bufs.rc;
    for (size_t i = 0; !rc && i < span->T; i++) {
        be->reestimate(be, span->graph, p.acc[i], out);
        rc = be->get(be, out, 0, stats + i * S, S * sizeof(float), err);
    }
    release(&p);
    return rc;
}

/* Fetch a point's sums from the device. */
static int get_result(struct mc_backend *be, const struct mc_buf *acc, struct mc_eval_result *out,
                      struct mc_error *err)
{
    double sum[MC_N_METRICS];
    int rc = be->get(be, acc, 0, sum, sizeof sum, err);

    if (rc)
        return rc;
    double n = sum[MC_METRIC_IMAGES], loss = sum[MC_METRIC_LOSS] / n;
    double variance = sum[MC_METRIC_LOSS_SQ] / n - loss * loss;
    double a = sum[MC_METRIC_CORRECT] / n;
    *out = (struct mc_eval_result){.images = n,
                                   .loss = loss,
                                   .loss_se = variance > 0 ? sqrt(variance / n) : 0,
                                   .accuracy = a,
                                   .accuracy_se = sqrt(a * (1 - a) / n)};
    return 0;
}

int mc_eval_loss(const struct mc_span *span, const struct mc_loader_options *o,
                 const struct mc_attack_options *attack, const struct mc_eval_output *out,
                 const struct mc_eval_output *robust, struct mc_error *err)
{
    struct mc_loader_options plain = *o;
    struct pass p = {.span = span, .out = {out, robust}};

    plain.augment = 0;
    int rc = prepare(&p, &plain, attack, 1, MC_N_METRICS, err);
    if (!rc && out->loss) {
        mc_bufs_add(&p.loader.bufs, &p.per_image, NULL, o->batch * sizeof(float), err);
        rc = p.loader.bufs.rc ? p.loader.bufs.rc : mc_new(&p.host, o->batch, err);
    }
    if (!rc)
        rc = run_pass(&p, err);
    for (size_t i = 0; !rc && i < span->T; i++) {
        rc = get_result(o->be, p.acc[i], &out->result[i], err);
        if (!rc && p.robust[i])
            rc = get_result(o->be, p.robust[i], &robust->result[i], err);
    }
    release(&p);
    return rc;
}

int mc_eval_bytes(struct mc_backend *be, const struct mc_span *span, size_t batch,
                  const struct mc_attack_options *attack, size_t *bytes, struct mc_error *err)
{
    const struct mc_graph *g = span->graph;
    const struct mc_plan_opts o = {.batch = batch};
    size_t more = 0;
    int rc = mc_batch_attack_bytes(be, attack, g, batch, &more, err);

    if (rc || (rc = mc_plan_bytes(be, g, &o, bytes, err)))
        return rc;
    *bytes += more + (span->k + (span->k > 1)) * g->P * sizeof(float) +
              batch * (size_t)(g->input[0] * g->input[1] * g->input[2]);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation of many points in one pass over the data. */
#include "tools/eval/measure.h"

#include "kernels/upload.h"
#include "libcommon/base/rng.h"
#include "tools/attack/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pass over a data set: what lies on the device for all its points. */
struct pass {
    struct mc_backend *be;
    const struct mc_span *span;
    const struct mc_eval_options *o;
    struct mc_dataset_reader *data;
    struct mc_loader loader;
    struct mc_batch_attack attack;
    struct mc_plan *plan;
    struct mc_buf **vectors; /* (k) */
    struct mc_buf **acc;     /* (T): what is summed at each point */
    struct mc_buf **robust;  /* (T): and of its adversarial examples, or NULL */
    struct mc_buf **stats;   /* (T), or NULL: batch statistics */
    struct mc_buf *coefs, *point, *point_ctl;
};

static void release(struct pass *p)
{
    struct mc_backend *be = p->be;

    for (size_t i = 0; p->vectors && i < p->span->k; i++)
        be->buf_free(be, p->vectors[i]);
    for (size_t i = 0; p->acc && i < p->span->T; i++)
        be->buf_free(be, p->acc[i]);
    for (size_t i = 0; p->robust && i < p->span->T; i++)
        be->buf_free(be, p->robust[i]);
    for (size_t i = 0; p->stats && i < p->span->T; i++)
        be->buf_free(be, p->stats[i]);
    be->buf_free(be, p->coefs);
    be->buf_free(be, p->point);
    be->buf_free(be, p->point_ctl);
    if (p->plan)
        be->plan_free(p->plan);
    free(p->vectors);
    free(p->acc);
    free(p->robust);
    free(p->stats);
    mc_batch_attack_release(&p->attack);
    mc_loader_release(&p->loader);
}

/* Vectors and coefficients. One vector with weight 1 is used as it is. */
static int put_span(struct pass *p, struct mc_error *err)
{
    const struct mc_span *s = p->span;
    size_t bytes = s->graph->P * sizeof(float);
    int rc = 0;

    p->vectors = calloc(s->k, sizeof *p->vectors);
    if (!p->vectors)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    for (size_t i = 0; !rc && i < s->k; i++)
        rc = mc_upload(p->be, &p->vectors[i], s->vectors[i], bytes, err);
    if (rc || s->k == 1)
        return rc;
    float *rows = malloc(s->T * s->k * sizeof *rows);
    if (!rows)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    for (size_t i = 0; i < s->T * s->k; i++)
        rows[i] = (float)s->coef[i];
    rc = mc_upload(p->be, &p->coefs, rows, s->T * s->k * sizeof *rows, err);
    free(rows);
    if (!rc)
        rc = p->be->buf_new(p->be, bytes, &p->point, err);
    return rc;
}

static int prepare(struct pass *p, const float *stats, size_t acc_doubles, struct mc_error *err)
{
    struct mc_backend *be = p->be;
    const struct mc_span *s = p->span;
    size_t S = s->graph->S;
    struct mc_plan_opts plan = {.batch = p->o->batch};
    struct mc_ctl ctl = {.seed = p->o->seed};
    struct mc_loader_options loader = {.batch = p->o->batch,
                                       .samples = p->o->samples,
                                       .exact = p->o->samples_exact,
                                       .purpose = MC_RNG_BN,
                                       .seed = p->o->seed};
    int rc;

    if (p->o->augment)
        loader.augment = &mc_dataset_get_info(p->data)->augment;
    rc = mc_loader_open(&p->loader, be, s->graph, p->data, &loader, err);
    if (!rc)
        rc = be->plan_new(be, s->graph, &plan, &p->plan, err);
    if (!rc && p->o->attack)
        rc = mc_batch_attack_open(&p->attack, p->o->attack,
                                  stats ? MC_RNG_ATTACK_MEASURE : MC_RNG_ATTACK_BN, &p->loader,
                                  s->graph, err);
    if (!rc)
        rc = put_span(p, err);
    if (!rc)
        rc = mc_upload(be, &p->point_ctl, &ctl, sizeof ctl, err);
    if (rc)
        return rc;
    p->acc = calloc(s->T, sizeof *p->acc);
    if (stats)
        p->stats = calloc(s->T, sizeof *p->stats);
    if (stats && p->o->attack)
        p->robust = calloc(s->T, sizeof *p->robust);
    if (!p->acc || (stats && !p->stats) || (stats && p->o->attack && !p->robust))
        return mc_fail(err, MC_ENOMEM, "out of memory");
    for (size_t i = 0; !rc && i < s->T; i++) {
        rc = be->buf_new(be, acc_doubles * sizeof(double), &p->acc[i], err);
        if (!rc && p->robust)
            rc = be->buf_new(be, acc_doubles * sizeof(double), &p->robust[i], err);
        if (!rc && stats)
            rc = mc_upload(be, &p->stats[i], stats + i * S, S * sizeof(float), err);
    }
    return rc;
}

/* The batch that is loaded at one point, i. */
static void run_point(struct pass *p, const struct mc_buf *point, size_t i)
{
    struct mc_backend *be = p->be;

    if (!p->stats) {
        if (p->o->attack)
            mc_batch_attack_run(&p->attack, p->plan, MC_MODE_BATCH, point, NULL);
        be->forward(p->plan, MC_MODE_REESTIMATE, point, NULL, p->acc[i], p->loader.ctl);
        return;
    }
    if (p->robust && i) /* the point before left its adversarial examples there */
        mc_batch_attack_undo(&p->attack, p->plan);
    be->forward(p->plan, MC_MODE_EVAL, point, p->stats[i], NULL, p->loader.ctl);
    be->metrics(p->plan, p->acc[i]);
    if (!p->robust)
        return;
    mc_batch_attack_run(&p->attack, p->plan, MC_MODE_EVAL, point, p->stats[i]);
    be->forward(p->plan, MC_MODE_EVAL, point, p->stats[i], NULL, p->loader.ctl);
    be->metrics(p->plan, p->robust[i]);
}

/* The batch that is loaded, at every point. */
static int run_batch(struct pass *p, struct mc_error *err)
{
    struct mc_backend *be = p->be;
    const struct mc_span *s = p->span;
    struct mc_ctl ctl = {.seed = p->o->seed};
    int rc = be->put(be, p->point_ctl, 0, &ctl, sizeof ctl, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < s->T; i++) {
        const struct mc_buf *point = p->vectors[0];
        if (s->k > 1) {
            be->lincomb(be, s->graph->P, p->point, s->k, (const struct mc_buf *const *)p->vectors,
                        p->coefs, p->point_ctl);
            be->ctl_next(be, p->point_ctl);
            point = p->point;
        }
        run_point(p, point, i);
    }
    return 0;
}

static int run_pass(struct pass *p, const struct mc_eval_watch *watch, struct mc_error *err)
{
    struct mc_plan *plans[] = {p->plan, p->attack.plan};
    uint64_t done = 0;
    size_t n = 0;
    int rc;

    while (!(rc = mc_loader_next(&p->loader, plans, p->o->attack ? 2 : 1, &n, err)) && n) {
        if (p->o->attack && (rc = mc_batch_attack_next(&p->attack, n, err)))
            return rc;
        if ((rc = run_batch(p, err)))
            return rc;
        done += n;
        if (watch && watch->progress)
            watch->progress(watch->arg, done, p->loader.wanted);
    }
    return rc;
}

int mc_eval_statistics(struct mc_backend *be, const struct mc_span *span,
                       struct mc_dataset_reader *data, const struct mc_eval_options *o,
                       const struct mc_eval_watch *watch, float *stats, struct mc_error *err)
{
    size_t S = span->graph->S;
    struct mc_buf *out = NULL;
    struct pass p = {.be = be, .span = span, .o = o, .data = data};
    int rc = prepare(&p, NULL, MC_REESTIMATE_SIZE(S), err);

    if (!rc)
        rc = run_pass(&p, watch, err);
    if (!rc)
        rc = be->buf_new(be, (S ? S : 1) * sizeof(float), &out, err);
    for (size_t i = 0; !rc && i < span->T; i++) {
        be->reestimate(be, span->graph, p.acc[i], out);
        rc = be->get(be, out, 0, stats + i * S, S * sizeof(float), err);
    }
    be->buf_free(be, out);
    release(&p);
    return rc;
}

/* What the device summed at a point. */
static int take(struct mc_backend *be, const struct mc_buf *acc, struct mc_eval_result *out,
                struct mc_error *err)
{
    double sum[MC_N_METRICS];
    int rc = be->get(be, acc, 0, sum, sizeof sum, err);

    if (rc)
        return rc;
    double n = sum[MC_METRIC_IMAGES], loss = sum[MC_METRIC_LOSS] / n;
    double variance = sum[MC_METRIC_LOSS_SQ] / n - loss * loss;
    double a = sum[MC_METRIC_CORRECT] / n;
    *out = (struct mc_eval_result){.images = (uint64_t)n,
                                   .loss = loss,
                                   .loss_se = variance > 0 ? sqrt(variance / n) : 0,
                                   .accuracy = a,
                                   .accuracy_se = sqrt(a * (1 - a) / n)};
    return 0;
}

int mc_eval_loss(struct mc_backend *be, const struct mc_span *span, const float *stats,
                 struct mc_dataset_reader *data, const struct mc_eval_options *o,
                 const struct mc_eval_watch *watch, struct mc_eval_result *out,
                 struct mc_eval_result *robust, struct mc_error *err)
{
    struct mc_eval_options plain = *o;
    struct pass p = {.be = be, .span = span, .o = &plain, .data = data};
    int rc;

    plain.augment = 0;
    rc = prepare(&p, stats, MC_N_METRICS, err);
    if (!rc)
        rc = run_pass(&p, watch, err);
    for (size_t i = 0; !rc && i < span->T; i++) {
        rc = take(be, p.acc[i], &out[i], err);
        if (!rc && p.robust)
            rc = take(be, p.robust[i], &robust[i], err);
    }
    release(&p);
    return rc;
}

int mc_eval_bytes(struct mc_backend *be, const struct mc_span *span, size_t batch,
                  const struct mc_attack_options *attack, size_t *bytes, struct mc_error *err)
{
    const struct mc_graph *g = span->graph;
    const struct mc_plan_opts o = {.batch = batch};
    struct mc_plan *plan = NULL;
    size_t more = 0;
    int rc = attack ? mc_batch_attack_bytes(be, attack, g, batch, &more, err) : 0;

    if (rc || (rc = be->plan_new(be, g, &o, &plan, err)))
        return rc;
    *bytes = more + be->plan_bytes(plan) + (span->k + (span->k > 1)) * g->P * sizeof(float) +
             batch * (size_t)(g->input[0] * g->input[1] * g->input[2]);
    be->plan_free(plan);
    return 0;
}

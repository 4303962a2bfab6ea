/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparing two networks' logits and losses. */
#include "tools/align/verify.h"

#include "kernels/upload.h"
#include "tools/load/loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define B MC_VERIFY_BATCH

struct check {
    struct mc_backend *be;
    const struct mc_graph *g;
    struct mc_loader loader;
    struct mc_plan *plan;
    struct mc_buf *params[2], *stats[2], *logits, *sums;
    float *host_logits[2];
    double metrics[2][MC_N_METRICS]; /* of the last batch */
};

static void release(struct check *c)
{
    struct mc_buf *all[] = {c->params[0], c->params[1], c->stats[0],
                            c->stats[1],  c->logits,    c->sums};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        c->be->buf_free(c->be, all[i]);
    if (c->plan)
        c->be->plan_free(c->plan);
    mc_loader_release(&c->loader);
    free(c->host_logits[0]);
    free(c->host_logits[1]);
}

static int prepare(struct check *c, const float *const params[2], const float *const stats[2],
                   struct mc_error *err)
{
    struct mc_backend *be = c->be;
    const struct mc_plan_opts opts = {.batch = B, .train_only = 1};
    size_t logits = B * (size_t)c->g->classes * sizeof(float);
    size_t P = c->g->P * sizeof(float), S = c->g->S * sizeof(float);
    int rc = be->plan_new(be, c->g, &opts, &c->plan, err);

    for (int k = 0; k < 2 && !rc; k++) {
        c->host_logits[k] = malloc(logits);
        if (!c->host_logits[k])
            return mc_fail(err, MC_ENOMEM, "out of memory");
        if (!(rc = mc_upload(be, &c->params[k], params[k], P, err)))
            rc = mc_upload(be, &c->stats[k], stats[k], S, err);
    }
    if (!rc)
        rc = be->buf_new(be, sizeof c->metrics[0], &c->sums, err);
    return rc ? rc : be->buf_new(be, logits, &c->logits, err);
}

static int forward(struct check *c, struct mc_error *err)
{
    struct mc_backend *be = c->be;
    int rc = 0;

    for (int k = 0; k < 2 && !rc; k++) {
        be->forward(c->plan, MC_MODE_EVAL, c->params[k], c->stats[k], NULL, c->loader.ctl);
        be->output(c->plan, MC_OUT_LOGITS, 0, c->logits);
        be->zero(be, c->sums);
        be->metrics(c->plan, c->sums);
        rc = be->get(be, c->logits, 0, c->host_logits[k], B * (size_t)c->g->classes * sizeof(float),
                     err);
        if (!rc)
            rc = be->get(be, c->sums, 0, c->metrics[k], sizeof c->metrics[k], err);
    }
    return rc;
}

/* MC_EINPUT where a logit or a loss is not finite: nothing can be said then. */
static int compare(const struct check *c, size_t n, struct mc_verified *out, struct mc_error *err)
{
    size_t classes = (size_t)c->g->classes;

    for (size_t i = 0; i < n; i++) {
        const float *x = c->host_logits[0] + i * classes, *y = c->host_logits[1] + i * classes;
        size_t best_x = 0, best_y = 0;
        for (size_t k = 0; k < classes; k++) {
            if (!isfinite(x[k]) || !isfinite(y[k]))
                return mc_fail(err, MC_EINPUT, "image %llu has a logit that is not finite",
                               (unsigned long long)(out->images + i));
            out->difference = fmax(out->difference, fabs((double)x[k] - (double)y[k]));
            out->logit = fmax(out->logit, fmax(fabs((double)x[k]), fabs((double)y[k])));
            best_x = x[k] > x[best_x] ? k : best_x;
            best_y = y[k] > y[best_y] ? k : best_y;
        }
        out->changed += best_x != best_y;
    }
    const double x = c->metrics[0][MC_METRIC_OBJECTIVE], y = c->metrics[1][MC_METRIC_OBJECTIVE];
    if (!isfinite(x) || !isfinite(y))
        return mc_fail(err, MC_EINPUT, "the loss of images %llu to %llu is not finite",
                       (unsigned long long)out->images, (unsigned long long)(out->images + n - 1));
    out->loss = fmax(out->loss, fabs(x - y) / (double)n);
    out->images += n;
    return 0;
}

int mc_verify(struct mc_backend *be, const struct mc_graph *g, const float *const params[2],
              const float *const stats[2], struct mc_dataset_reader *data, uint64_t samples,
              void (*progress)(void *arg, uint64_t images, uint64_t in_all), void *arg,
              struct mc_verified *out, struct mc_error *err)
{
    const struct mc_loader_options loader = {.batch = B, .samples = samples, .exact = 1};
    struct check c = {.be = be, .g = g};
    size_t n = 0;
    int rc = mc_loader_open(&c.loader, be, g, data, &loader, err);

    *out = (struct mc_verified){0};
    if (rc || (rc = prepare(&c, params, stats, err)))
        goto out;
    while (!(rc = mc_loader_next(&c.loader, &c.plan, 1, &n, err)) && n) {
        if ((rc = forward(&c, err)) || (rc = compare(&c, n, out, err)))
            goto out;
        if (progress)
            progress(arg, out->images, c.loader.wanted);
    }
out:
    release(&c);
    return rc;
}

int mc_verified_same(const struct mc_verified *v)
{
    const double most = MC_VERIFY_TOLERANCE * v->logit;
    return v->difference <= most && v->loss <= 2 * most;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Compare two networks' logits and losses. */
#include "tools/align/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define B MC_VERIFY_BATCH

struct check {
    struct mc_loader loader;
    struct mc_model models[2];
    size_t logits; /* bytes of one batch */
    struct mc_buf *d_logits, *d_sums;
    float *host_logits[2];
    double metrics[2][MC_N_METRICS]; /* last batch's */
};

static const struct mc_plan_opts plan_opts = {.batch = B, .train_only = 1};

int mc_verify_bytes(struct mc_backend *be, const struct mc_graph *g, size_t *bytes,
                    struct mc_error *err)
{
    return mc_plan_bytes(be, g, &plan_opts, bytes, err);
}

static int prepare(struct check *c, const struct mc_weights *const nets[2], struct mc_error *err)
{
    int rc = 0;

    for (int k = 0; k < 2 && !rc; k++) { /* one plan serves both */
        if (!(c->host_logits[k] = malloc(c->logits)))
            return mc_no_memory(err);
        rc = mc_model_open(&c->models[k], c->loader.be, nets[0]->graph, nets[k]->params,
                           nets[k]->stats, k ? NULL : &plan_opts, err);
    }
    if (rc)
        return rc;
    mc_bufs_add(&c->loader.bufs, &c->d_sums, NULL, sizeof c->metrics[0], err);
    mc_bufs_add(&c->loader.bufs, &c->d_logits, NULL, c->logits, err);
    return c->loader.bufs.rc;
}

static int forward(struct check *c, struct mc_error *err)
{
    struct mc_backend *be = c->loader.be;
    int rc = 0;

    for (int k = 0; k < 2 && !rc; k++) {
        struct mc_model m = c->models[k];
        m.plan = c->models[0].plan;
        mc_model_forward(&m, c->loader.ctl);
        be->output(m.plan, MC_OUT_LOGITS, 0, c->d_logits);
        be->zero(be, c->d_sums);
        be->metrics(m.plan, c->d_sums);
        rc = be->get(be, c->d_logits, 0, c->host_logits[k], c->logits, err);
        if (!rc)
            rc = be->get(be, c->d_sums, 0, c->metrics[k], sizeof c->metrics[k], err);
    }
    return rc;
}

/* Add a batch to the comparison. Return MC_EINPUT if a logit or loss is not finite. */
static int compare(const struct check *c, size_t n, size_t classes, struct mc_verified *out,
                   struct mc_error *err)
{
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

int mc_verify(const struct mc_weights *a, const struct mc_weights *b,
              const struct mc_loader_options *o, struct mc_verified *out, struct mc_error *err)
{
    const struct mc_weights *const nets[2] = {a, b};
    struct mc_loader_options loader = *o;
    struct check c = {.logits = B * (size_t)a->graph->classes * sizeof(float)};
    size_t n = 0;

    loader.batch = B;
    *out = (struct mc_verified){0};
    int rc = mc_loader_open(&c.loader, a->graph, &loader, err);
    if (!rc)
        rc = prepare(&c, nets, err);
    while (!rc && !(rc = mc_loader_next(&c.loader, c.models, 1, &n, err)) && n)
        if (!(rc = forward(&c, err)))
            rc = compare(&c, n, (size_t)a->graph->classes, out, err);
    for (int k = 0; k < 2; k++) {
        mc_model_release(&c.models[k]);
        free(c.host_logits[k]);
    }
    mc_loader_release(&c.loader);
    return rc;
}

int mc_verified_same(const struct mc_verified *v)
{
    const double limit = MC_VERIFY_TOLERANCE * v->logit;
    return v->difference <= limit && v->loss <= 2 * limit;
}

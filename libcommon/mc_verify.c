/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparing two networks' logits. */
#include "mc_verify.h"

#include "mc_resident.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define B MC_VERIFY_BATCH

struct check {
    struct mc_backend *be;
    const struct mc_graph *g;
    const struct mc_dataset_info *info;
    struct mc_plan *plan;
    struct mc_buf *params[2], *stats[2];
    struct mc_buf *images, *labels, *order, *ctl, *logits;
    void *host_images;
    int32_t *host_labels;
    float *host_logits[2];
};

static void release(struct check *c)
{
    struct mc_buf *all[] = {c->params[0], c->params[1], c->stats[0], c->stats[1], c->images,
                            c->labels,    c->order,     c->ctl,      c->logits};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        c->be->buf_free(c->be, all[i]);
    if (c->plan)
        c->be->plan_free(c->plan);
    free(c->host_images);
    free(c->host_labels);
    free(c->host_logits[0]);
    free(c->host_logits[1]);
}

static int prepare(struct check *c, const float *const params[2], const float *const stats[2],
                   struct mc_error *err)
{
    struct mc_backend *be = c->be;
    const struct mc_plan_opts opts = {.batch = B};
    size_t logits = B * (size_t)c->g->classes * sizeof(float);
    size_t P = c->g->P * sizeof(float), S = c->g->S * sizeof(float);
    int rc = be->plan_new(be, c->g, &opts, &c->plan, err);

    for (int k = 0; k < 2 && !rc; k++) {
        c->host_logits[k] = malloc(logits);
        if (!c->host_logits[k])
            return mc_fail(err, MC_ENOMEM, "out of memory");
        if (!(rc = be->buf_new(be, P, &c->params[k], err)) &&
            !(rc = be->put(be, c->params[k], 0, params[k], P, err)) &&
            !(rc = be->buf_new(be, S ? S : sizeof(float), &c->stats[k], err)) && S)
            rc = be->put(be, c->stats[k], 0, stats[k], S, err);
    }
    if (rc || (rc = be->buf_new(be, B * mc_dataset_image_bytes(c->info), &c->images, err)) ||
        (rc = be->buf_new(be, B * sizeof(int32_t), &c->labels, err)) ||
        (rc = be->buf_new(be, B * sizeof(int32_t), &c->order, err)) ||
        (rc = be->buf_new(be, sizeof(struct mc_ctl), &c->ctl, err)) ||
        (rc = be->buf_new(be, logits, &c->logits, err)))
        return rc;
    c->host_images = malloc(B * mc_dataset_image_bytes(c->info));
    c->host_labels = malloc(B * sizeof *c->host_labels);
    if (!c->host_images || !c->host_labels)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    return 0;
}

static int forward(struct check *c, size_t n, struct mc_error *err)
{
    struct mc_backend *be = c->be;
    const struct mc_source source = {
        .images = c->images, .pixels = c->info->pixels, .labels = c->labels, .order = c->order};
    int32_t order[B];
    int rc = 0;

    for (size_t i = 0; i < B; i++)
        order[i] = i < n ? (int32_t)i : -1;
    if ((rc =
             be->put(be, c->images, 0, c->host_images, n * mc_dataset_image_bytes(c->info), err)) ||
        (rc = be->put(be, c->labels, 0, c->host_labels, n * sizeof *c->host_labels, err)) ||
        (rc = be->put(be, c->order, 0, order, sizeof order, err)))
        return rc;
    be->load(c->plan, &source, c->ctl);
    for (int k = 0; k < 2 && !rc; k++) {
        be->forward(c->plan, MC_MODE_EVAL, c->params[k], c->stats[k], NULL, c->ctl);
        be->output(c->plan, MC_OUT_LOGITS, 0, c->logits);
        rc = be->get(be, c->logits, 0, c->host_logits[k], B * (size_t)c->g->classes * sizeof(float),
                     err);
    }
    return rc;
}

/* MC_EINPUT where a logit is not finite: nothing can be said then. */
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
    out->images += n;
    return 0;
}

int mc_verify(struct mc_backend *be, const struct mc_graph *g, const float *const params[2],
              const float *const stats[2], struct mc_dataset_reader *data, uint64_t samples,
              void (*progress)(void *arg, uint64_t images, uint64_t in_all), void *arg,
              struct mc_verified *out, struct mc_error *err)
{
    struct check c = {.be = be, .g = g, .info = mc_dataset_get_info(data)};
    const char *name = mc_reader_name(mc_dataset_stream(data));
    uint64_t wanted = samples && samples < c.info->n ? samples : c.info->n;
    size_t got = B;
    int rc = 0;

    *out = (struct mc_verified){0};
    if (!wanted)
        return mc_fail(err, MC_EINPUT, "%s: holds no images", name);
    if ((rc = mc_data_fits(g, c.info, name, err)) || (rc = prepare(&c, params, stats, err)))
        goto out;
    while (got == B) { /* to the end, which may be damaged */
        if ((rc = mc_dataset_read(data, B, c.host_images, c.host_labels, &got, err)))
            goto out;
        size_t n = got < wanted - out->images ? got : (size_t)(wanted - out->images);
        if (!n)
            continue;
        if ((rc = forward(&c, n, err)) || (rc = compare(&c, n, out, err)))
            goto out;
        if (progress)
            progress(arg, out->images, wanted);
    }
out:
    release(&c);
    return rc;
}

int mc_verified_same(const struct mc_verified *v)
{
    return v->difference <= MC_VERIFY_TOLERANCE * v->logit;
}

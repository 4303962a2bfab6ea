/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurement of channels, and their repair level by level. */
#include "tools/repair/repair.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A variance below this fraction of the mean square is the rounding of a constant. */
#define ROUNDING 1e-12

static const struct mc_node *node_of(const struct mc_repair *r, size_t i)
{
    return &r->graph->nodes[r->rescale.nodes[i].node];
}

static size_t pixels(const struct mc_node *n)
{
    return (size_t)n->h * (size_t)n->w;
}

/* Make the plan, which keeps the output of every listed node, and the buffers of a batch. */
static int open_plan(struct mc_repair *r, size_t largest, struct mc_error *err)
{
    const struct mc_repair_options *o = r->o;
    const struct mc_ctl ctl = {.seed = o->seed};
    struct mc_tap_request *taps = NULL;
    int rc = mc_new(&taps, r->rescale.n, err);

    for (size_t i = 0; !rc && i < r->rescale.n; i++)
        taps[i] = (struct mc_tap_request){r->rescale.nodes[i].node, 0, (size_t)node_of(r, i)->c};
    const struct mc_plan_opts plan = {.batch = o->batch, .taps = taps, .n_taps = r->rescale.n};
    if (!rc)
        rc = mc_model_open(&r->model, o->be, r->graph, NULL, NULL, &plan, err);
    free(taps);
    if (rc)
        return rc;
    mc_bufs_add(&r->bufs, &r->model.stats, NULL, r->graph->S * sizeof(float), err);
    mc_bufs_add(&r->bufs, &r->tap, NULL, o->batch * largest * sizeof(float), err);
    mc_bufs_add(&r->bufs, &r->order, NULL, o->batch * sizeof(int32_t), err);
    mc_bufs_add(&r->bufs, &r->ctl, &ctl, sizeof ctl, err);
    return r->bufs.rc;
}

int mc_repair_open(struct mc_repair *r, const struct mc_graph *g, const struct mc_repair_options *o,
                   struct mc_error *err)
{
    size_t largest = 0;

    *r = (struct mc_repair){.o = o, .graph = g, .bufs.be = o->be};
    int rc = mc_rescale_find(&r->rescale, g, err);
    if (!rc && !r->rescale.n)
        rc = mc_fail(err, MC_EINPUT,
                     "has no batch norm, and no layer with a bias before an "
                     "activation");
    if (rc || (rc = mc_new(&r->first, r->rescale.n, err)))
        return rc;
    for (size_t i = 0; i < r->rescale.n; i++) {
        const struct mc_node *n = node_of(r, i);
        const size_t size = (size_t)n->c * pixels(n);
        r->first[i] = r->channels;
        r->channels += (size_t)n->c;
        largest = size > largest ? size : largest;
    }
    if ((rc = mc_new(&r->target, r->channels, err)) ||
        (rc = mc_new(&r->measured, r->channels, err)) ||
        (rc = mc_new(&r->sums, 2 * r->channels, err)) ||
        (rc = mc_new(&r->shifts, r->channels, err)) ||
        (rc = mc_new(&r->host, o->batch * largest, err)) ||
        (rc = mc_new(&r->host_order, o->batch, err)))
        return rc;
    return open_plan(r, largest, err);
}

void mc_repair_release(struct mc_repair *r)
{
    mc_model_release(&r->model);
    mc_bufs_release(&r->bufs);
    mc_rescale_release(&r->rescale);
    free(r->first);
    free(r->target);
    free(r->measured);
    free(r->sums);
    free(r->shifts);
    free(r->host);
    free(r->host_order);
    memset(r, 0, sizeof *r);
}

/* Load images [first, first + n) and run the network. */
static int run_batch(struct mc_repair *r, size_t first, size_t n, struct mc_error *err)
{
    const struct mc_repair_options *o = r->o;
    const struct mc_source source = {.images = o->images->images,
                                     .pixels = o->images->info.pixels,
                                     .labels = o->images->labels,
                                     .order = r->order,
                                     .augment = o->augment ? &o->images->info.augment : NULL,
                                     .purpose = MC_RNG_BN};

    for (size_t i = 0; i < o->batch; i++)
        r->host_order[i] = i < n ? (int32_t)(first + i) : -1;
    int rc = o->be->put(o->be, r->order, 0, r->host_order, o->batch * sizeof(int32_t), err);
    if (rc)
        return rc;
    o->be->load(r->model.plan, &source, r->ctl);
    mc_model_forward(&r->model, r->ctl);
    return 0;
}

/* Add the n loaded images to the sums of listed node i. The first image's mean is the shift, so that
 * little cancels in the variance. */
static int add_sums(struct mc_repair *r, size_t i, size_t n, int is_first, struct mc_error *err)
{
    struct mc_backend *be = r->o->be;
    const struct mc_node *node = node_of(r, i);
    const size_t c_all = (size_t)node->c, hw = pixels(node), first = r->first[i];

    be->output(r->model.plan, MC_OUT_TAP, i, r->tap);
    int rc = be->get(be, r->tap, 0, r->host, n * c_all * hw * sizeof(float), err);
    if (rc)
        return rc;
#pragma omp parallel for num_threads(be->threads)
    for (size_t c = 0; c < c_all; c++) {
        double sum = 0, squares = 0, shift = r->shifts[first + c];
        if (is_first) {
            shift = 0;
            for (size_t p = 0; p < hw; p++)
                shift += (double)r->host[c * hw + p] / (double)hw;
            r->shifts[first + c] = shift;
        }
        for (size_t k = 0; k < n; k++)
            for (size_t p = 0; p < hw; p++) {
                const double d = (double)r->host[(k * c_all + c) * hw + p] - shift;
                sum += d;
                squares += d * d;
            }
        r->sums[first + c] += sum;
        r->sums[r->channels + first + c] += squares;
    }
    return 0;
}

/* Derive the moments of listed node i from its sums. */
static int finish_sums(struct mc_repair *r, size_t i, struct mc_error *err)
{
    const struct mc_node *node = node_of(r, i);
    const double count = (double)r->o->images->info.n * (double)pixels(node);

    for (size_t k = r->first[i]; k < r->first[i] + (size_t)node->c; k++) {
        const double mean = r->sums[k] / count;
        const double variance = r->sums[r->channels + k] / count - mean * mean;
        struct mc_channel_moments *m = &r->measured[k];
        m->mean = r->shifts[k] + mean;
        m->dead = !(variance > ROUNDING * m->mean * m->mean);
        m->deviation = m->dead ? 0 : sqrt(variance);
        if (!isfinite(m->mean) || !isfinite(variance))
            return mc_fail(err, MC_EINPUT, "activations of %s are not finite", node->name);
    }
    return 0;
}

/* Measure the listed nodes of this level, or of all levels (-1), in one pass. */
static int measure(struct mc_repair *r, const struct mc_weights *w, int level, struct mc_error *err)
{
    const struct mc_repair_options *o = r->o;
    const size_t n_all = (size_t)o->images->info.n;
    int rc = o->be->put(o->be, r->model.params, 0, w->params, r->graph->P * sizeof(float), err);

    if (!rc && r->graph->S)
        rc = o->be->put(o->be, r->model.stats, 0, w->stats, r->graph->S * sizeof(float), err);
    memset(r->sums, 0, 2 * r->channels * sizeof *r->sums);
    for (size_t first = 0; !rc && first < n_all; first += o->batch) {
        const size_t n = n_all - first < o->batch ? n_all - first : o->batch;
        rc = run_batch(r, first, n, err);
        for (size_t i = 0; !rc && i < r->rescale.n; i++)
            if (level < 0 || r->rescale.nodes[i].level == level)
                rc = add_sums(r, i, n, !first, err);
        r->images_read += n;
        if (!rc)
            o->progress(o->arg, r->images_read);
    }
    for (size_t i = 0; !rc && i < r->rescale.n; i++)
        if (level < 0 || r->rescale.nodes[i].level == level)
            rc = finish_sums(r, i, err);
    return rc;
}

int mc_repair_add_end(struct mc_repair *r, const struct mc_weights *end, double weight,
                      struct mc_error *err)
{
    int rc = measure(r, end, -1, err);

    r->weight += weight;
    /* a running mean, so that the mean of equal ends is exact */
    for (size_t k = 0; !rc && weight > 0 && k < r->channels; k++) {
        struct mc_channel_moments *t = &r->target[k];
        t->mean += weight / r->weight * (r->measured[k].mean - t->mean);
        t->deviation += weight / r->weight * (r->measured[k].deviation - t->deviation);
    }
    return rc;
}

/* Give the channels of listed node i their targets. */
static void rescale(struct mc_repair *r, size_t i, float *params)
{
    for (size_t c = 0; c < (size_t)node_of(r, i)->c; c++) {
        const size_t k = r->first[i] + c;
        const struct mc_channel_moments *m = &r->measured[k];
        if (m->dead) {
            r->kept++;
            continue;
        }
        const double scale = r->target[k].deviation / m->deviation;
        mc_rescale_channel(r->graph, r->rescale.nodes[i].node, c, scale,
                           r->target[k].mean - scale * m->mean, params);
    }
}

int mc_repair_run(struct mc_repair *r, struct mc_weights *w, struct mc_error *err)
{
    int rc = 0;

    r->kept = 0;
    for (int level = 0; !rc && level < r->rescale.levels; level++) {
        rc = measure(r, w, level, err);
        for (size_t i = 0; !rc && i < r->rescale.n; i++)
            if (r->rescale.nodes[i].level == level)
                rescale(r, i, w->params);
    }
    return rc;
}

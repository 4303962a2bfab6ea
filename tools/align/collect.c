/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over the data: read a batch, load it into the networks' plans, run them, look. */
#include "libcommon/base/rng.h"
#include "tools/align/collect.h"

#include "kernels/upload.h"
#include "tools/attack/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(MC_ATTACK_TEXT <= MC_NAME_MAX, "moments hold an attack's text");

#define BATCH 128
#define ROOM ((size_t)192 << 20)

/* The networks' plans and the batch that they look at. */
struct observer {
    struct mc_backend *be;
    const struct mc_collect_opts *o;
    size_t n_nets, n_taps;
    struct mc_symmetry sym;
    struct mc_taps taps;
    struct mc_tap_request *requests; /* (n_taps) */
    struct mc_plan *plans[2];
    struct mc_buf *params[2], *stats[2];
    struct mc_loader loader;
    struct mc_batch_attack attack;
};

/* A plan keeps what is tapped, the ReLUs' outputs or inputs, and works in a few layers' room; one
 * that attacks keeps all outputs, and four batches of pixels lie beside it. */
size_t mc_collect_batch(const struct mc_graph *g, int attacked)
{
    size_t floats = 0, largest = 0, batch = BATCH;

    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *node = &g->nodes[i];
        size_t n = (size_t)node->c * (size_t)node->h * (size_t)node->w;
        floats += node->op == MC_OP_RELU ? n : 0;
        floats += attacked ? n : 0;
        largest = n > largest ? n : largest;
    }
    while (batch > 1 && 2 * batch * (floats + 4 * largest) * sizeof(float) > ROOM)
        batch /= 2;
    return batch;
}

static uint64_t batches_before(const struct mc_collect_opts *o, uint32_t shard)
{
    uint64_t n = (o->samples + o->batch - 1) / o->batch;

    return n / o->shards * shard + n % o->shards * shard / o->shards;
}

uint64_t mc_collect_images(const struct mc_collect_opts *o)
{
    uint64_t from = batches_before(o, o->shard) * o->batch;
    uint64_t to = batches_before(o, o->shard + 1) * o->batch;

    return (to < o->samples ? to : o->samples) - (from < o->samples ? from : o->samples);
}

static int open_nets(struct observer *v, const struct mc_weights *const *nets, struct mc_error *err)
{
    const struct mc_graph *g = nets[0]->graph;
    int rc = mc_symmetry_derive(&v->sym, g, err);

    if (rc || (rc = mc_taps_init(&v->taps, &v->sym, g, v->o->at_pre, err)))
        return rc;
    v->n_taps = v->sym.n_taps;
    if (!(v->requests = calloc(v->n_taps + 1, sizeof *v->requests)))
        return mc_fail(err, MC_ENOMEM, "out of memory");
    for (size_t i = 0; i < v->n_taps; i++) {
        const struct mc_tap *t = &v->sym.taps[i];
        v->requests[i] =
            (struct mc_tap_request){v->o->at_pre ? t->pre : t->post, t->offset, t->count};
    }
    const struct mc_plan_opts opts = {
        .batch = v->o->batch, .taps = v->requests, .n_taps = v->n_taps};
    for (size_t i = 0; i < v->n_nets; i++) {
        if ((rc = v->be->plan_new(v->be, nets[i]->graph, &opts, &v->plans[i], err)) ||
            (rc = mc_upload(v->be, &v->params[i], nets[i]->params, g->P * sizeof(float), err)) ||
            (rc = mc_upload(v->be, &v->stats[i], nets[i]->stats, g->S * sizeof(float), err)))
            return rc;
    }
    return 0;
}

static int open_observer(struct observer *v, struct mc_backend *be,
                         const struct mc_weights *const *nets, size_t n_nets,
                         struct mc_dataset_reader *data, const struct mc_collect_opts *o,
                         struct mc_error *err)
{
    const struct mc_loader_options loader = {
        .batch = o->batch, .samples = o->samples, .exact = 1, .seed = o->seed};

    memset(v, 0, sizeof *v);
    v->be = be;
    v->o = o;
    v->n_nets = n_nets;
    int rc = open_nets(v, nets, err);

    if (!rc)
        rc = mc_loader_open(&v->loader, be, nets[0]->graph, data, &loader, err);
    if (!rc && o->attack)
        rc = mc_batch_attack_open(&v->attack, o->attack, MC_RNG_ATTACK_MEASURE, &v->loader,
                                  nets[0]->graph, err);
    return rc;
}

static void close_observer(struct observer *v)
{
    for (size_t i = 0; i < v->n_nets; i++) {
        if (v->plans[i])
            v->be->plan_free(v->plans[i]);
        v->be->buf_free(v->be, v->params[i]);
        v->be->buf_free(v->be, v->stats[i]);
    }
    mc_batch_attack_release(&v->attack);
    mc_loader_release(&v->loader);
    free(v->requests);
    mc_taps_release(&v->taps);
    mc_symmetry_release(&v->sym);
}

/* The loader's batches go through the networks and to look(). */
static int pass(struct observer *v,
                int (*look)(struct observer *v, void *arg, size_t n, struct mc_error *err),
                void *arg, struct mc_error *err)
{
    const int attacked = v->o->attack != NULL;
    struct mc_plan *plans[3];
    uint64_t done = 0;
    size_t n = 0;
    int rc;

    memcpy(plans, v->plans, sizeof v->plans);
    plans[v->n_nets] = v->attack.plan;
    while (!(rc = mc_loader_next(&v->loader, plans, v->n_nets + (size_t)attacked, &n, err)) && n) {
        if (attacked && (rc = mc_batch_attack_next(&v->attack, n, err)))
            return rc;
        for (size_t i = 0; i < v->n_nets; i++) {
            if (attacked)
                mc_batch_attack_run(&v->attack, v->plans[i], MC_MODE_EVAL, v->params[i],
                                    v->stats[i]);
            v->be->forward(v->plans[i], MC_MODE_EVAL, v->params[i], v->stats[i], NULL,
                           v->loader.ctl);
        }
        if ((rc = look(v, arg, n, err)))
            return rc;
        done += n;
        if (v->o->progress)
            v->o->progress(v->o->arg, done);
    }
    return rc;
}

/* ---- moments ----------------------------------------------------------------------------------
 */

static int look_moments(struct observer *v, void *arg, size_t n, struct mc_error *err)
{
    struct mc_buf **acc = arg;

    (void)n;
    (void)err;
    for (size_t i = 0; i < v->n_taps; i++)
        v->be->moments(v->plans[0], v->plans[1], i, acc[i]);
    return 0;
}

static int fetch_moments(struct mc_moments *out, const struct observer *v, struct mc_buf **acc,
                         const struct mc_graph *g, struct mc_error *err)
{
    out->images = mc_collect_images(v->o);
    out->shard = v->o->shard;
    out->shards = v->o->shards;
    out->precision = v->o->precision;
    if (v->o->attack) {
        mc_attack_text(v->o->attack, out->attack);
        out->seed = v->o->seed;
    }
    for (size_t i = 0; i < v->n_taps; i++) {
        const struct mc_node *node = &g->nodes[v->requests[i].node];
        struct mc_tap_info *t = &out->taps.taps[i];
        size_t size = MC_MOMENTS_SIZE(t->count);

        t->samples = out->images * (uint64_t)node->h * (uint64_t)node->w;
        int rc = v->be->get(v->be, acc[i], 0, out->sums[i], size * sizeof(double), err);
        if (rc)
            return rc;
        for (size_t k = 0; k < size; k++)
            if (!isfinite(out->sums[i][k]))
                return mc_fail(err, MC_EINPUT, "activations of %s are not finite", t->name);
    }
    return 0;
}

int mc_collect_moments(struct mc_moments *out, struct mc_backend *be, const struct mc_weights *a,
                       const struct mc_weights *b, struct mc_dataset_reader *data,
                       const struct mc_collect_opts *o, struct mc_error *err)
{
    const struct mc_weights *nets[2] = {a, b};
    struct observer v;
    struct mc_buf **acc = NULL;
    int rc;

    memset(out, 0, sizeof *out);
    if (!mc_graph_same(a->graph, b->graph))
        return mc_fail(err, MC_EINPUT, "the two networks are not of the same architecture");
    if ((rc = open_observer(&v, be, nets, 2, data, o, err)) ||
        (rc = mc_moments_init(out, &v.taps, err)))
        goto out;
    if (!(acc = calloc(v.n_taps + 1, sizeof(struct mc_buf *)))) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < v.n_taps; i++)
        if ((rc = be->buf_new(be, MC_MOMENTS_SIZE(v.requests[i].count) * sizeof(double), &acc[i],
                              err)))
            goto out;
    v.loader.from = batches_before(o, o->shard) * o->batch;
    v.loader.to = batches_before(o, o->shard + 1) * o->batch;
    rc = pass(&v, look_moments, acc, err);
    if (!rc)
        rc = fetch_moments(out, &v, acc, a->graph, err);
out:
    for (size_t i = 0; acc && i < v.n_taps; i++)
        be->buf_free(be, acc[i]);
    free(acc);
    close_observer(&v);
    return rc;
}

/* ---- activations ------------------------------------------------------------------------------
 */

struct raw {
    struct mc_activations_writer *writer;
    struct mc_buf *buf; /* one tap's (B, K, H, W) */
    float *host;
    const int (*hw)[2];
};

static int look_raw(struct observer *v, void *arg, size_t n, struct mc_error *err)
{
    struct raw *r = arg;
    int rc = 0;

    for (size_t i = 0; !rc && i < v->n_taps; i++) {
        size_t floats = n * v->requests[i].count * (size_t)r->hw[i][0] * (size_t)r->hw[i][1];
        v->be->output(v->plans[0], MC_OUT_TAP, i, r->buf);
        rc = v->be->get(v->be, r->buf, 0, r->host, floats * sizeof(float), err);
        if (!rc)
            rc = mc_activations_write(r->writer, i, n, r->host, err);
    }
    return rc;
}

int mc_collect_activations(const char *path, struct mc_backend *be, const struct mc_weights *w,
                           struct mc_dataset_reader *data, const struct mc_collect_opts *o,
                           const struct mc_history *h, struct mc_error *err)
{
    struct observer v;
    struct raw r = {0};
    int(*hw)[2] = NULL;
    size_t most = 1;
    int rc = open_observer(&v, be, &w, 1, data, o, err);

    if (rc)
        goto out;
    if (!(hw = calloc(v.n_taps + 1, sizeof *hw))) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < v.n_taps; i++) {
        const struct mc_node *node = &w->graph->nodes[v.requests[i].node];
        hw[i][0] = node->h;
        hw[i][1] = node->w;
        size_t floats = o->batch * v.requests[i].count * (size_t)node->h * (size_t)node->w;
        v.taps.taps[i].samples = o->samples * (uint64_t)node->h * (uint64_t)node->w;
        most = floats > most ? floats : most;
    }
    r.hw = (const int(*)[2])hw;
    if (!(r.host = malloc(most * sizeof *r.host))) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    if ((rc = be->buf_new(be, most * sizeof *r.host, &r.buf, err)) ||
        (rc = mc_activations_create(&r.writer, path, &v.taps, r.hw, o->samples, o->batch, h, err)))
        goto out;
    rc = pass(&v, look_raw, &r, err);
    if (!rc) {
        rc = mc_activations_commit(r.writer, err);
        r.writer = NULL;
    }
out:
    mc_activations_abandon(r.writer);
    be->buf_free(be, r.buf);
    free(r.host);
    free(hw);
    close_observer(&v);
    return rc;
}

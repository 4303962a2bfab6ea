/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over the data: read a batch, load it into the networks' plans, run them, collect. */
#include "tools/align/collect.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(MC_ATTACK_TEXT <= MC_NAME_MAX, "moments store an attack's text as a name");

#define MAX_BATCH 128
#define ROOM ((size_t)96 << 20) /* activations then mostly stay in the caches */
#define MIN_BATCH 32            /* smaller batches convert weights too often */
#define MIN_BATCH_ROOM ((size_t)512 << 20)

/* Networks and the batch that they process. */
struct collector {
    const struct mc_collect_opts *o;
    size_t n_nets, n_taps;
    struct mc_symmetry sym;
    struct mc_taps taps;
    struct mc_tap_request *requests; /* (n_taps) */
    struct mc_model models[2];
    struct mc_loader loader;
    struct mc_batch_attack attack;
};

/* Two joint plans on the CPU need about eight of the largest outputs. Plans for attacks keep all
 * outputs, and four batches of pixels. A single network's plan has the same batch, so that its
 * activations yield the same moments. */
size_t mc_collect_batch(const struct mc_graph *g, int attacked)
{
    size_t all = 0, largest = 0, batch = MAX_BATCH;

    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *node = &g->nodes[i];
        const size_t n = (size_t)node->c * (size_t)node->h * (size_t)node->w;
        all += n;
        largest = n > largest ? n : largest;
    }
    const size_t floats = 8 * largest + (attacked ? all : 0);
    while (batch > 1 &&
           2 * batch * floats * sizeof(float) > (batch > MIN_BATCH ? ROOM : MIN_BATCH_ROOM))
        batch /= 2;
    return batch;
}

static struct mc_cut cut_of(const struct mc_collect_opts *o)
{
    return (struct mc_cut){o->pass.samples, o->pass.batch, o->shards};
}

uint64_t mc_collect_images(const struct mc_collect_opts *o)
{
    const struct mc_cut c = cut_of(o);

    return mc_cut_before(&c, o->shard + 1) - mc_cut_before(&c, o->shard);
}

static int open_collector(struct collector *v, const struct mc_weights *const *nets, size_t n_nets,
                          const struct mc_collect_opts *o, struct mc_error *err)
{
    const struct mc_graph *g = nets[0]->graph;
    struct mc_loader_options pass = o->pass;
    int rc;

    *v = (struct collector){.o = o, .n_nets = n_nets};
    pass.exact = 1;
    if ((rc = mc_symmetry_derive(&v->sym, g, err)) ||
        (rc = mc_taps_init(&v->taps, &v->sym, g, o->at_pre, err)) ||
        (rc = mc_new(&v->requests, v->sym.n_taps, err)))
        return rc;
    v->n_taps = v->sym.n_taps;
    for (size_t i = 0; i < v->n_taps; i++) {
        const struct mc_tap *t = &v->sym.taps[i];
        v->requests[i] = (struct mc_tap_request){o->at_pre ? t->pre : t->post, t->offset, t->count};
    }
    const struct mc_plan_opts opts = {
        .batch = pass.batch, .taps = v->requests, .n_taps = v->n_taps, .joint = n_nets == 2};
    for (size_t i = 0; i < n_nets; i++)
        if ((rc = mc_model_open(&v->models[i], pass.be, nets[i]->graph, nets[i]->params,
                                nets[i]->stats, &opts, err)))
            return rc;
    rc = mc_loader_open(&v->loader, g, &pass, err);
    return rc ? rc
              : mc_batch_attack_open(&v->attack, o->attack, MC_RNG_ATTACK_MEASURE, &v->loader, g,
                                     err);
}

static void close_collector(struct collector *v)
{
    mc_model_release(&v->models[0]);
    mc_model_release(&v->models[1]);
    mc_batch_attack_release(&v->attack);
    mc_loader_release(&v->loader);
    free(v->requests);
    mc_taps_release(&v->taps);
    mc_symmetry_release(&v->sym);
}

/* Load the next batch, or its adversarial examples; *n is 0 after the last. */
static int next_batch(struct collector *v, size_t *n, struct mc_error *err)
{
    int rc = mc_loader_next(&v->loader, v->models, v->n_nets, n, err);

    if (!rc && *n)
        rc = mc_batch_attack_load(&v->attack, &v->loader, *n, err);
    for (size_t i = 0; !rc && *n && i < v->n_nets; i++)
        mc_batch_attack_run(&v->attack, &v->loader, &v->models[i], MC_MODE_EVAL);
    return rc;
}

static struct mc_conditions conditions_of(const struct mc_collect_opts *o)
{
    struct mc_conditions c = {.precision = o->precision};

    if (o->attack) {
        mc_attack_text(o->attack, c.attack);
        c.seed = o->pass.seed;
    }
    return c;
}

/* ---- moments --------------------------------------------------------------------------------- */

static int fetch_moments(struct mc_moments *out, const struct collector *v, struct mc_buf **acc,
                         const struct mc_graph *g, struct mc_error *err)
{
    struct mc_backend *be = v->loader.be;

    out->images = mc_collect_images(v->o);
    out->shard = v->o->shard;
    out->cut = cut_of(v->o);
    out->conditions = conditions_of(v->o);
    for (size_t i = 0; i < v->n_taps; i++) {
        const struct mc_node *node = &g->nodes[v->requests[i].node];
        struct mc_tap_info *t = &out->taps.taps[i];
        size_t size = MC_MOMENTS_SIZE(t->count);

        t->samples = out->images * (uint64_t)node->h * (uint64_t)node->w;
        int rc = be->get(be, acc[i], 0, out->sums[i], size * sizeof(double), err);
        if (rc)
            return rc;
        for (size_t k = 0; k < size; k++)
            if (!isfinite(out->sums[i][k]))
                return mc_fail(err, MC_EINPUT, "activations of %s are not finite, or too large",
                               t->name);
    }
    return 0;
}

int mc_collect_moments(struct mc_moments *out, const struct mc_weights *a,
                       const struct mc_weights *b, const struct mc_collect_opts *o,
                       struct mc_error *err)
{
    const struct mc_weights *nets[2] = {a, b};
    const struct mc_cut c = cut_of(o);
    struct collector v;
    struct mc_buf **acc = NULL;
    size_t n = 0;
    int rc;

    memset(out, 0, sizeof *out);
    if ((rc = open_collector(&v, nets, 2, o, err)) || (rc = mc_moments_init(out, &v.taps, err)) ||
        (rc = mc_new(&acc, v.n_taps, err)))
        goto out;
    for (size_t i = 0; !rc && i < v.n_taps; i++) {
        const size_t bytes = MC_MOMENTS_SIZE(v.requests[i].count) * sizeof(double);
        mc_bufs_add(&v.loader.bufs, &acc[i], NULL, bytes, err);
        rc = v.loader.bufs.rc;
    }
    v.loader.from = mc_cut_before(&c, o->shard);
    v.loader.to = mc_cut_before(&c, o->shard + 1);
    while (!rc && !(rc = next_batch(&v, &n, err)) && n)
        o->pass.be->moments((struct mc_plan *[]){v.models[0].plan, v.models[1].plan},
                            (const struct mc_buf *[]){v.models[0].params, v.models[1].params},
                            (struct mc_buf *[]){v.models[0].stats, v.models[1].stats}, v.loader.ctl,
                            acc);
    if (!rc)
        rc = fetch_moments(out, &v, acc, a->graph, err);
out:
    free(acc);
    close_collector(&v);
    return rc;
}

/* ---- activations ----------------------------------------------------------------------------- */

/* Write the n loaded images, tap by tap. buf, host: room for one tap's (B,K,H,W). */
static int write_batch(const struct collector *v, struct mc_activations_writer *w,
                       const int (*hw)[2], size_t n, struct mc_buf *buf, float *host,
                       struct mc_error *err)
{
    struct mc_backend *be = v->loader.be;
    int rc = 0;

    for (size_t i = 0; !rc && i < v->n_taps; i++) {
        size_t floats = n * v->requests[i].count * (size_t)hw[i][0] * (size_t)hw[i][1];
        be->output(v->models[0].plan, MC_OUT_TAP, i, buf);
        rc = be->get(be, buf, 0, host, floats * sizeof(float), err);
        if (!rc)
            rc = mc_activations_write(w, i, n, host, err);
    }
    return rc;
}

int mc_collect_activations(const char *path, const struct mc_weights *w,
                           const struct mc_collect_opts *o, const struct mc_history *h,
                           struct mc_error *err)
{
    const size_t batch = o->pass.batch;
    const uint64_t samples = o->pass.samples;
    struct mc_activations_writer *writer = NULL;
    struct collector v;
    struct mc_buf *buf = NULL;
    float *host = NULL;
    int(*hw)[2] = NULL;
    size_t max_floats = 1, n = 0;
    int rc = open_collector(&v, &w, 1, o, err);

    if (rc || (rc = mc_new(&hw, v.n_taps, err)))
        goto out;
    for (size_t i = 0; !rc && i < v.n_taps; i++) {
        const struct mc_node *node = &w->graph->nodes[v.requests[i].node];
        hw[i][0] = node->h;
        hw[i][1] = node->w;
        size_t floats = batch * v.requests[i].count * (size_t)node->h * (size_t)node->w;
        v.taps.taps[i].samples = samples * (uint64_t)node->h * (uint64_t)node->w;
        max_floats = floats > max_floats ? floats : max_floats;
    }
    if (!rc)
        rc = mc_new(&host, max_floats, err);
    if (!rc) {
        mc_bufs_add(&v.loader.bufs, &buf, NULL, max_floats * sizeof *host, err);
        rc = v.loader.bufs.rc;
    }
    if (!rc)
        rc = mc_activations_create(&writer, path,
                                   &(struct mc_activations_shape){&v.taps, (const int(*)[2])hw,
                                                                  samples, batch, conditions_of(o)},
                                   h, err);
    while (!rc && !(rc = next_batch(&v, &n, err)) && n) {
        mc_model_forward(&v.models[0], v.loader.ctl);
        rc = write_batch(&v, writer, (const int(*)[2])hw, n, buf, host, err);
    }
out:
    rc = mc_activations_commit(writer, rc, err);
    free(host);
    free(hw);
    close_collector(&v);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of gradients share: a golden file, the formula that weights and images come from,
 * a network on the device with one batch of its own. Header only. */
#ifndef MC_TEST_GRADIENTS_H
#define MC_TEST_GRADIENTS_H

#include "formats/stream/reader.h"
#include "kernels/backend.h"
#include "libcommon/graph/graph.h"
#include "libcommon/nets/nets.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static __attribute__((unused)) void ok(int rc, const struct mc_error *err)
{
    if (rc)
        fail_msg("%s", err->text);
}

/* ---- the golden file ---- */

static struct {
    size_t n;
    struct mc_tensor *tensors;
    void **data;
} golden;

static __attribute__((unused)) void read_golden(const char *name)
{
    const char *root = getenv("MC_ROOT");
    char path[4096];
    struct mc_reader *r = NULL;
    struct mc_error err = {0};

    snprintf(path, sizeof path, "%s/tests/parity/%s", root ? root : ".", name);
    ok(mc_reader_open(&r, path, &err), &err);
    golden.n = mc_reader_n_tensors(r);
    golden.tensors = calloc(golden.n, sizeof *golden.tensors);
    golden.data = calloc(golden.n, sizeof *golden.data);
    assert_true(golden.tensors && golden.data);
    for (size_t i = 0; i < golden.n; i++) {
        golden.tensors[i] = *mc_reader_tensor(r, i);
        golden.data[i] = malloc((size_t)golden.tensors[i].shape[0] * 8);
        assert_non_null(golden.data[i]);
    }
    ok(mc_reader_rest(r, golden.data, &err), &err);
    mc_reader_close(r);
}

static __attribute__((unused)) int stop(void **state)
{
    (void)state;
    for (size_t i = 0; i < golden.n; i++)
        free(golden.data[i]);
    free(golden.data);
    free(golden.tensors);
    return 0;
}

static __attribute__((unused)) const void *find(const char *group, const char *name, size_t n)
{
    char full[2 * MC_NAME_MAX];
    snprintf(full, sizeof full, "%s%s%s", group, *group ? "/" : "", name);
    for (size_t i = 0; i < golden.n; i++)
        if (!strcmp(golden.tensors[i].name, full)) {
            assert_true(golden.tensors[i].shape[0] == n);
            return golden.data[i];
        }
    fail_msg("no %s in the golden file", full);
    return NULL;
}

/* ---- the shared formula ---- */

static uint64_t splitmix(uint64_t stream, uint64_t i)
{
    uint64_t z = (stream << 32) + i + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static float unit(uint64_t stream, uint64_t i)
{
    return (float)(splitmix(stream, i) >> 40) * 0x1p-24f;
}

/* 32 bits: FNV-1a of the name, moved by the seed. */
static __attribute__((unused)) uint64_t stream_of(uint64_t seed, const char *prefix,
                                                  const char *name)
{
    uint32_t h = 2166136261u;

    for (; *prefix; prefix++)
        h = (h ^ (unsigned char)*prefix) * 16777619u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return (uint32_t)(h + (uint32_t)seed * 0x9E3779B1u);
}

/* Tensor p of the graph from stream `from`, into a whole parameter vector. */
static void fill_tensor(const struct mc_graph *g, const struct mc_param *p, uint64_t from,
                        float *params)
{
    const float scale =
        p->tensor.ndim > 1 ? (float)sqrt(6.0 / (double)(p->fan_in + p->fan_out)) : .25f;
    const int gain = p->tensor.ndim == 1 && p->offset == g->nodes[p->node].weight.offset;

    for (size_t i = 0; i < p->count; i++) {
        const float u = unit(from, i);
        params[p->offset + i] = gain ? u + .5f : (2 * u - 1) * scale;
    }
}

/* ---- one network on the device ---- */

struct world {
    struct mc_backend *be;
    struct mc_graph *g;
    struct mc_plan *plan;
    size_t images_n, image; /* images of the batch; floats of one */
    float *host, *pixels;
    struct mc_buf *images, *labels, *order, *ctl, *grad, *stats, *dx, *point;
};

static struct mc_buf *buf(struct mc_backend *be, size_t bytes, const void *from)
{
    struct mc_error err = {0};
    struct mc_buf *b = NULL;
    ok(be->buf_new(be, bytes, &b, &err), &err);
    if (from)
        ok(be->put(be, b, 0, from, bytes, &err), &err);
    return b;
}

/* Takes the graph; in training mode with all heads. */
static void open_world(struct world *w, struct mc_graph *g, size_t images)
{
    const struct mc_plan_opts o = {
        .batch = images, .backward = 1, .input_grad = 1, .train_only = 1};
    const struct mc_ctl ctl = {0};
    struct mc_error err = {0};
    int32_t *order = malloc(images * sizeof *order);

    memset(w, 0, sizeof *w);
    w->g = g;
    w->images_n = images;
    w->image = (size_t)(g->input[0] * g->input[1] * g->input[2]);
    ok(mc_backend_open(&w->be, &(struct mc_backend_opts){.device = "cpu", .threads = 2}, &err),
       &err);
    ok(w->be->plan_new(w->be, w->g, &o, &w->plan, &err), &err);
    w->host = malloc(w->g->P * sizeof *w->host);
    w->pixels = malloc(images * w->image * sizeof *w->pixels);
    assert_true(order && w->host && w->pixels);
    for (size_t i = 0; i < images; i++)
        order[i] = (int32_t)i;
    w->images = buf(w->be, images * w->image * sizeof(float), NULL);
    w->labels = buf(w->be, images * sizeof(int32_t), NULL);
    w->order = buf(w->be, images * sizeof *order, order);
    w->ctl = buf(w->be, sizeof ctl, &ctl);
    w->grad = buf(w->be, w->g->P * sizeof(float), NULL);
    w->stats = buf(w->be, w->g->S * sizeof(float), NULL);
    w->dx = buf(w->be, images * w->image * sizeof(float), NULL);
    w->point = buf(w->be, w->g->P * sizeof(float), NULL);
    free(order);
}

static void close_world(struct world *w)
{
    struct mc_buf *all[] = {w->images, w->labels, w->order, w->ctl,
                            w->grad,   w->stats,  w->dx,    w->point};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        w->be->buf_free(w->be, all[i]);
    w->be->plan_free(w->plan);
    mc_graph_free(w->g);
    free(w->host);
    free(w->pixels);
    w->be->close(w->be);
}

/* Images and labels of these streams through the network at w->point; then w->grad, w->stats and
 * w->dx hold what came. */
static __attribute__((unused)) void run(struct world *w, uint64_t images, uint64_t labels)
{
    const size_t n = w->images_n * w->image;
    struct mc_error err = {0};
    int32_t *of = malloc(w->images_n * sizeof *of);
    float *stats = calloc(w->g->S, sizeof *stats);
    const struct mc_source source = {
        .images = w->images, .pixels = MC_F32, .labels = w->labels, .order = w->order};

    assert_true(of && stats);
    for (size_t i = 0; i < n; i++)
        w->pixels[i] = unit(images, i);
    for (size_t i = 0; i < w->images_n; i++)
        of[i] = (int32_t)(unit(labels, i) * (float)w->g->classes);
    for (size_t t = 0; t < w->g->n_stats; t++)
        if (strstr(w->g->stats[t].tensor.name, "var"))
            for (size_t i = 0; i < w->g->stats[t].count; i++)
                stats[w->g->stats[t].offset + i] = 1;
    ok(w->be->put(w->be, w->stats, 0, stats, w->g->S * sizeof *stats, &err), &err);
    ok(w->be->put(w->be, w->images, 0, w->pixels, n * sizeof(float), &err), &err);
    ok(w->be->put(w->be, w->labels, 0, of, w->images_n * sizeof *of, &err), &err);
    w->be->load(w->plan, &source, w->ctl);
    w->be->forward(w->plan, MC_MODE_TRAIN, w->point, w->stats, NULL, w->ctl);
    w->be->backward(w->plan, w->point, w->grad);
    w->be->input_grad(w->plan, w->dx);
    free(stats);
    free(of);
}

static void fetch(struct world *w, const struct mc_buf *b, float *to, size_t n)
{
    struct mc_error err = {0};
    ok(w->be->get(w->be, b, 0, to, n * sizeof *to, &err), &err);
}

/* ---- results ---- */

struct measured {
    double diff, norm; /* squares */
};

/* Returns the error as it is bounded: relative, or absolute under a norm of 1e-6. */
static __attribute__((unused)) double bounded(struct measured r)
{
    return sqrt(r.diff) / (sqrt(r.norm) < 1e-6 ? 1 : sqrt(r.norm));
}

#endif

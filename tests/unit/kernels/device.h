/* SPDX-License-Identifier: Apache-2.0
 *
 * A backend under test, the CPU's or $MC_TEST_DEVICE: a data set, a graph with its vectors, plans,
 * small networks. Header only: the test programs of the backend include it. */
#ifndef MC_TEST_DEVICE_H
#define MC_TEST_DEVICE_H

#include "kernels/backend.h"
#include "libcommon/base/rng.h"
#include "libcommon/graph/graph.h"
#include "libcommon/nets/nets.h"
#include "tests/unit/kernels/open.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 24, B = 7 }; /* images of the data set, of a batch */

static struct mc_backend *be;

static __attribute__((unused)) void ok(int rc, const struct mc_error *err)
{
    if (rc)
        fail_msg("%s", err->text);
}

static __attribute__((unused)) struct mc_buf *buf(size_t bytes, const void *from)
{
    struct mc_error err = {0};
    struct mc_buf *b = NULL;
    ok(be->buf_new(be, bytes, &b, &err), &err);
    if (from)
        ok(be->put(be, b, 0, from, bytes, &err), &err);
    return b;
}

static __attribute__((unused)) void fetch(const struct mc_buf *b, void *to, size_t bytes)
{
    struct mc_error err = {0};
    ok(be->get(be, b, 0, to, bytes, &err), &err);
}

static __attribute__((unused)) float unit(uint32_t purpose, uint32_t i)
{
    return mc_rng_unit(mc_rng(99, purpose, i, 0, 0).v[0]);
}

/* A data set of float32 or uint8 pixels, a graph with its vectors, all on the device. */
struct fixture {
    struct mc_graph *g;
    size_t image, batch;
    float *pixels; /* (N, image) in [0,1] */
    int32_t labels[N];
    float *params, *stats;
    struct mc_buf *d_pixels, *d_labels, *d_order, *d_params, *d_stats, *d_grad, *d_ctl;
    struct mc_source source;
};

static __attribute__((unused)) void setup_batch(struct fixture *f, struct mc_graph *g, int bytes,
                                                size_t batch)
{
    struct mc_ctl ctl = {.seed = 5, .epoch = 3, .row = 1};
    int32_t *order = calloc(2 * batch, sizeof *order);
    uint8_t *u8 = NULL;

    memset(f, 0, sizeof *f);
    f->g = g;
    f->batch = batch;
    f->image = (size_t)g->input[0] * (size_t)g->input[1] * (size_t)g->input[2];
    f->pixels = malloc(N * f->image * sizeof(float));
    u8 = malloc(N * f->image);
    f->params = calloc(g->P, sizeof(float));
    f->stats = calloc(g->S + 1, sizeof(float));
    assert_true(f->pixels && u8 && f->params && f->stats && order);
    for (size_t i = 0; i < N * f->image; i++) {
        u8[i] = (uint8_t)(256 * unit(1, (uint32_t)i));
        f->pixels[i] = bytes ? (float)u8[i] / 255 : unit(1, (uint32_t)i);
    }
    for (uint32_t i = 0; i < N; i++)
        f->labels[i] = (int32_t)(i * 7 % (uint32_t)g->classes);
    for (size_t t = 0; t < g->n_params; t++) {
        const struct mc_param *p = &g->params[t];
        const float fan = p->fan_in ? (float)p->fan_in : 1;
        for (size_t i = 0; i < p->count; i++) {
            const float u = 2 * unit(10 + (uint32_t)t, (uint32_t)i) - 1;
            f->params[p->offset + i] =
                g->nodes[p->node].op == MC_OP_BATCHNORM ? .9f + .6f * u : 1.8f * u / sqrtf(fan);
        }
    }
    for (size_t t = 0; t < g->n_stats; t++)
        for (size_t i = 0; i < g->stats[t].count; i++)
            f->stats[g->stats[t].offset + i] =
                (t & 1 ? .5f : -.5f) + unit(500 + (uint32_t)t, (uint32_t)i);
    for (size_t i = 0; i < 2 * batch; i++)
        order[i] = (int32_t)(i * 5 % N); /* row 1 is used */
    f->d_pixels = bytes ? buf(N * f->image, u8) : buf(N * f->image * sizeof(float), f->pixels);
    f->d_labels = buf(sizeof f->labels, f->labels);
    f->d_order = buf(2 * batch * sizeof *order, order);
    f->d_params = buf(g->P * sizeof(float), f->params);
    f->d_stats = buf((g->S + 1) * sizeof(float), f->stats);
    f->d_grad = buf(g->P * sizeof(float), NULL);
    f->d_ctl = buf(sizeof ctl, &ctl);
    f->source = (struct mc_source){.images = f->d_pixels,
                                   .pixels = bytes ? MC_U8 : MC_F32,
                                   .labels = f->d_labels,
                                   .order = f->d_order};
    free(u8);
    free(order);
}

static __attribute__((unused)) void setup(struct fixture *f, struct mc_graph *g, int bytes)
{
    setup_batch(f, g, bytes, B);
}

static __attribute__((unused)) void teardown(struct fixture *f)
{
    struct mc_buf *all[] = {f->d_pixels, f->d_labels, f->d_order, f->d_params,
                            f->d_stats,  f->d_grad,   f->d_ctl};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        be->buf_free(be, all[i]);
    free(f->pixels);
    free(f->params);
    free(f->stats);
    mc_graph_free(f->g);
}

/* Row 1 of the order holds `valid` images; samples (batch). */
static __attribute__((unused)) void set_order(struct fixture *f, int valid, int32_t *samples)
{
    const size_t bytes = f->batch * sizeof *samples;
    struct mc_error err = {0};
    for (int i = 0; i < (int)f->batch; i++)
        samples[i] = i < valid ? (i * 5 + 2) % N : -1;
    ok(be->put(be, f->d_order, bytes, samples, bytes, &err), &err);
}

/* Relative in norm, or absolute where the reference is nearly nothing. */
static __attribute__((unused)) void close_to(const char *what, const char *name, const float *a,
                                             const double *b, size_t n, double tolerance)
{
    double diff = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        diff += pow((double)a[i] - b[i], 2);
        norm += b[i] * b[i];
    }
    diff = sqrt(diff);
    norm = sqrt(norm);
    if (!(diff <= tolerance * (norm > 1e-6 ? norm : 1)))
        fail_msg("%s of %s: error %g of norm %g", what, name, diff, norm);
}

static __attribute__((unused)) struct mc_plan *plan(const struct mc_graph *g, struct mc_plan_opts o)
{
    struct mc_error err = {0};
    struct mc_plan *p = NULL;
    o.batch = o.batch ? o.batch : B;
    ok(be->plan_new(be, g, &o, &p, &err), &err);
    return p;
}

static const float MEAN[] = {.5f, .4f, .45f}, STD[] = {.25f, .3f, .2f};

/* In less precision than float32's Huber's delta is 1 at least: no kink decides. */
static __attribute__((unused)) struct mc_graph *finish(struct mc_graph *g, float delta)
{
    struct mc_error err = {0};
    ok(mc_graph_finish(g, &err), &err);
    mc_graph_huber(g, within(0) > 0 ? fmaxf(delta, 1) : delta);
    return g;
}

static __attribute__((unused)) int unit_of(struct mc_graph *g, int x, int out,
                                           struct mc_conv_opts o)
{
    x = mc_graph_conv(g, NULL, x, out, o);
    x = mc_graph_batchnorm(g, NULL, x, 1e-5f);
    return mc_graph_relu(g, NULL, x);
}

/* Odd sizes, channels that fill no block, strides, bias before batch norm. */
static __attribute__((unused)) struct mc_graph *small_net(float delta)
{
    struct mc_graph *g = mc_graph_new("small", 3, 9, 7, 5, MEAN, STD);
    int x = unit_of(g, 0, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});
    x = unit_of(g, x, 20, (struct mc_conv_opts){.kernel = 3, .pad = 1, .stride = 2, .bias = 1});
    x = unit_of(g, x, 32, (struct mc_conv_opts){.kernel = 3, .bias = 1});
    x = unit_of(g, x, 24, (struct mc_conv_opts){.kernel = 1, .bias = 1});
    x = mc_graph_globalpool(g, NULL, x);
    x = mc_graph_linear(g, NULL, x, 5, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, x, 1, 0);
    return finish(g, delta);
}

static __attribute__((unused)) struct mc_graph *mlp(const char *name)
{
    const struct mc_net_spec spec = {3, 4, 5, 6, {.5f, .4f, .45f}, {.25f, .3f, .2f}};
    struct mc_graph *g = NULL;
    struct mc_error err = {0};
    ok(mc_net_build(&g, name, &spec, &err), &err);
    if (within(0) > 0)
        mc_graph_huber(g, 1);
    return g;
}

static __attribute__((unused)) int start(void **state)
{
    struct mc_error err = {0};
    (void)state;
    if (open_tested(&be, "cpu", 2, &err))
        fail_msg("%s", err.text);
    return 0;
}

static __attribute__((unused)) int stop(void **state)
{
    (void)state;
    be->close(be);
    return 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * A backend under test, the CPU's or $MC_TEST_DEVICE: a data set, a graph with its vectors, plans,
 * small networks. Header only, for the backend's test programs. */
#ifndef MC_TEST_DEVICE_H
#define MC_TEST_DEVICE_H

#include "libcommon/base/rng.h"
#include "tests/unit/kernels/resources.h"

enum { N = 24, B = 7 }; /* images of the data set, of a batch */

static inline float unit(uint32_t purpose, uint32_t i)
{
    return mc_rng_unit(mc_rng(99, purpose, i, 0, 0).v[0]);
}

/* A data set of float32 or uint8 pixels, and a graph with its vectors, on the device. */
struct fixture {
    struct mc_graph *g;
    size_t image, batch, mark; /* mark: teardown() releases resources from here on */
    float *pixels;             /* (N, image) in [0,1] */
    int32_t labels[N];
    float *params, *stats;
    struct mc_buf *d_pixels, *d_labels, *d_order, *d_params, *d_stats, *d_grad, *d_ctl;
    struct mc_source source;
};

static inline void setup_batch(struct fixture *f, struct mc_graph *g, int bytes, size_t batch)
{
    const struct mc_ctl ctl = {.seed = 5, .epoch = 3, .row = 1};
    const size_t mark = in_use.n;
    int32_t *order = room(2 * batch, sizeof *order);

    *f = (struct fixture){.g = g, .batch = batch, .mark = mark};
    f->image = (size_t)g->input[0] * (size_t)g->input[1] * (size_t)g->input[2];
    f->pixels = floats(N * f->image);
    uint8_t *u8 = room(N, f->image);
    f->params = floats(g->P);
    f->stats = floats(g->S + 1);
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
}

static inline void setup(struct fixture *f, struct mc_graph *g, int bytes)
{
    setup_batch(f, g, bytes, B);
}

static inline void teardown(struct fixture *f)
{
    release(f->mark);
    mc_graph_free(f->g);
}

/* Copies changed f->params and f->stats to the device. */
static inline void put_vectors(struct fixture *f)
{
    put(f->d_params, 0, f->params, f->g->P * sizeof(float));
    put(f->d_stats, 0, f->stats, f->g->S * sizeof(float));
}

/* Runs the batch of f->d_ctl's row through the network. */
static inline void forward(struct fixture *f, struct mc_plan *p, enum mc_mode mode)
{
    be->load(p, &f->source, f->d_ctl);
    be->forward(p, mode, f->d_params, f->d_stats, NULL, f->d_ctl);
}

/* Writes `valid` images to row 1 of the order; samples (batch). */
static inline void set_order(struct fixture *f, int valid, int32_t *samples)
{
    const size_t bytes = f->batch * sizeof *samples;
    for (int i = 0; i < (int)f->batch; i++)
        samples[i] = i < valid ? (i * 5 + 2) % N : -1;
    put(f->d_order, bytes, samples, bytes);
}

/* Pixels of the samples in [0,1], 0 after the valid ones. */
static inline double *pixels_of(const struct fixture *f, const int32_t *samples, int valid)
{
    double *x = room(f->batch * f->image, sizeof *x);
    for (size_t i = 0; i < (size_t)valid * f->image; i++)
        x[i] = (double)f->pixels[(size_t)samples[i / f->image] * f->image + i % f->image];
    return x;
}

/* The error relative to the norm, or absolute if the reference is nearly 0. */
static inline void close_to(const char *quantity, const char *name, const float *a, const double *b,
                            size_t n, double tolerance)
{
    double diff = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        diff += pow((double)a[i] - b[i], 2);
        norm += b[i] * b[i];
    }
    diff = sqrt(diff);
    norm = sqrt(norm);
    if (!(diff <= tolerance * (norm > 1e-6 ? norm : 1)))
        fail_msg("%s of %s: error %g of norm %g", quantity, name, diff, norm);
}

static inline struct mc_plan *plan(const struct mc_graph *g, struct mc_plan_opts o)
{
    o.batch = o.batch ? o.batch : B;
    return plan_of(g, o);
}

static const float MEAN[] = {.5f, .4f, .45f}, STD[] = {.25f, .3f, .2f};

/* Below float32's precision Huber's delta is at least 1, so that no kink decides. */
static inline struct mc_graph *finish(struct mc_graph *g, float delta)
{
    struct mc_error err = {0};
    ok(mc_graph_finish(g, &err), &err);
    mc_graph_huber(g, within(0) > 0 ? fmaxf(delta, 1) : delta);
    return g;
}

static inline int unit_of(struct mc_graph *g, int x, int out, struct mc_conv_opts o)
{
    x = mc_graph_conv(g, NULL, x, out, o);
    x = mc_graph_batchnorm(g, NULL, x, 1e-5f);
    return mc_graph_relu(g, NULL, x);
}

/* Adds a linear layer and its loss; returns the logits. */
static inline int head(struct mc_graph *g, int x, float weight, int train_only)
{
    x = mc_graph_linear(g, NULL, x, g->classes, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, x, weight, train_only);
    return x;
}

/* Odd sizes, channels that fill no block, strides, bias before batch norm. */
static inline struct mc_graph *small_net(float delta)
{
    struct mc_graph *g = mc_graph_new("small", 3, 9, 7, 5, MEAN, STD);
    int x = unit_of(g, 0, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});
    x = unit_of(g, x, 20, (struct mc_conv_opts){.kernel = 3, .pad = 1, .stride = 2, .bias = 1});
    x = unit_of(g, x, 32, (struct mc_conv_opts){.kernel = 3, .bias = 1});
    x = unit_of(g, x, 24, (struct mc_conv_opts){.kernel = 1, .bias = 1});
    head(g, mc_graph_globalpool(g, NULL, x), 1, 0);
    return finish(g, delta);
}

static inline struct mc_graph *mlp(const char *name)
{
    struct mc_graph *g =
        net_of(name, (struct mc_net_spec){3, 4, 5, 6, {.5f, .4f, .45f}, {.25f, .3f, .2f}});
    if (within(0) > 0)
        mc_graph_huber(g, 1);
    return g;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The backend against plain float64 loops: every kind of node, forward and backward, all modes,
 * short batches; augmentation, moments, re-estimation, flat vectors; the same bytes twice. */
#include "backend.h"
#include "mc_graph.h"
#include "mc_nets.h"
#include "mc_rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "naive.h"

enum { N = 24, B = 7 }; /* images of the data set, of a batch */

static struct mc_backend *be;

static void ok(int rc, const struct mc_error *err)
{
    if (rc)
        fail_msg("%s", err->text);
}

static struct mc_buf *buf(size_t bytes, const void *from)
{
    struct mc_error err = {0};
    struct mc_buf *b = NULL;
    ok(be->buf_new(be, bytes, &b, &err), &err);
    if (from)
        ok(be->put(be, b, 0, from, bytes, &err), &err);
    return b;
}

static void fetch(const struct mc_buf *b, void *to, size_t bytes)
{
    struct mc_error err = {0};
    ok(be->get(be, b, 0, to, bytes, &err), &err);
}

static float unit(uint32_t purpose, uint32_t i)
{
    return mc_rng_unit(mc_rng(99, purpose, i, 0, 0).v[0]);
}

/* A data set of float32 or uint8 pixels, a graph with its vectors, all on the device. */
struct fixture {
    struct mc_graph *g;
    size_t image;
    float *pixels; /* (N, image) in [0,1] */
    int32_t labels[N];
    float *params, *stats;
    struct mc_buf *d_pixels, *d_labels, *d_order, *d_params, *d_stats, *d_grad, *d_ctl;
    struct mc_source source;
};

static void setup(struct fixture *f, struct mc_graph *g, int bytes)
{
    struct mc_ctl ctl = {.seed = 5, .epoch = 3, .row = 1};
    int32_t order[2 * B];
    uint8_t *u8 = NULL;

    memset(f, 0, sizeof *f);
    f->g = g;
    f->image = (size_t)g->input[0] * (size_t)g->input[1] * (size_t)g->input[2];
    f->pixels = malloc(N * f->image * sizeof(float));
    u8 = malloc(N * f->image);
    f->params = calloc(g->P, sizeof(float));
    f->stats = calloc(g->S + 1, sizeof(float));
    assert_true(f->pixels && u8 && f->params && f->stats);
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
    for (int i = 0; i < 2 * B; i++)
        order[i] = i * 5 % N; /* row 1 is used */
    f->d_pixels = bytes ? buf(N * f->image, u8) : buf(N * f->image * sizeof(float), f->pixels);
    f->d_labels = buf(sizeof f->labels, f->labels);
    f->d_order = buf(sizeof order, order);
    f->d_params = buf(g->P * sizeof(float), f->params);
    f->d_stats = buf((g->S + 1) * sizeof(float), f->stats);
    f->d_grad = buf(g->P * sizeof(float), NULL);
    f->d_ctl = buf(sizeof ctl, &ctl);
    f->source = (struct mc_source){.images = f->d_pixels,
                                   .pixels = bytes ? MC_U8 : MC_F32,
                                   .labels = f->d_labels,
                                   .order = f->d_order};
    free(u8);
}

static void teardown(struct fixture *f)
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

/* Row 1 of the order holds `valid` images. */
static void set_order(struct fixture *f, int valid, int32_t *samples)
{
    struct mc_error err = {0};
    for (int i = 0; i < B; i++)
        samples[i] = i < valid ? (i * 5 + 2) % N : -1;
    ok(be->put(be, f->d_order, B * sizeof(int32_t), samples, B * sizeof(int32_t), &err), &err);
}

/* Relative in norm, or absolute where the reference is nearly nothing. */
static void close_to(const char *what, const char *name, const float *a, const double *b, size_t n,
                     double tolerance)
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

static struct mc_plan *plan(const struct mc_graph *g, struct mc_plan_opts o)
{
    struct mc_error err = {0};
    struct mc_plan *p = NULL;
    o.batch = o.batch ? o.batch : B;
    ok(be->plan_new(be, g, &o, &p, &err), &err);
    return p;
}

static void check_outputs(struct fixture *f, struct mc_plan *p, const struct naive *v)
{
    const size_t classes = (size_t)f->g->classes;
    float *logits = malloc(B * classes * sizeof(float)), loss[B], correct[B];
    struct mc_buf *out = buf(B * classes * sizeof(float), NULL);
    double metrics[MC_N_METRICS] = {0}, right = 0, sum = 0, sq = 0;
    struct mc_buf *acc = buf(sizeof metrics, NULL);

    assert_non_null(logits);
    be->output(p, MC_OUT_LOGITS, 0, out);
    fetch(out, logits, B * classes * sizeof(float));
    close_to("logits", f->g->net, logits, v->out[f->g->logits], (size_t)v->valid * classes, 2e-5);
    be->output(p, MC_OUT_LOSS, 0, out);
    fetch(out, loss, sizeof loss);
    close_to("loss", f->g->net, loss, v->loss, B, 2e-5);
    be->output(p, MC_OUT_CORRECT, 0, out);
    fetch(out, correct, sizeof correct);
    for (int b = 0; b < B; b++) {
        const double *x = v->out[f->g->logits] + (size_t)b * classes;
        int best = 0;
        for (int c = 1; c < (int)classes; c++)
            best = x[c] > x[best] ? c : best;
        const int is = b < v->valid && best == v->labels[b];
        assert_true(correct[b] == (float)is);
        right += is;
        sum += v->loss[b];
        sq += v->loss[b] * v->loss[b];
    }
    be->metrics(p, acc);
    be->metrics(p, acc); /* they accumulate */
    fetch(acc, metrics, sizeof metrics);
    assert_true(metrics[MC_METRIC_IMAGES] == 2.0 * v->valid);
    assert_true(metrics[MC_METRIC_CORRECT] == 2 * right);
    assert_true(fabs(metrics[MC_METRIC_LOSS] - 2 * sum) < 1e-4 * (1 + sum));
    assert_true(fabs(metrics[MC_METRIC_LOSS_SQ] - 2 * sq) < 1e-4 * (1 + sq));
    assert_true(fabs(metrics[MC_METRIC_OBJECTIVE] - 2 * v->objective) < 1e-4 * (1 + v->objective));
    free(logits);
    be->buf_free(be, out);
    be->buf_free(be, acc);
}

static void check_gradients(struct fixture *f, struct mc_plan *p, const struct naive *v,
                            struct mc_buf *d_acc, double tolerance)
{
    const struct mc_graph *g = f->g;
    float *grad = malloc(g->P * sizeof(float)), *dx = malloc(B * f->image * sizeof(float));
    double *want = malloc(B * f->image * sizeof(double));
    struct mc_buf *d_dx = buf(B * f->image * sizeof(float), NULL);
    const size_t hw = (size_t)(g->input[1] * g->input[2]);
    double held = 0, all = 0;

    assert_true(grad && dx && want);
    memset(grad, 0x7f, g->P * sizeof(float)); /* overwritten, gaps too */
    struct mc_error err = {0};
    ok(be->put(be, f->d_grad, 0, grad, g->P * sizeof(float), &err), &err);
    be->backward(p, f->d_params, f->d_grad);
    fetch(f->d_grad, grad, g->P * sizeof(float));
    for (size_t t = 0; t < g->n_params; t++) {
        const struct mc_param *q = &g->params[t];
        close_to("gradient", q->tensor.name, grad + q->offset, v->dparams + q->offset, q->count,
                 tolerance);
        for (size_t i = 0; i < q->count; i++)
            held += fabs((double)grad[q->offset + i]);
    }
    for (size_t i = 0; i < g->P; i++)
        all += fabs((double)grad[i]);
    assert_true(fabs(all - held) <= 1e-12 * held); /* nothing in the gaps */
    be->input_grad(p, d_dx);
    fetch(d_dx, dx, B * f->image * sizeof(float));
    for (size_t i = 0; i < B * f->image; i++)
        want[i] = v->grad[0][i] / (double)g->nodes[0].std[i % f->image / hw];
    close_to("gradient", "pixels", dx, want, B * f->image, tolerance);
    for (size_t i = (size_t)v->valid * f->image; i < B * f->image; i++)
        assert_true(dx[i] == 0);
    /* the pixels' gradient alone; backward uses up what forward kept */
    be->forward(p, v->mode, f->d_params, f->d_stats, d_acc, f->d_ctl);
    be->backward(p, f->d_params, NULL);
    be->input_grad(p, d_dx);
    ok(be->put(be, f->d_stats, 0, f->stats, (g->S + 1) * sizeof(float), &err), &err);
    float *again = malloc(B * f->image * sizeof(float));
    assert_non_null(again);
    fetch(d_dx, again, B * f->image * sizeof(float));
    assert_memory_equal(dx, again, B * f->image * sizeof(float));
    free(again);
    free(grad);
    free(dx);
    free(want);
    be->buf_free(be, d_dx);
}

static void check_statistics(struct fixture *f, const struct naive *v, const double *acc)
{
    const struct mc_graph *g = f->g;
    float *stats = malloc((g->S + 1) * sizeof(float));
    struct mc_error err = {0};

    assert_non_null(stats);
    fetch(f->d_stats, stats, (g->S + 1) * sizeof(float));
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        if (n->op != MC_OP_BATCHNORM)
            continue;
        for (size_t c = 0; c < (size_t)n->c; c++) {
            const size_t m = n->running_mean.offset + c, r = n->running_var.offset + c;
            const double count = (double)v->valid * n->h * n->w, w = (double)n->momentum;
            double mean = (double)f->stats[m], var = (double)f->stats[r];
            const double bm = v->batch_mean[m], bv = v->batch_var[m];
            if (v->mode == MC_MODE_TRAIN) {
                mean = (1 - w) * mean + w * bm;
                var = (1 - w) * var + w * bv * count / (count - 1);
            }
            if (fabs((double)stats[m] - mean) > 1e-5 * (1 + fabs(mean)) ||
                fabs((double)stats[r] - var) > 1e-5 * (1 + var))
                fail_msg("%s: channel %zu: %g %g for %g %g", n->name, c, (double)stats[m],
                         (double)stats[r], mean, var);
            if (acc) {
                assert_true(fabs(acc[m] / count - bm) < 1e-5 * (1 + fabs(bm)));
                assert_true(fabs(acc[g->S + m] / count - bv - bm * bm) < 1e-5 * (1 + bv + bm * bm));
            }
        }
    }
    ok(be->put(be, f->d_stats, 0, f->stats, (g->S + 1) * sizeof(float), &err), &err);
    free(stats);
}

/* All modes, full and short batches, against the reference. */
static void check_network(struct mc_graph *g, int bytes, int train_only, double tolerance)
{
    struct fixture f;
    struct naive v;
    const int valid[] = {B, 4};
    double *pixels = NULL, *acc = NULL;
    int32_t samples[B], labels[B];

    setup(&f, g, bytes);
    naive_init(&v, g, B);
    pixels = calloc(B * f.image, sizeof *pixels);
    acc = malloc(MC_REESTIMATE_SIZE(g->S) * sizeof *acc);
    assert_true(pixels && acc);
    struct mc_plan *p =
        plan(g, (struct mc_plan_opts){.backward = 1, .input_grad = 1, .train_only = train_only});
    struct mc_plan *q = plan(g, (struct mc_plan_opts){.train_only = train_only});
    for (int s = 0; s < 2; s++)
        for (enum mc_mode mode = MC_MODE_TRAIN; mode <= MC_MODE_EVAL; mode++) {
            struct mc_buf *d_acc = buf(MC_REESTIMATE_SIZE(g->S) * sizeof *acc, NULL);
            set_order(&f, valid[s], samples);
            for (int b = 0; b < valid[s]; b++) {
                labels[b] = f.labels[samples[b]];
                for (size_t i = 0; i < f.image; i++)
                    pixels[(size_t)b * f.image + i] =
                        (double)f.pixels[(size_t)samples[b] * f.image + i];
            }
            v.valid = valid[s];
            v.mode = mode;
            v.ctl = (struct mc_ctl){.seed = 5, .epoch = 3, .row = 1};
            v.samples = samples;
            v.labels = labels;
            v.params = f.params;
            v.stats = f.stats;
            v.train_only = train_only;
            memset(v.loss, 0, B * sizeof(double));
            naive_run(&v, pixels);
            be->load(p, &f.source, f.d_ctl);
            be->forward(p, mode, f.d_params, f.d_stats, d_acc, f.d_ctl);
            fetch(d_acc, acc, MC_REESTIMATE_SIZE(g->S) * sizeof *acc);
            check_outputs(&f, p, &v);
            check_statistics(&f, &v, mode == MC_MODE_REESTIMATE ? acc : NULL);
            if (mode == MC_MODE_REESTIMATE)
                assert_true(acc[2 * g->S] == valid[s]);
            check_gradients(&f, p, &v, d_acc, tolerance);
            /* a plan that keeps nothing for the way back, twice from one load */
            be->load(q, &f.source, f.d_ctl);
            for (int twice = 0; twice < 2; twice++) {
                be->forward(q, mode == MC_MODE_TRAIN ? MC_MODE_BATCH : mode, f.d_params, f.d_stats,
                            d_acc, f.d_ctl);
                if (mode != MC_MODE_TRAIN)
                    check_outputs(&f, q, &v);
            }
            be->buf_free(be, d_acc);
        }
    be->plan_free(p);
    be->plan_free(q);
    free(pixels);
    free(acc);
    naive_release(&v);
    teardown(&f);
}

static const float MEAN[] = {.5f, .4f, .45f}, STD[] = {.25f, .3f, .2f};

static struct mc_graph *finish(struct mc_graph *g, float delta)
{
    struct mc_error err = {0};
    ok(mc_graph_finish(g, &err), &err);
    mc_graph_huber(g, delta);
    return g;
}

static int unit_of(struct mc_graph *g, int x, int out, struct mc_conv_opts o)
{
    x = mc_graph_conv(g, NULL, x, out, o);
    x = mc_graph_batchnorm(g, NULL, x, 1e-5f);
    return mc_graph_relu(g, NULL, x);
}

/* Odd sizes, channels that fill no block, strides, bias before batch norm. */
static struct mc_graph *small_net(float delta)
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

static struct mc_graph *mlp(const char *name)
{
    const struct mc_net_spec spec = {3, 4, 5, 6, {.5f, .4f, .45f}, {.25f, .3f, .2f}};
    struct mc_graph *g = NULL;
    struct mc_error err = {0};
    ok(mc_net_build(&g, name, &spec, &err), &err);
    return g;
}

static void convolutions_and_batch_norm(void **state)
{
    (void)state;
    check_network(small_net(0), 1, 0, 2e-5);
    check_network(small_net(1), 0, 0, 2e-5);
}

static void layers_of_an_mlp(void **state)
{
    (void)state;
    check_network(mlp("mlp:24,17"), 1, 0, 2e-5);
    check_network(mlp("mlp:bn,24,17"), 0, 0, 2e-5);
}

/* Residual blocks, nodes used several times, what is not behind a batch norm. */
static struct mc_graph *residual_net(void)
{
    struct mc_graph *g = mc_graph_new("residual", 3, 8, 8, 4, MEAN, STD);
    const int stem = unit_of(g, 0, 12, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    int x = unit_of(g, stem, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1, .stride = 2});
    x = mc_graph_conv(g, NULL, x, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    x = mc_graph_batchnorm(g, NULL, x, 1e-5f);
    int skip = mc_graph_conv(g, NULL, stem, 16, (struct mc_conv_opts){.kernel = 1, .stride = 2});
    skip = mc_graph_batchnorm(g, NULL, skip, 1e-5f);
    x = mc_graph_add(g, NULL, (int[]){x, skip}, 2);
    const int block = mc_graph_relu(g, NULL, x);
    x = mc_graph_conv(g, NULL, block, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});
    x = mc_graph_add(g, NULL, (int[]){x, block, block}, 3);
    x = mc_graph_relu(g, NULL, x);
    x = mc_graph_conv(g, NULL, x, 8,
                      (struct mc_conv_opts){.kernel = 3, .pad = 1, .groups = 2, .bias = 1});
    x = mc_graph_relu(g, NULL, x);
    x = mc_graph_flatten(g, NULL, x);
    x = mc_graph_linear(g, NULL, x, 4, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, x, 1, 0);
    return finish(g, 0);
}

static void residual_streams(void **state)
{
    (void)state;
    check_network(residual_net(), 0, 0, 2e-5);
}

/* Branches, every pooling, dropout, an auxiliary head, pixels that feed more than convolutions. */
static struct mc_graph *branching_net(void)
{
    struct mc_graph *g = mc_graph_new("branching", 3, 10, 11, 5, MEAN, STD);
    const int pooled = mc_graph_pool(g, NULL, MC_OP_AVGPOOL, 0, 3, 1, 1, 0);
    const int a = unit_of(g, pooled, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    const int b = unit_of(g, 0, 11, (struct mc_conv_opts){.kernel = 1});
    const int c = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, a, 3, 1, 1, 0);
    int x = mc_graph_concat(g, NULL, (int[]){a, c, b, a}, 4);
    const int d = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, x, 3, 2, 0, 1);
    int aux = mc_graph_adaptpool(g, NULL, d, 3, 4);
    aux = mc_graph_flatten(g, NULL, aux);
    aux = mc_graph_linear(g, NULL, aux, 20, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    aux = mc_graph_relu(g, NULL, aux);
    aux = mc_graph_dropout(g, NULL, aux, .6f);
    aux = mc_graph_linear(g, NULL, aux, 5, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, aux, .3f, 1);
    x = unit_of(g, d, 19, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    x = mc_graph_pool(g, NULL, MC_OP_AVGPOOL, x, 2, 2, 0, 1);
    x = mc_graph_dropout(g, NULL, x, .25f);
    x = mc_graph_globalpool(g, NULL, x);
    x = mc_graph_linear(g, NULL, x, 5, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, x, 1, 0);
    return finish(g, 0);
}

static void branches_pools_and_heads(void **state)
{
    (void)state;
    check_network(branching_net(), 0, 1, 2e-5);
    check_network(branching_net(), 1, 0, 2e-5);
}

/* Taps before and after the ReLU, and the joint moments of two networks from them. */
static void taps_and_moments(void **state)
{
    (void)state;
    struct fixture f;
    struct naive v, u;
    struct mc_graph *g = small_net(0);
    int bn = -1, relu = -1;

    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == MC_OP_RELU && g->nodes[i].c == 20) {
            relu = i;
            bn = g->nodes[i].in[0];
        }
    struct mc_tap_request taps[] = {{relu, 0, 20}, {bn, 3, 9}, {0, 1, 2}};
    const double tolerance[] = {1e-5, 1e-5, 1e-5};
    setup(&f, g, 0);
    float *other = malloc(g->P * sizeof *other);
    assert_non_null(other);
    for (size_t i = 0; i < g->P; i++)
        other[i] = f.params[i] * (1 + .3f * unit(777, (uint32_t)i));
    struct mc_buf *d_other = buf(g->P * sizeof *other, other);
    struct mc_plan *p = plan(g, (struct mc_plan_opts){.taps = taps, .n_taps = 3});
    struct mc_plan *q = plan(g, (struct mc_plan_opts){.taps = taps, .n_taps = 3, .backward = 1});
    int32_t samples[B], labels[B] = {0};
    double *pixels = calloc(B * f.image, sizeof *pixels);
    assert_non_null(pixels);
    set_order(&f, 5, samples);
    for (int b = 0; b < 5; b++)
        for (size_t i = 0; i < f.image; i++)
            pixels[(size_t)b * f.image + i] = (double)f.pixels[(size_t)samples[b] * f.image + i];
    naive_init(&v, g, B);
    naive_init(&u, g, B);
    v.valid = u.valid = 5;
    v.mode = u.mode = MC_MODE_EVAL;
    v.samples = u.samples = samples;
    v.labels = u.labels = labels;
    v.stats = u.stats = f.stats;
    v.params = f.params;
    u.params = other;
    naive_run(&v, pixels);
    naive_run(&u, pixels);
    be->load(p, &f.source, f.d_ctl);
    be->load(q, &f.source, f.d_ctl);
    be->forward(p, MC_MODE_EVAL, f.d_params, f.d_stats, NULL, f.d_ctl);
    be->forward(q, MC_MODE_EVAL, d_other, f.d_stats, NULL, f.d_ctl);
    for (size_t t = 0; t < 3; t++) {
        const struct mc_node *n = &g->nodes[taps[t].node];
        const size_t k = taps[t].count, hw = (size_t)(n->h * n->w), size = MC_MOMENTS_SIZE(k);
        float *x = malloc(B * k * hw * sizeof *x), *y = malloc(B * k * hw * sizeof *y);
        double *want = calloc(size, sizeof *want), *got = malloc(size * sizeof *got);
        double *twice = malloc(size * sizeof *twice);
        struct mc_buf *out = buf(B * k * hw * sizeof *x, NULL),
                      *acc = buf(size * sizeof *got, NULL);
        assert_true(x && y && want && got && twice);
        be->output(q, MC_OUT_TAP, t, out);
        fetch(out, y, B * k * hw * sizeof *x);
        be->output(p, MC_OUT_TAP, t, out);
        fetch(out, x, B * k * hw * sizeof *x);
        for (size_t b = 0; b < B; b++)
            for (size_t i = 0; i < k * hw; i++) {
                const size_t at = b * naive_image(n) + taps[t].offset * hw + i;
                const double ref = b < 5 ? v.out[taps[t].node][at] : 0;
                assert_true(fabs((double)x[b * k * hw + i] - ref) <=
                            tolerance[t] * (1 + fabs(ref)));
            }
        for (size_t b = 0; b < 5; b++)
            for (size_t s = 0; s < hw; s++)
                for (size_t i = 0; i < k; i++) {
                    const double xi = (double)x[(b * k + i) * hw + s];
                    const double yi = (double)y[(b * k + i) * hw + s];
                    want[i] += xi;
                    want[k + i] += yi;
                    want[2 * k + i] += xi * xi;
                    want[3 * k + i] += yi * yi;
                    for (size_t j = 0; j < k; j++)
                        want[4 * k + i * k + j] += xi * (double)y[(b * k + j) * hw + s];
                }
        be->moments(p, q, t, acc);
        fetch(acc, got, size * sizeof *got);
        be->moments(p, q, t, acc);
        fetch(acc, twice, size * sizeof *got);
        for (size_t i = 0; i < size; i++) {
            assert_true(fabs(got[i] - want[i]) <= 1e-12 * (1 + fabs(want[i])));
            assert_true(twice[i] == 2 * got[i]);
        }
        free(x);
        free(y);
        free(want);
        free(got);
        free(twice);
        be->buf_free(be, out);
        be->buf_free(be, acc);
    }
    be->plan_free(p);
    be->plan_free(q);
    be->buf_free(be, d_other);
    naive_release(&v);
    naive_release(&u);
    free(pixels);
    free(other);
    teardown(&f);
}

/* Two batches of different length pooled; the constant network-wide answer is the moments'. */
static void reestimation_pools_moments(void **state)
{
    (void)state;
    struct fixture f;
    struct mc_graph *g = mlp("mlp:bn,9");
    const struct mc_node *n = NULL;
    int32_t samples[B];
    float *stats = NULL;
    double sum[9] = {0}, sq[9] = {0};

    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == MC_OP_BATCHNORM)
            n = &g->nodes[i];
    setup(&f, g, 0);
    struct mc_buf *acc = buf(MC_REESTIMATE_SIZE(g->S) * sizeof(double), NULL);
    struct mc_plan *p = plan(g, (struct mc_plan_opts){0});
    const struct mc_node *l = &g->nodes[n->in[0]];
    for (int batch = 0; batch < 2; batch++) {
        const int valid = batch ? 3 : B;
        set_order(&f, valid, samples);
        be->load(p, &f.source, f.d_ctl);
        be->forward(p, MC_MODE_REESTIMATE, f.d_params, NULL, acc, f.d_ctl);
        for (int b = 0; b < valid; b++)
            for (size_t c = 0; c < 9; c++) {
                double x = (double)f.params[l->bias.offset + c];
                for (size_t i = 0; i < f.image; i++) {
                    const size_t ch = i / (f.image / 3);
                    x += (double)f.params[l->weight.offset + c * f.image + i] *
                         ((double)f.pixels[(size_t)samples[b] * f.image + i] - (double)MEAN[ch]) /
                         (double)STD[ch];
                }
                sum[c] += x;
                sq[c] += x * x;
            }
    }
    be->reestimate(be, g, acc, f.d_stats);
    stats = malloc(g->S * sizeof *stats);
    assert_non_null(stats);
    fetch(f.d_stats, stats, g->S * sizeof *stats);
    for (size_t c = 0; c < 9; c++) {
        const double count = B + 3, mean = sum[c] / count;
        const double var = (sq[c] - count * mean * mean) / (count - 1);
        assert_true(fabs((double)stats[n->running_mean.offset + c] - mean) < 1e-5);
        assert_true(fabs((double)stats[n->running_var.offset + c] - var) < 1e-5 * (1 + var));
    }
    free(stats);
    be->plan_free(p);
    be->buf_free(be, acc);
    teardown(&f);
}

/* Output pixel by output pixel, from the definition in backend.h. */
static void augmentation_follows_its_definition(void **state)
{
    (void)state;
    struct fixture f;
    struct mc_graph *g = small_net(0);
    const int C = 3, H = 9, W = 7;
    const struct mc_augment a = {.rotate = 25, .flip = 1, .pad = 2};
    struct mc_tap_request tap = {0, 0, 3};
    float out[B * 3 * 9 * 7];
    int32_t samples[B];
    int moved = 0;

    for (int bytes = 0; bytes < 2; bytes++) {
        setup(&f, bytes ? small_net(0) : g, bytes);
        set_order(&f, B - 1, samples);
        f.source.augment = &a;
        f.source.purpose = MC_RNG_AUGMENT;
        f.source.base = 1000;
        struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.taps = &tap, .n_taps = 1});
        struct mc_buf *d = buf(sizeof out, NULL);
        be->load(p, &f.source, f.d_ctl);
        be->output(p, MC_OUT_TAP, 0, d);
        fetch(d, out, sizeof out);
        for (int b = 0; b < B - 1; b++) {
            const struct mc_rng4 r = mc_rng(5, MC_RNG_AUGMENT, 3, (uint32_t)samples[b] + 1000, 0);
            const double turn = 25 * (2 * (double)mc_rng_unit(r.v[0]) - 1) * acos(-1) / 180;
            for (int c = 0; c < C; c++)
                for (int y = 0; y < H; y++)
                    for (int x = 0; x < W; x++) {
                        int sy = y + (int)mc_rng_below(r.v[2], 5) - 2;
                        int sx = x + (int)mc_rng_below(r.v[3], 5) - 2;
                        double want = 0;
                        int on = sy >= 0 && sy < H && sx >= 0 && sx < W;
                        if (mc_rng_below(r.v[1], 2))
                            sx = W - 1 - sx;
                        const double dy = sy - (H - 1) / 2.0, dx = sx - (W - 1) / 2.0;
                        const double fy = cos(turn) * dy - sin(turn) * dx + (H - 1) / 2.0;
                        const double fx = cos(turn) * dx + sin(turn) * dy + (W - 1) / 2.0;
                        sy = (int)floor(fy + .5);
                        sx = (int)floor(fx + .5);
                        on = on && sy >= 0 && sy < H && sx >= 0 && sx < W;
                        if (on)
                            want = (double)f.pixels[((samples[b] * C + c) * H + sy) * W + sx];
                        moved += !on || sy != y || sx != x;
                        want = (want - (double)MEAN[c]) / (double)STD[c];
                        assert_true(fabs((double)out[((b * C + c) * H + y) * W + x] - want) < 1e-5);
                    }
        }
        for (size_t i = (B - 1) * f.image; i < B * f.image; i++)
            assert_true(out[i] == 0);
        be->plan_free(p);
        be->buf_free(be, d);
        teardown(&f);
    }
    assert_true(moved > 1000);
}

static void flat_vectors(void **state)
{
    (void)state;
    enum { n = 20016, k = 19 };
    float *x = malloc(n * sizeof *x), coefs[2 * k], got[16];
    uint32_t *index = malloc(n * sizeof *index);
    struct mc_buf *src[k], *dst = buf(n * sizeof *x, NULL);
    struct mc_ctl ctl = {.seed = 1, .row = 0};
    double acc[3] = {1, 2, 3};

    assert_true(x && index);
    for (int i = 0; i < 2 * k; i++)
        coefs[i] = unit(3, (uint32_t)i) - .5f;
    for (uint32_t j = 0; j < k; j++) {
        for (uint32_t i = 0; i < n; i++)
            x[i] = unit(100 + j, i);
        src[j] = buf(n * sizeof *x, x);
    }
    for (uint32_t i = 0; i < n; i++)
        index[i] = (i * 37u + 5) % n;
    struct mc_buf *d_coefs = buf(sizeof coefs, coefs), *d_ctl = buf(sizeof ctl, &ctl);
    struct mc_buf *d_index = buf(n * sizeof *index, index), *d_acc = buf(sizeof acc, acc);
    be->ctl_next(be, d_ctl);
    be->lincomb(be, n, dst, k, (const struct mc_buf *const *)src, d_coefs, d_ctl);
    fetch(dst, got, sizeof got);
    for (uint32_t i = 0; i < 16; i++) {
        double want = 0;
        for (uint32_t j = 0; j < k; j++)
            want += (double)coefs[k + j] * (double)unit(100 + j, i);
        assert_true(fabs((double)got[i] - want) < 1e-5);
    }
    be->sumsq(be, n, src[0], .5, d_acc, 1);
    fetch(d_acc, acc, sizeof acc);
    double want = 2;
    for (uint32_t i = 0; i < n; i++)
        want += .5 * pow((double)unit(100, i), 2);
    assert_true(acc[0] == 1 && acc[2] == 3 && fabs(acc[1] - want) < 1e-9 * want);
    be->gather(be, n, dst, src[1], d_index);
    fetch(dst, got, sizeof got);
    for (uint32_t i = 0; i < 16; i++)
        assert_true(got[i] == unit(101, (i * 37u + 5) % n));
    be->copy(be, dst, src[2], 8 * sizeof *x);
    fetch(dst, got, sizeof got);
    assert_true(got[7] == unit(102, 7) && got[8] == unit(101, 8 * 37u + 5));

    /* dst may be a source; SGD against its formula */
    be->lincomb(be, n, src[0], 2, (const struct mc_buf *const[]){src[1], src[0]}, d_coefs, d_ctl);
    fetch(src[0], got, sizeof got);
    assert_true(fabsf(got[3] - (coefs[2] * unit(101, 3) + coefs[3] * unit(100, 3))) < 1e-6f);
    for (int nesterov = 0; nesterov < 2; nesterov++) {
        struct mc_sgd s = {.p = src[4],
                           .m = src[5],
                           .grad = src[6],
                           .point = src[7],
                           .lrs = d_coefs,
                           .coefs = d_coefs,
                           .stride = 3,
                           .k = 2,
                           .momentum = .9f,
                           .decay = .01f,
                           .nesterov = nesterov};
        float p, m, p1, m1;
        struct mc_error err = {0};
        const size_t at = 17000;
        ok(be->get(be, src[4], at * 4, &p, 4, &err), &err);
        ok(be->get(be, src[5], at * 4, &m, 4, &err), &err);
        be->sgd(be, n, &s, d_ctl);
        ok(be->get(be, src[4], at * 4, &p1, 4, &err), &err);
        ok(be->get(be, src[5], at * 4, &m1, 4, &err), &err);
        const double d = (double)coefs[5] * ((double)unit(106, at) + .01 * (double)unit(107, at));
        const double v = .9 * (double)m + d;
        assert_true(fabs((double)m1 - v) < 1e-6);
        assert_true(
            fabs((double)p1 - ((double)p - (double)coefs[1] * (nesterov ? d + .9 * v : v))) < 1e-6);
    }
    for (int j = 0; j < k; j++)
        be->buf_free(be, src[j]);
    be->buf_free(be, dst);
    be->buf_free(be, d_coefs);
    be->buf_free(be, d_ctl);
    be->buf_free(be, d_index);
    be->buf_free(be, d_acc);
    free(x);
    free(index);
}

/* A few steps of training from one start. */
static void train(float *params, size_t *P)
{
    struct fixture f;
    const float lr[2] = {0, .05f};

    setup(&f, small_net(0), 1);
    struct mc_buf *m = buf(f.g->P * sizeof(float), NULL), *lrs = buf(sizeof lr, lr);
    struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.backward = 1});
    for (int i = 0; i < 20; i++) {
        be->load(p, &f.source, f.d_ctl);
        be->forward(p, MC_MODE_TRAIN, f.d_params, f.d_stats, NULL, f.d_ctl);
        be->backward(p, f.d_params, f.d_grad);
        be->sgd(be, f.g->P,
                &(struct mc_sgd){.p = f.d_params,
                                 .m = m,
                                 .grad = f.d_grad,
                                 .point = f.d_params,
                                 .lrs = lrs,
                                 .momentum = .9f,
                                 .decay = 1e-4f,
                                 .nesterov = 1},
                f.d_ctl);
    }
    double metrics[MC_N_METRICS] = {0};
    struct mc_buf *acc = buf(sizeof metrics, NULL);
    be->metrics(p, acc);
    fetch(acc, metrics, sizeof metrics);
    assert_true(metrics[MC_METRIC_LOSS] / metrics[MC_METRIC_IMAGES] < .3);
    *P = f.g->P;
    fetch(f.d_params, params, f.g->P * sizeof(float));
    be->plan_free(p);
    be->buf_free(be, m);
    be->buf_free(be, lrs);
    be->buf_free(be, acc);
    teardown(&f);
}

static void training_twice_gives_the_same_bytes(void **state)
{
    (void)state;
    enum { MANY = 65536 };
    float *a = calloc(MANY, sizeof *a), *b = calloc(MANY, sizeof *b);
    size_t P = 0;

    assert_true(a && b);
    train(a, &P);
    train(b, &P);
    assert_true(P > 100 && P <= MANY);
    assert_memory_equal(a, b, P * sizeof *a);
    free(a);
    free(b);
}

static void devices_by_name(void **state)
{
    (void)state;
    struct mc_backend *none = NULL;
    struct mc_error err = {0};
    assert_int_equal(mc_backend_open(&none, "abacus", 1, &err), MC_EUSAGE);
    assert_non_null(strstr(err.text, "abacus"));
    assert_true(be->threads == 2 && !strcmp(be->name, "cpu") && be->key[0]);
}

static int start(void **state)
{
    struct mc_error err = {0};
    (void)state;
    return mc_backend_open(&be, "cpu", 2, &err);
}

static int stop(void **state)
{
    (void)state;
    be->close(be);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_and_batch_norm),
        cmocka_unit_test(layers_of_an_mlp),
        cmocka_unit_test(residual_streams),
        cmocka_unit_test(branches_pools_and_heads),
        cmocka_unit_test(taps_and_moments),
        cmocka_unit_test(reestimation_pools_moments),
        cmocka_unit_test(augmentation_follows_its_definition),
        cmocka_unit_test(flat_vectors),
        cmocka_unit_test(training_twice_gives_the_same_bytes),
        cmocka_unit_test(devices_by_name),
    };
    return cmocka_run_group_tests(tests, start, stop);
}

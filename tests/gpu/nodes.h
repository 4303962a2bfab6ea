/* SPDX-License-Identifier: Apache-2.0
 *
 * Small graphs around each kind of node: a stem of exact numbers, a variant of the node, and a
 * linear layer that gives each output its own gradient. Header only, for test_kernels.c. */
#ifndef MC_TEST_NODES_H
#define MC_TEST_NODES_H

#include "tests/gpu/pair.h"
#include "tests/unit/builders.h"

struct shape {
    int c, h, w, batch;
};

struct node_case {
    const struct family *family;
    struct shape shape;
    int variant;
};

struct family {
    const char *name;
    int (*build)(struct mc_graph *g, const struct shape *s, int variant); /* -1: no such variant */
    int variants;
    int modes; /* bits of enum mc_mode */
    int train_only;
    float (*delta)(int variant); /* NULL: 0 */
};

#define EVAL (1 << MC_MODE_EVAL)
#define ALL_MODES 15

/* ---- graphs ---------------------------------------------------------------------------------- */

static int stem(struct mc_graph *g, int out, int bias)
{
    char name[32];
    snprintf(name, sizeof name, "stem%d", g->n_nodes);
    return mc_graph_conv(g, name, 0, out, (struct mc_conv_opts){.kernel = 1, .bias = bias});
}

static int conv(struct mc_graph *g, const struct shape *s, int v)
{
    const int k = 1 + 2 * (v & 3), pad = v & 8 ? k / 2 : 0, grouped = v & 16 && s->c > 1;
    const struct mc_conv_opts o = {.kernel = k,
                                   .stride = v & 4 ? 2 : 1,
                                   .pad = pad,
                                   .groups = grouped ? s->c : 1,
                                   .bias = v & 1};

    if (s->h + 2 * pad < k || s->w + 2 * pad < k || (v & 8 && !pad))
        return -1;
    return mc_graph_conv(g, NULL, stem(g, s->c, 0), grouped ? 2 * s->c : s->c + 3, o);
}

static int linear(struct mc_graph *g, const struct shape *s, int v)
{
    const int x = mc_graph_flatten(g, NULL, stem(g, s->c, 0));
    return mc_graph_linear(g, NULL, x, v ? 64 : 33, v, MC_INIT_ZERO, MC_INIT_ZERO);
}

/* With no activation, ReLU or Huber's; with a bias before it; after an addition. */
static int norm(struct mc_graph *g, const struct shape *s, int v)
{
    int x = stem(g, s->c, v & 1);
    if (v == 6)
        x = mc_graph_add(g, NULL, (int[]){x, stem(g, s->c, 1)}, 2);
    x = mc_graph_batchnorm(g, NULL, x, 1e-5f);
    return v < 2 ? x : mc_graph_relu(g, NULL, x);
}

static float norm_delta(int v)
{
    return v >= 4 ? 1 : 0;
}

static int relu(struct mc_graph *g, const struct shape *s, int v)
{
    (void)v;
    return mc_graph_relu(g, NULL, stem(g, s->c, 1));
}

static float relu_delta(int v)
{
    return v ? .7f : 0;
}

static int add(struct mc_graph *g, const struct shape *s, int v)
{
    const int a = stem(g, s->c, 0), b = stem(g, s->c, 1);
    return mc_graph_add(g, NULL, (int[]){a, b, v == 1 ? stem(g, s->c, 0) : a}, v ? 3 : 2);
}

static int concat(struct mc_graph *g, const struct shape *s, int v)
{
    int a = stem(g, s->c, 0), b = stem(g, s->c / 2 + 1, 1);
    if (v == 2) { /* batch norms that only the concatenation reads */
        a = mc_graph_batchnorm(g, NULL, a, 1e-5f);
        b = mc_graph_batchnorm(g, NULL, b, 1e-5f);
    }
    return mc_graph_concat(g, NULL, (int[]){a, b, a}, v == 1 ? 3 : 2);
}

static int pool(struct mc_graph *g, const struct shape *s, int v, enum mc_op op)
{
    static const int settings[][4] = {
        {2, 2, 0, 0}, {3, 2, 1, 0}, {3, 2, 0, 1}, {3, 1, 1, 0},
        {2, 3, 0, 1}, {5, 2, 2, 1}, {17, 3, 0, 1}}; /* more than 256 pixels */
    const int *o = settings[v];

    if (s->h + 2 * o[2] < o[0] || s->w + 2 * o[2] < o[0])
        return -1;
    return mc_graph_pool(g, NULL, op, stem(g, s->c, 0), o[0], o[1], o[2], o[3]);
}

static int max_pool(struct mc_graph *g, const struct shape *s, int v)
{
    return pool(g, s, v, MC_OP_MAXPOOL);
}

static int avg_pool(struct mc_graph *g, const struct shape *s, int v)
{
    return pool(g, s, v, MC_OP_AVGPOOL);
}

static int adaptive_pool(struct mc_graph *g, const struct shape *s, int v)
{
    static const int sizes[][2] = {{1, 1}, {3, 4}, {7, 2}};
    return mc_graph_adaptpool(g, NULL, stem(g, s->c, 0), sizes[v][0], sizes[v][1]);
}

static int global_pool(struct mc_graph *g, const struct shape *s, int v)
{
    (void)v;
    return mc_graph_globalpool(g, NULL, stem(g, s->c, 0));
}

/* Zeros around channels, around pixels, and on single sides. */
static int pad(struct mc_graph *g, const struct shape *s, int v)
{
    static const int sides[][2][3] = {
        {{3, 0, 0}, {8, 0, 0}}, {{0, 2, 1}, {0, 1, 3}}, {{1, 0, 2}, {0, 1, 0}}};
    return mc_graph_pad(g, NULL, stem(g, s->c, 1), sides[v][0], sides[v][1]);
}

/* Two dropouts, so that two nodes draw numbers. */
static int dropout(struct mc_graph *g, const struct shape *s, int v)
{
    const int x = stem(g, s->c, 0);
    (void)v;
    return mc_graph_add(
        g, NULL, (int[]){mc_graph_dropout(g, NULL, x, .5f), mc_graph_dropout(g, NULL, x, .75f)}, 2);
}

/* One more head, or two on the same logits. */
static int heads(struct mc_graph *g, const struct shape *s, int v)
{
    const int x = stem(g, s->c, 0);
    const int logits = head(g, mc_graph_globalpool(g, NULL, x), v ? .3f : 1.5f, 1);
    if (v)
        mc_graph_loss(g, NULL, logits, .6f, 1);
    return x;
}

/* Skips: one whose gradient is first an addition's, one whose is first a concat's, one of a concat;
 * strides. */
static int residual(struct mc_graph *g, const struct shape *s, int v)
{
    const struct mc_conv_opts three = {.kernel = 3, .pad = 1, .bias = v},
                              down = {.kernel = 3, .pad = 1, .stride = 2};
    int x = s->h < 3 ? -1 : unit_of(g, 0, s->c, three);

    if (x < 0)
        return -1;
    const int z = mc_graph_batchnorm(g, NULL, mc_graph_conv(g, NULL, x, s->c, three), 1e-5f);
    if (v == 2) { /* a node between the batch norm and the addition that reads the other input */
        const int between = mc_graph_conv(g, NULL, x, s->c, three);
        x = mc_graph_relu(g, NULL, mc_graph_add(g, NULL, (int[]){z, x}, 2));
        return unit_of(g, mc_graph_concat(g, NULL, (int[]){x, between}, 2), 9, three);
    }
    x = mc_graph_relu(g, NULL, mc_graph_add(g, NULL, v ? (int[]){x, z} : (int[]){z, x}, 2));
    int skip = mc_graph_conv(g, NULL, x, s->c + 4, (struct mc_conv_opts){.stride = 2, .bias = v});
    skip = mc_graph_batchnorm(g, NULL, skip, 1e-5f);
    int y = unit_of(g, x, s->c + 4, down);
    y = mc_graph_conv(g, NULL, y, s->c + 4, three);
    y = mc_graph_batchnorm(g, NULL, y, 1e-5f);
    y = mc_graph_relu(g, NULL, mc_graph_add(g, NULL, (int[]){y, skip}, 2));
    x = mc_graph_pool(g, NULL, MC_OP_AVGPOOL, x, 2, 2, 0, 1);
    x = mc_graph_concat(g, NULL, (int[]){y, x, skip}, 3);
    if (v) {
        y = mc_graph_conv(g, NULL, x, 3 * s->c + 8, three);
        y = mc_graph_batchnorm(g, NULL, y, 1e-5f);
        x = mc_graph_relu(g, NULL, mc_graph_add(g, NULL, (int[]){x, y}, 2));
    }
    return unit_of(g, x, 9, (struct mc_conv_opts){.kernel = 1, .bias = v});
}

static float residual_delta(int v)
{
    (void)v;
    return 1;
}

static const struct family families[] = {
    {"conv", conv, 32, EVAL, 0, NULL},
    {"linear", linear, 2, EVAL, 0, NULL},
    {"batch norm", norm, 7, ALL_MODES, 0, norm_delta},
    {"relu", relu, 2, EVAL, 0, relu_delta},
    {"add", add, 3, EVAL, 0, NULL},
    {"concat", concat, 3, ALL_MODES, 0, NULL},
    {"max pool", max_pool, 7, EVAL, 0, NULL},
    {"average pool", avg_pool, 7, EVAL, 0, NULL},
    {"adaptive pool", adaptive_pool, 3, EVAL, 0, NULL},
    {"global pool", global_pool, 1, EVAL, 0, NULL},
    {"pad", pad, 3, EVAL, 0, NULL},
    {"dropout", dropout, 1, EVAL | 1 << MC_MODE_BATCH, 1, NULL},
    {"heads", heads, 2, EVAL | 1 << MC_MODE_BATCH, 1, NULL},
    {"residual", residual, 3, ALL_MODES, 0, residual_delta},
};

static struct mc_graph *build(const struct node_case *n)
{
    const struct family *f = n->family;
    static const float half[] = {.5f, .5f, .5f}, quarter[] = {.25f, .25f, .25f};
    const int few = within(0) > 0; /* bits: pixels with few bits stay exact */
    struct mc_graph *g =
        mc_graph_new(f->name, 3, n->shape.h, n->shape.w, 5, few ? half : MEAN, few ? quarter : STD);
    const int x = f->build(g, &n->shape, n->variant);

    if (x < 0 && !g->error.text[0]) {
        mc_graph_free(g);
        return NULL;
    }
    int flat = mc_graph_flatten(g, NULL, x);
    if ((n->variant + n->shape.batch) % 2) { /* the node adds to an existing gradient */
        const int more = mc_graph_flatten(g, NULL, 1);
        flat = mc_graph_concat(g, NULL, (int[]){flat, more}, 2);
    }
    head(g, flat, .8f, 0);
    g = finish(g, f->delta ? f->delta(n->variant) : 0);
    if (f->build == relu) /* exact numbers: no kink is near */
        mc_graph_huber(g, f->delta(n->variant));
    return g;
}

#endif

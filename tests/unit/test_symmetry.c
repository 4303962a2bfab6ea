/* SPDX-License-Identifier: Apache-2.0
 *
 * Permutation groups of small graphs: which they are, where they are seen, and that a permuted
 * network is the same network, whose observed units have moved. */
#include "mc_nets.h"
#include "mc_rng.h"
#include "mc_symmetry.h"
#include "naive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- writing graphs ------------------------------------------------------------------------- */

#define IN(...) ((int[]){__VA_ARGS__}), (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int))

static struct mc_graph *begin(int height, int width)
{
    return mc_graph_new("test", 3, height, width, 4, (float[]){.5f, .4f, .3f},
                        (float[]){.2f, .3f, .25f});
}

static int conv(struct mc_graph *g, const char *name, int in, int out)
{
    return mc_graph_conv(g, name, in, out, (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});
}

static int linear(struct mc_graph *g, const char *name, int in, int out)
{
    return mc_graph_linear(g, name, in, out, 1, MC_INIT_ZERO, MC_INIT_ZERO);
}

static int relu(struct mc_graph *g, const char *of, int in)
{
    char name[32];

    snprintf(name, sizeof name, "%s.r", of);
    return mc_graph_relu(g, name, in);
}

static int bn(struct mc_graph *g, const char *of, int in)
{
    char name[32];

    snprintf(name, sizeof name, "%s.n", of);
    return mc_graph_batchnorm(g, name, in, 1e-5f);
}

/* Convolution, batch norm; and ReLU: NAME, NAME.n, NAME.r. */
static int unit(struct mc_graph *g, const char *name, int in, int out)
{
    return relu(g, name, bn(g, name, conv(g, name, in, out)));
}

static int head(struct mc_graph *g, const char *name, int in, int train_only)
{
    char loss[32];
    int x = linear(g, name, mc_graph_globalpool(g, NULL, in), 4);

    snprintf(loss, sizeof loss, "%s.loss", name);
    return mc_graph_loss(g, loss, x, 1, train_only);
}

/* ---- the checks ----------------------------------------------------------------------------- */

static double random_unit(uint32_t what, uint32_t i)
{
    return (double)mc_rng_unit(mc_rng(99, 1000, what, i, 0).v[0]);
}

/* Groups as "name:size ...", taps as "group@post+offset ..." ("!" where pre is post). */
static void describe(const struct mc_graph *g, const struct mc_symmetry *s, char *groups,
                     char *taps, size_t size)
{
    *groups = *taps = 0;
    for (size_t i = 0; i < s->n_groups; i++) {
        size_t n = strlen(groups);
        snprintf(groups + n, size - n, "%s%s:%zu", n ? " " : "", s->groups[i].name,
                 s->groups[i].size);
    }
    for (size_t i = 0; i < s->n_taps; i++) {
        const struct mc_tap *t = &s->taps[i];
        size_t n = strlen(taps);
        assert_int_equal(t->count, s->groups[t->group].size);
        assert_int_equal(t->start, 0);
        if (t->pre != t->post)
            assert_int_equal(t->pre, g->nodes[t->post].in[0]);
        n += (size_t)snprintf(taps + n, size - n, "%s%d@%s", n ? " " : "", t->group,
                              g->nodes[t->post].name);
        if (t->offset)
            n += (size_t)snprintf(taps + n, size - n, "+%zu", t->offset);
        if (t->pre == t->post)
            snprintf(taps + n, size - n, "!");
    }
}

static void axes_cover_their_nodes(const struct mc_graph *g, const struct mc_symmetry *s)
{
    assert_int_equal(s->n_nodes, g->n_nodes);
    for (int i = 0; i < g->n_nodes; i++) {
        size_t places = 0;
        for (size_t k = 0; k < s->axes[i].n; k++)
            places += s->axes[i].seg[k].count * s->axes[i].seg[k].repeat;
        assert_int_equal(places, g->nodes[i].c);
    }
}

static double relative(double a, double b)
{
    return fabs(a - b) / fmax(1, fabs(a));
}

static void random_weights(const struct mc_graph *g, float *params, float *stats)
{
    for (size_t i = 0; i < g->n_params; i++) {
        double shift = g->params[i].tensor.ndim > 1 ? .5 : .3;
        for (size_t k = 0; k < g->params[i].count; k++)
            params[g->params[i].offset + k] =
                (float)(random_unit((uint32_t)i, (uint32_t)k) - shift);
    }
    for (size_t i = 0; i < g->n_stats; i++)
        for (size_t k = 0; k < g->stats[i].count; k++)
            stats[g->stats[i].offset + k] =
                (float)(.1 + random_unit((uint32_t)i + 5000, (uint32_t)k));
}

static void equal_logits(const struct mc_graph *g, const struct naive v[2])
{
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        for (int c = 0; n->op == MC_OP_LOSS && c < n->c; c++) {
            double x = v[0].out[n->in[0]][c], y = v[1].out[n->in[0]][c];
            if (!(relative(x, y) < 1e-12))
                fail_msg("%s: logit %d is %.17g, permuted %.17g", n->name, c, x, y);
        }
    }
}

/* What is seen at a tap has moved as the permutation says, and not all of it is 0. */
static void moved_units(const struct mc_graph *g, const struct mc_tap *tap, const struct mc_perm *p,
                        const struct naive v[2])
{
    int nodes[2] = {tap->post, tap->pre};

    for (int which = 0; which < 2; which++) {
        const struct mc_node *n = &g->nodes[nodes[which]];
        const double *x = v[0].out[nodes[which]], *y = v[1].out[nodes[which]];
        size_t hw = (size_t)(n->h * n->w);
        double most = 0;
        for (size_t c = 0; c < tap->count; c++)
            for (size_t k = 0; k < hw; k++) {
                size_t from = tap->offset + (size_t)p->perm[tap->group][c];
                if (!(relative(x[from * hw + k], y[(tap->offset + c) * hw + k]) < 1e-12))
                    fail_msg("%s: unit %zu did not move to %zu", n->name, from, c);
                most = fmax(most, fabs(x[from * hw + k]));
            }
        assert_true(most > 0);
    }
}

/* A random network and its permuted twin on a random image: equal outputs, moved units, moved
 * gradients. */
static void permuted_is_the_same(const struct mc_graph *g, const struct mc_symmetry *s)
{
    size_t pixels = (size_t)(g->input[0] * g->input[1] * g->input[2]);
    float *w[2] = {calloc(g->P + 1, sizeof(float)), calloc(g->P + 1, sizeof(float))};
    float *m[2] = {calloc(g->S + 1, sizeof(float)), calloc(g->S + 1, sizeof(float))};
    uint32_t *params = calloc(g->P + 1, sizeof *params), *stats = calloc(g->S + 1, sizeof *stats);
    double *image = calloc(pixels, sizeof *image);
    const int32_t label = 1;
    struct naive v[2];
    struct mc_perm p;
    struct mc_error err = {0};

    random_weights(g, w[0], m[0]);
    for (size_t i = 0; i < pixels; i++)
        image[i] = random_unit(9999, (uint32_t)i);

    assert_int_equal(mc_perm_init(&p, s, &err), 0);
    for (size_t k = 0; k < p.n_groups; k++)
        assert_int_equal(mc_perm_moved(&p, k), 0);
    mc_perm_random(&p, 7);
    assert_int_equal(mc_perm_check(&p, &err), 0);
    for (size_t k = 0; k < p.n_groups; k++)
        assert_true(p.sizes[k] < 6 || mc_perm_moved(&p, k) > 0);
    assert_int_equal(mc_perm_gather(&p, s, g, params, stats, &err), 0);
    assert_int_equal(mc_perm_apply(&p, s, g, w[0], m[0], w[1], m[1], &err), 0);
    assert_true(!s->n_groups || memcmp(w[0], w[1], g->P * sizeof(float)));
    for (int k = 0; k < 2; k++) {
        naive_init(&v[k], g, 1);
        v[k].valid = 1;
        v[k].mode = MC_MODE_EVAL;
        v[k].samples = v[k].labels = &label;
        v[k].params = w[k];
        v[k].stats = m[k];
        v[k].train_only = 1;
        naive_run(&v[k], image);
    }
    equal_logits(g, v);
    for (size_t t = 0; t < s->n_taps; t++)
        moved_units(g, &s->taps[t], &p, v);
    for (size_t i = 0; i < g->P; i++)
        if (!(relative(v[0].dparams[params[i]], v[1].dparams[i]) < 1e-12))
            fail_msg("gradient %zu did not move to %zu", (size_t)params[i], i);
    for (int k = 0; k < 2; k++) {
        naive_release(&v[k]);
        free(w[k]);
        free(m[k]);
    }
    free(params);
    free(stats);
    free(image);
    mc_perm_release(&p);
}

/* Ends the graph, derives, compares with what is expected, and permutes it. Frees g. */
static void check(struct mc_graph *g, const char *groups, const char *taps)
{
    struct mc_symmetry s;
    struct mc_error err = {0};
    char found_groups[4096], found_taps[4096];

    if (mc_graph_finish(g, &err) || mc_symmetry_derive(&s, g, &err))
        fail_msg("%s", err.text);
    describe(g, &s, found_groups, found_taps, sizeof found_groups);
    assert_string_equal(found_groups, groups);
    assert_string_equal(found_taps, taps);
    axes_cover_their_nodes(g, &s);
    permuted_is_the_same(g, &s);
    mc_symmetry_release(&s);
    mc_graph_free(g);
}

/* ---- graphs --------------------------------------------------------------------------------- */

static void plain_chain(void **state)
{
    struct mc_graph *g = begin(6, 5);
    int x = unit(g, "b", unit(g, "a", 0, 8), 6);

    (void)state;
    head(g, "d", x, 0);
    check(g, "a:8 b:6", "0@a.r 1@b.r");
}

static void chain_without_relu(void **state)
{
    struct mc_graph *g = begin(6, 5);
    int x = conv(g, "a", 0, 8);

    (void)state;
    x = bn(g, "b", conv(g, "b", x, 6));
    head(g, "d", x, 0);
    check(g, "a:8 b:6", "0@a! 1@b.n!");
}

static void norms_after_a_relu_are_passed_through(void **state)
{
    struct mc_graph *g = begin(6, 5);
    int x = bn(g, "x", unit(g, "a", 0, 8));

    (void)state;
    x = relu(g, "y", x);
    x = mc_graph_dropout(g, NULL, bn(g, "z", x), .5f);
    x = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, x, 2, 2, 0, 0);
    x = mc_graph_pool(g, NULL, MC_OP_AVGPOOL, x, 2, 1, 1, 0);
    head(g, "d", mc_graph_adaptpool(g, NULL, x, 2, 1), 0);
    check(g, "a:8", "0@y.r");
}

static void skips(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 8);

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *const names[2][3] = {{"a", "b", "ab"}, {"c", "d", "cd"}};
        int y = bn(g, names[i][1], conv(g, names[i][1], unit(g, names[i][0], x, 5), 8));
        x = relu(g, names[i][2], mc_graph_add(g, NULL, IN(x, y)));
    }
    head(g, "h", x, 0);
    check(g, "s:8 a:5 c:5", "0@s.r 1@a.r 0@ab.r 2@c.r 0@cd.r");
}

static void nested_skips(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 8), a = unit(g, "a", x, 6), b = conv(g, "b", a, 6);
    int ab = relu(g, "ab", mc_graph_add(g, NULL, IN(a, b)));
    int c = conv(g, "c", ab, 8);

    (void)state;
    x = relu(g, "sc", mc_graph_add(g, NULL, IN(x, c)));
    x = relu(g, "sd", mc_graph_add(g, NULL, IN(x, c, conv(g, "e", x, 8))));
    head(g, "h", x, 0);
    check(g, "s:8 a:6", "0@s.r 1@a.r 1@ab.r 0@sc.r 0@sd.r");
}

static void projection_skips(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 6), y = bn(g, "b", conv(g, "b", unit(g, "a", x, 8), 8));
    int p = bn(g, "p", mc_graph_conv(g, "p", x, 8, (struct mc_conv_opts){.kernel = 1}));

    (void)state;
    head(g, "h", relu(g, "out", mc_graph_add(g, NULL, IN(y, p))), 0);
    check(g, "s:6 a:8 b:8", "0@s.r 1@a.r 2@out.r");
}

/* The stream is seen where each block's branch begins, and at the last ReLU. */
static void preactivation_skips(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int x = conv(g, "s", 0, 8);

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *const names[2][2] = {{"a", "b"}, {"c", "d"}};
        int y = conv(g, names[i][0], relu(g, names[i][0], bn(g, names[i][0], x)), 5);
        y = conv(g, names[i][1], relu(g, names[i][1], bn(g, names[i][1], y)), 8);
        x = mc_graph_add(g, NULL, IN(x, y));
    }
    head(g, "h", relu(g, "h", bn(g, "h", x)), 0);
    check(g, "s:8 a:5 c:5", "0@a.r 1@b.r 0@c.r 2@d.r 0@h.r");
}

static void additions_without_relu_are_seen_themselves(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 8), y = unit(g, "a", x, 8);

    (void)state;
    x = mc_graph_add(g, "sum", IN(x, y));
    x = bn(g, "m", mc_graph_add(g, "more", IN(x, unit(g, "b", x, 8))));
    head(g, "h", x, 0);
    check(g, "s:8", "0@s.r 0@sum! 0@m.n!");
}

static void concat(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int a = unit(g, "a", 0, 5), b = unit(g, "b", a, 7), c = mc_graph_concat(g, "ab", IN(a, b));

    (void)state;
    head(g, "h", unit(g, "c", c, 6), 0);
    check(g, "a:5 b:7 c:6", "0@a.r 1@b.r 2@c.r");
}

static void concat_of_concats(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int a = unit(g, "a", 0, 5), b = unit(g, "b", 0, 7), c = unit(g, "c", 0, 4);
    int ab = mc_graph_concat(g, "ab", IN(a, b));
    int x = mc_graph_concat(g, "x", IN(c, mc_graph_concat(g, "y", IN(ab, a)), ab));

    (void)state;
    head(g, "h", unit(g, "d", x, 6), 0);
    check(g, "a:5 b:7 c:4 d:6", "0@a.r 1@b.r 2@c.r 3@d.r");
}

/* A concat's own ReLU shows each group at its place, and one group twice. */
static void relu_on_a_concat(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int a = conv(g, "a", 0, 5), b = conv(g, "b", 0, 7);
    int x = relu(g, "x", bn(g, "x", mc_graph_concat(g, "aba", IN(a, b, a))));

    (void)state;
    head(g, "h", unit(g, "d", x, 6), 0);
    check(g, "a:5 b:7 d:6", "0@x.r 1@x.r+5 0@x.r+12 2@d.r");
}

static void sum_of_unequal_concats(void **state)
{
    struct mc_graph *g = begin(4, 4);
    int a = conv(g, "a", 0, 16), b = conv(g, "b", 0, 32), c = conv(g, "c", 0, 32);
    int d = conv(g, "d", 0, 16);
    int x = mc_graph_add(
        g, NULL, IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(c, d))));

    (void)state;
    head(g, "h", relu(g, "x", x), 0);
    check(g, "a:16 b[0:16]:16 b[16:32]:16", "0@x.r 1@x.r+16 2@x.r+32");
}

static void sum_of_crossed_concats(void **state)
{
    struct mc_graph *g = begin(4, 4);
    int a = conv(g, "a", 0, 16), b = conv(g, "b", 0, 16);
    int x = mc_graph_add(
        g, NULL, IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));

    (void)state;
    head(g, "h", relu(g, "x", x), 0);
    check(g, "a:16", "0@x.r 0@x.r+16");
    /* 16 and 24 cross until only their common divisor is left */
    g = begin(4, 4);
    a = unit(g, "a", 0, 16);
    b = unit(g, "b", 0, 24);
    x = mc_graph_add(g, NULL,
                     IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));
    head(g, "h", relu(g, "x", x), 0);
    check(g, "a[0:8]:8", "0@x.r 0@x.r+8 0@x.r+16 0@x.r+24 0@x.r+32");
    /* 3 and 5 cross until nothing can move */
    g = begin(4, 4);
    a = unit(g, "a", 0, 3);
    b = unit(g, "b", 0, 5);
    x = mc_graph_add(g, NULL,
                     IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));
    head(g, "h", relu(g, "x", x), 0);
    check(g, "", "");
}

/* A cut that comes late reaches what was tied early. */
static void splits_travel_back(void **state)
{
    struct mc_graph *g = begin(4, 4);
    int a = unit(g, "a", 0, 12), b = conv(g, "b", a, 12), d = conv(g, "d", 0, 4);
    int e = conv(g, "e", 0, 8);
    int x = relu(g, "x", mc_graph_add(g, NULL, IN(a, b)));
    int y = relu(g, "y", mc_graph_add(g, NULL, IN(b, mc_graph_concat(g, NULL, IN(d, e)))));

    (void)state;
    head(g, "h", mc_graph_add(g, "z", IN(conv(g, "f", x, 6), conv(g, "i", y, 6))), 0);
    check(g, "a[0:4]:4 a[4:12]:8 f:6", "0@a.r 1@a.r+4 0@x.r 1@x.r+4 0@y.r 1@y.r+4 2@z!");
}

static void flatten_before_linear(void **state)
{
    struct mc_graph *g = begin(5, 4);
    int x = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, unit(g, "a", 0, 6), 2, 2, 0, 0);

    (void)state;
    x = relu(g, "l", bn(g, "l", linear(g, "l", mc_graph_flatten(g, NULL, x), 9)));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "a:6 l:9", "0@a.r 1@l.r");
}

/* Behind the flatten a channel is many places, so it is seen before. */
static void relu_behind_a_flatten(void **state)
{
    struct mc_graph *g = begin(2, 3);
    int x = relu(g, "f", mc_graph_flatten(g, NULL, bn(g, "a", conv(g, "a", 0, 6))));

    (void)state;
    x = relu(g, "l", linear(g, "l", x, 9));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "a:6 l:9", "0@a.n! 1@l.r");
}

/* A linear layer added to a flattened convolution moves in its blocks. */
static void sum_with_a_flatten(void **state)
{
    struct mc_graph *g = begin(2, 3);
    int f = mc_graph_flatten(g, NULL, unit(g, "a", 0, 4));
    int l = linear(g, "l", f, 24), m = linear(g, "m", l, 24);
    int x = relu(g, "x", mc_graph_add(g, NULL, IN(f, m)));

    (void)state;
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "a:4 l:24", "0@a.r 1@l!");
    /* flattened 2x3 and 1x4 pixels: 2 channels of the one are 3 of the other */
    g = begin(2, 3);
    f = mc_graph_flatten(g, NULL, unit(g, "a", 0, 8));
    l = mc_graph_flatten(g, NULL, mc_graph_adaptpool(g, NULL, unit(g, "b", 0, 12), 1, 4));
    x = relu(g, "x", mc_graph_add(g, NULL, IN(l, f)));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "", "");
}

static void shared_inputs(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 8), a = unit(g, "a", x, 5), b = unit(g, "b", x, 5);

    (void)state;
    head(g, "h", mc_graph_add(g, "ab", IN(a, b)), 0);
    check(g, "s:8 a:5", "0@s.r 1@ab!");
}

static void what_is_tied_to_the_ends_is_fixed(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int x = relu(g, "x", mc_graph_add(g, NULL, IN(0, conv(g, "a", 0, 3))));
    int l = 0;

    (void)state;
    x = unit(g, "b", x, 6);
    l = linear(g, "l", mc_graph_globalpool(g, NULL, x), 4);
    mc_graph_loss(g, "loss", mc_graph_add(g, NULL, IN(linear(g, "m", relu(g, "l", l), 4), l)), 1,
                  0);
    check(g, "b:6", "0@b.r");
    /* the input's three channels inside a concat: the rest is free */
    g = begin(6, 6);
    x = mc_graph_concat(g, NULL, IN(0, conv(g, "a", 0, 5)));
    x = relu(g, "x", mc_graph_add(g, NULL, IN(x, conv(g, "b", x, 8))));
    head(g, "h", x, 0);
    check(g, "a:5", "0@a! 0@x.r+3");
}

/* A flattened image's places are each their own: half a block is fixed, all of it is. */
static void fixed_blocks(void **state)
{
    struct mc_graph *g = begin(2, 3);
    int c = unit(g, "a", 0, 7), f = mc_graph_flatten(g, NULL, c); /* 42 */
    int x = mc_graph_concat(g, NULL,
                            IN(mc_graph_flatten(g, NULL, 0), /* 18 */
                               linear(g, "l", f, 2), linear(g, "m", f, 22)));

    (void)state;
    x = relu(g, "x", mc_graph_add(g, NULL, IN(x, f)));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    /* of a, three channels are the image, the fourth is l and part of m, the rest are m's blocks;
     * m's first four places stop in the middle of a channel */
    check(g, "a[4:7]:3", "0@a.r+4");
}

static void several_heads(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int a = unit(g, "a", 0, 6), b = unit(g, "b", a, 5);
    int x = linear(g, "x", mc_graph_flatten(g, NULL, mc_graph_adaptpool(g, NULL, a, 2, 2)), 7);

    (void)state;
    x = mc_graph_dropout(g, NULL, relu(g, "x", x), .7f);
    mc_graph_loss(g, "aux", linear(g, "y", x, 4), .3f, 1);
    head(g, "aux2", b, 1);
    head(g, "h", b, 0);
    check(g, "a:6 b:5 x:7", "0@a.r 1@b.r 2@x.r");
}

static int inception(struct mc_graph *g, const char *p, int in)
{
    char n[6][16];
    int x[4];

    for (int i = 0; i < 6; i++)
        snprintf(n[i], sizeof n[i], "%s%d", p, i);
    x[0] = unit(g, n[0], in, 4);
    x[1] = unit(g, n[2], unit(g, n[1], in, 3), 5);
    x[2] = unit(g, n[4], unit(g, n[3], in, 2), 3);
    x[3] = unit(g, n[5], mc_graph_pool(g, NULL, MC_OP_MAXPOOL, in, 3, 1, 1, 0), 2);
    return mc_graph_concat(g, p, x, 4);
}

static void inception_blocks(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int x = inception(g, "i", unit(g, "s", 0, 6));

    (void)state;
    x = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, x, 3, 2, 0, 1);
    head(g, "h", inception(g, "j", x), 0);
    check(g, "s:6 i0:4 i1:3 i2:5 i3:2 i4:3 i5:2 j0:4 j1:3 j2:5 j3:2 j4:3 j5:2",
          "0@s.r 1@i0.r 2@i1.r 3@i2.r 4@i3.r 5@i4.r 6@i5.r "
          "7@j0.r 8@j1.r 9@j2.r 10@j3.r 11@j4.r 12@j5.r");
}

static void one_channel_has_nothing_to_move(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "b", unit(g, "a", 0, 1), 6);

    (void)state;
    head(g, "d", x, 0);
    check(g, "b:6", "0@b.r");
}

static void grouped_convolution_is_refused(void **state)
{
    struct mc_graph *g = begin(6, 6);
    struct mc_symmetry s;
    struct mc_error err = {0};
    int x = mc_graph_conv(g, "deep", unit(g, "a", 0, 6), 6, (struct mc_conv_opts){.groups = 3});

    (void)state;
    head(g, "d", x, 0);
    assert_int_equal(mc_graph_finish(g, &err), 0);
    assert_int_equal(mc_symmetry_derive(&s, g, &err), MC_EINPUT);
    assert_string_equal(err.text, "node \"deep\": a convolution in 3 groups cannot be permuted");
    assert_int_equal(s.n_groups, 0);
    mc_graph_free(g);
}

/* Ties that would cut channels without end stop at a bound. */
static void endless_cuts_are_refused(void **state)
{
    struct mc_graph *g = mc_graph_new("test", 3, 1, 1, 4, NULL, NULL);
    struct mc_symmetry s;
    struct mc_error err = {0};
    int n = 1 << 17, a = 0, b = 0, x = 0;

    (void)state;
    a = linear(g, "a", 0, n + 1);
    b = linear(g, "b", 0, n);
    x = mc_graph_add(g, NULL,
                     IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));
    head(g, "h", x, 0);
    assert_int_equal(mc_graph_finish(g, &err), 0);
    assert_int_equal(mc_symmetry_derive(&s, g, &err), MC_EINPUT);
    assert_non_null(strstr(err.text, "pieces"));
    mc_graph_free(g);

    g = mc_graph_new("test", 3, 1, 1, 4, NULL, NULL);
    x = linear(g, "a", 0, 2);
    for (int i = 0; i < 5; i++) /* each 16 times as many stretches */
        x = mc_graph_concat(g, NULL, IN(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x));
    head(g, "h", x, 0);
    assert_int_equal(mc_graph_finish(g, &err), 0);
    assert_int_equal(mc_symmetry_derive(&s, g, &err), MC_EINPUT);
    assert_non_null(strstr(err.text, "stretches"));
    mc_graph_free(g);
}

static void networks(void **state)
{
    const struct mc_net_spec spec = {3, 10, 10, 4, {.5f, .5f, .5f}, {.2f, .2f, .2f}};
    struct mc_error err = {0};
    struct mc_graph *g = NULL;
    struct mc_symmetry s;
    char groups[1024], taps[1024];

    (void)state;
    assert_int_equal(mc_net_build(&g, "tinyten", &spec, &err), 0);
    assert_int_equal(mc_symmetry_derive(&s, g, &err), 0);
    describe(g, &s, groups, taps, sizeof groups);
    assert_string_equal(groups, "layers.0.conv:16 layers.1.conv:16 layers.2.conv:32 "
                                "layers.3.conv:32 layers.4.conv:32 layers.5.conv:64 "
                                "layers.6.conv:64 layers.7.conv:64");
    assert_string_equal(taps, "0@layers.0.relu 1@layers.1.relu 2@layers.2.relu 3@layers.3.relu "
                              "4@layers.4.relu 5@layers.5.relu 6@layers.6.relu 7@layers.7.relu");
    /* conv's weight and bias, four of batch norm, the next layer's inputs */
    for (size_t i = 0; i < s.n_groups; i++)
        assert_int_equal(s.groups[i].n_uses, 7);
    permuted_is_the_same(g, &s);
    mc_symmetry_release(&s);
    mc_graph_free(g);

    assert_int_equal(mc_net_build(&g, "mlp:bn,12,7", &spec, &err), 0);
    assert_int_equal(mc_symmetry_derive(&s, g, &err), 0);
    describe(g, &s, groups, taps, sizeof groups);
    assert_string_equal(groups, "layers.0.linear:12 layers.1.linear:7");
    assert_string_equal(taps, "0@layers.0.relu 1@layers.1.relu");
    permuted_is_the_same(g, &s);
    mc_symmetry_release(&s);
    mc_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_chain),
        cmocka_unit_test(chain_without_relu),
        cmocka_unit_test(norms_after_a_relu_are_passed_through),
        cmocka_unit_test(skips),
        cmocka_unit_test(nested_skips),
        cmocka_unit_test(projection_skips),
        cmocka_unit_test(preactivation_skips),
        cmocka_unit_test(additions_without_relu_are_seen_themselves),
        cmocka_unit_test(concat),
        cmocka_unit_test(concat_of_concats),
        cmocka_unit_test(relu_on_a_concat),
        cmocka_unit_test(sum_of_unequal_concats),
        cmocka_unit_test(sum_of_crossed_concats),
        cmocka_unit_test(splits_travel_back),
        cmocka_unit_test(flatten_before_linear),
        cmocka_unit_test(relu_behind_a_flatten),
        cmocka_unit_test(sum_with_a_flatten),
        cmocka_unit_test(shared_inputs),
        cmocka_unit_test(what_is_tied_to_the_ends_is_fixed),
        cmocka_unit_test(fixed_blocks),
        cmocka_unit_test(several_heads),
        cmocka_unit_test(inception_blocks),
        cmocka_unit_test(one_channel_has_nothing_to_move),
        cmocka_unit_test(grouped_convolution_is_refused),
        cmocka_unit_test(endless_cuts_are_refused),
        cmocka_unit_test(networks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

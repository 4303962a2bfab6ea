/* SPDX-License-Identifier: Apache-2.0
 *
 * Networks whose groups are multiplied by matrices, on backends with 1 and with 2 threads (under
 * valgrind both with 1). Header only. */
#ifndef MC_TEST_ACTION_H
#define MC_TEST_ACTION_H

#include "tests/unit/kernels/groups.h"

#include "libcommon/permutation/soft_permutation.h"
#include "tests/unit/kernels/open.h"
#include "tests/unit/under.h"

static struct mc_backend *be[2]; /* with 1 and with 2 threads */

static inline void ok(int rc, const struct mc_error *err)
{
    if (rc)
        fail_msg("%s", err->text);
}

static inline struct mc_buf *buf(struct mc_backend *b, const float *from, size_t n)
{
    struct mc_error err = {0};
    struct mc_buf *out = NULL;
    ok(b->buf_new(b, n * sizeof(float), &out, &err), &err);
    ok(b->put(b, out, 0, from, n * sizeof(float), &err), &err);
    return out;
}

static inline float *room(size_t n)
{
    float *p = calloc(n + 1, sizeof *p);
    assert_non_null(p);
    return p;
}

/* ---- graphs --------------------------------------------------------------------------------- */

/* One group on both axes of a tensor, concats, flattens of few and of many positions per unit, a
 * group of more than a band's 64 units, convolutions in groups, also with two outputs per input. */
static inline struct mc_graph *mixed(void)
{
    struct mc_graph *g = begin(6, 6);
    int s = unit(g, "s", 0, 8), x = mc_graph_add(g, NULL, IN(s, unit(g, "a", s, 8)));
    int b = unit(g, "b", x, 5), c = 0;

    x = mc_graph_concat(g, NULL, IN(b, x));
    c = unit(g, "c", x, 70);
    x = mc_graph_adaptpool(g, NULL, mc_graph_concat(g, NULL, IN(c, b)), 2, 3);
    x = relu(g, "d", linear(g, "d", mc_graph_flatten(g, NULL, x), 66));
    mc_graph_loss(g, "loss", linear(g, "h", x, 4), 1, 0);
    x = mc_graph_flatten(g, NULL, mc_graph_adaptpool(g, NULL, s, 24, 25));
    x = relu(g, "e", linear(g, "e", x, 3));
    b = mc_graph_conv(g, "q", unit(g, "p", s, 12), 8,
                      (struct mc_conv_opts){.groups = 2, .bias = 1});
    b = mc_graph_conv(g, "t", relu(g, "q", b), 16, (struct mc_conv_opts){.kernel = 3, .groups = 8});
    head(g, "k", mc_graph_plain(g, "sc", MC_OP_SCALE, b), 1);
    mc_graph_loss(g, "aux", linear(g, "f", x, 4), .3f, 1);
    return g;
}

static inline struct mc_graph *build(const char *name)
{
    const struct mc_net_spec spec = {3, 32, 32, 4, {.5f, .5f, .5f}, {.2f, .2f, .2f}};
    struct mc_graph *g = NULL;
    struct mc_error err = {0};

    if (strcmp(name, "mixed")) {
        ok(mc_net_build(&g, name, &spec, &err), &err);
        return g;
    }
    g = mixed();
    ok(mc_graph_finish(g, &err), &err);
    return g;
}

/* A network, its groups, random weights, a soft permutation on each backend. */
struct subject {
    struct mc_graph *g;
    struct mc_symmetry s;
    size_t M, *offset;
    float *theta, *matrices, *out, *grad, *grad_matrices;
    struct mc_soft_perm *a[2];
};

static inline void set_up(struct subject *u, const char *name)
{
    struct mc_error err = {0};
    float *stats = NULL;

    u->g = build(name);
    ok(mc_symmetry_derive(&u->s, u->g, &err), &err);
    u->offset = calloc(u->s.n_groups + 1, sizeof *u->offset);
    assert_non_null(u->offset);
    u->M = mc_soft_perm_layout(&u->s, u->offset);
    u->theta = room(u->g->P);
    u->out = room(u->g->P);
    u->grad = room(u->g->P);
    u->matrices = room(u->M);
    u->grad_matrices = room(u->M);
    stats = room(u->g->S);
    random_weights(u->g, u->theta, stats);
    for (size_t i = 0; i < u->g->n_params; i++) /* nonzero gradients of parameters, 0 in the gaps */
        for (size_t k = 0; k < u->g->params[i].count; k++)
            u->grad[u->g->params[i].offset + k] =
                (float)(random_unit(20000 + (uint32_t)i, (uint32_t)k) - .5);
    for (size_t g = 0; g < u->s.n_groups; g++)
        for (size_t i = 0; i < u->s.groups[g].size * u->s.groups[g].size; i++)
            u->matrices[u->offset[g] + i] =
                (float)(random_unit(10000 + (uint32_t)g, (uint32_t)i) - .4);
    for (int k = 0; k < 2; k++)
        ok(be[k]->soft_perm_new(be[k], u->g, &u->s, &u->a[k], &err), &err);
    free(stats);
}

static inline void tear_down(struct subject *u)
{
    for (int k = 0; k < 2; k++)
        be[k]->soft_perm_free(u->a[k]);
    mc_symmetry_release(&u->s);
    mc_graph_free(u->g);
    free(u->offset);
    free(u->theta);
    free(u->out);
    free(u->grad);
    free(u->matrices);
    free(u->grad_matrices);
}

/* oneDNN's sgemm points the stack pointer into its own memory. In threads other than the first this
 * memory is close to the stack: valgrind mistakes it for the stack and forgets what is initialized.
 * (A --max-stackframe that prevents this is too small for other programs.) */
static inline int start(void **state)
{
    struct mc_error err = {0};

    (void)state;
    return open_tested(&be[0], "cpu", 1, &err) ||
           open_tested(&be[1], "cpu", is_slow() ? 1 : 2, &err);
}

static inline int stop(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        be[k]->soft_perm_free(NULL);
        be[k]->close(be[k]);
    }
    return 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the loss's gradient with respect to doubly stochastic matrices with PyTorch's float64
 * (golden file: make_soft_permutation_golden.py), to 1e-4 per group. The networks are tinyten, and
 * one with a skip, a concat and a flatten, at r = (1-t) a + t P b + 2t(1-t) c with batch 16 and
 * Huber's delta = 1. */
#include "tests/parity/gradients.h"

#include "libcommon/permutation/soft_permutation.h"

enum { B = 16, SIDE = 11 };

static const double T = .4;

static struct mc_graph *tinyten(void)
{
    return net("tinyten", 10);
}

static int linear(struct mc_graph *g, const char *name, int in, int out)
{
    return mc_graph_linear(g, name, in, out, 1, MC_INIT_ZERO, MC_INIT_ZERO);
}

static struct mc_graph *mixed(void)
{
    struct mc_graph *g = mc_graph_new("mixed", 3, SIDE, SIDE, 10, IMAGES_32.mean, IMAGES_32.std);
    const struct mc_conv_opts biased = {.kernel = 3, .pad = 1, .bias = 1};
    struct mc_error err = {0};

    assert_non_null(g);
    const int s = unit_of(g, "stem", 0, 12, 3);
    int x =
        mc_graph_batchnorm(g, "block.bn1", mc_graph_conv(g, "block.conv1", s, 10, biased), 1e-5f);
    x = conv(g, "block.conv2", mc_graph_relu(g, NULL, x), 12, 3, 1);
    x = mc_graph_batchnorm(g, "block.bn2", x, 1e-5f);
    x = mc_graph_relu(g, NULL, mc_graph_add(g, NULL, (int[]){x, s}, 2));
    const int one = unit_of(g, "branch1", x, 9, 1), two = unit_of(g, "branch2", x, 14, 3);
    x = mc_graph_concat(g, NULL, (int[]){one, x, two}, 3);
    x = mc_graph_flatten(g, NULL, mc_graph_adaptpool(g, NULL, x, 2, 3));
    x = mc_graph_relu(g, NULL, linear(g, "fc1", x, 20));
    mc_graph_loss(g, NULL, linear(g, "fc2", x, 10), 1, 0);
    ok(mc_graph_finish(g, &err), &err);
    return g;
}

/* A buffer on the device with the weights of `seed`. */
static struct mc_buf *weights(struct world *w, uint64_t seed)
{
    struct mc_buf *b = buf(w->g->P * sizeof *w->host, NULL);

    fill(w, b, seed, by_name);
    return b;
}

struct network {
    const char *name;
    struct mc_graph *(*build)(void);
    size_t groups;
};

static const struct network NETWORKS[] = {{"tinyten", tinyten, 8}, {"mixed", mixed, 5}};

/* Copies the golden file's matrices, or their gradients (kind), in the layout of the groups. */
static void golden_matrices(const struct network *n, const struct mc_symmetry *s, const char *kind,
                            float *out)
{
    char prefix[32];

    snprintf(prefix, sizeof prefix, "%s/%s", n->name, kind);
    for (size_t g = 0, at = 0; g < s->n_groups; g++) {
        const size_t k = s->groups[g].size;
        memcpy(out + at, find(prefix, s->groups[g].name, k * k), k * k * sizeof *out);
        at = (at + k * k + 15) / 16 * 16;
    }
}

static void gradient_to_matrices(void **state)
{
    const struct network *n = *state;
    const float coef[] = {(float)(1 - T), (float)T, (float)(2 * T * (1 - T))}, one = 1;
    struct mc_graph *graph = n->build();
    struct mc_symmetry s;
    struct mc_soft_perm *a = NULL;
    struct mc_error err = {0};
    struct world w;
    double worst = 0;

    mc_graph_huber(graph, 1);
    open_world(&w, graph, B);
    ok(mc_symmetry_derive(&s, w.g, &err), &err);
    assert_int_equal(s.n_groups, n->groups);
    const size_t m = mc_soft_perm_layout(&s, NULL);
    float *host = floats(m), *want = floats(m);
    golden_matrices(n, &s, "matrix", host);
    golden_matrices(n, &s, "gradient", want);
    struct mc_buf *ends[] = {weights(&w, 1), buf(w.g->P * sizeof(float), NULL), weights(&w, 3)};
    struct mc_buf *b = weights(&w, 2), *matrices = buf(m * sizeof *host, host);
    struct mc_buf *grad = buf(m * sizeof *host, NULL);
    struct mc_buf *step = buf(m * sizeof *host, NULL);
    struct mc_buf *momentum = buf(m * sizeof *host, NULL);
    struct mc_buf *coefs = buf(sizeof coef, coef), *lr = buf(sizeof one, &one);
    ok(be->soft_perm_new(be, w.g, &s, &a, &err), &err);

    be->soft_permute(a, matrices, b, ends[1]);
    be->lincomb(be, w.g->P, w.point, 3, (const struct mc_buf *const *)ends, coefs, w.ctl);
    run(&w, stream_of(1, "", "images"), stream_of(1, "", "labels"));
    be->soft_permute_grad(a, matrices, b, w.grad, grad);
    const struct mc_sgd sgd = {.p = step,
                               .m = momentum,
                               .grad = grad,
                               .point = matrices,
                               .lrs = lr,
                               .coefs = coefs,
                               .stride = 3,
                               .k = 1};
    be->sgd(be, m, &sgd, w.ctl); /* one step at rate 1 from 0: minus the gradient */
    fetch(step, host, m * sizeof(float));
    for (size_t g = 0, at = 0; g < s.n_groups; g++) {
        struct measured r = {0, 0};
        const size_t k = s.groups[g].size;
        for (size_t i = at; i < at + k * k; i++) {
            r.diff += pow((double)host[i] + (double)want[i], 2);
            r.norm += pow((double)want[i], 2);
        }
        assert_true(sqrt(r.norm) > 1e-6);
        const double e = bounded(r);
        if (!(e <= 1e-4))
            fail_msg("%s: %s: %g of norm %g", n->name, s.groups[g].name, e, sqrt(r.norm));
        worst = e > worst ? e : worst;
        at = (at + k * k + 15) / 16 * 16;
    }
    print_message("%s: worst group %.2e\n", n->name, worst);

    be->soft_perm_free(a);
    mc_symmetry_release(&s);
    close_world(&w);
}

static int start_with_golden(void **state)
{
    start(state);
    read_golden("soft_permutation_golden.mcz");
    return 0;
}

int main(void)
{
    struct CMUnitTest tests[] = {
        {"tinyten", gradient_to_matrices, NULL, NULL, (void *)(uintptr_t)&NETWORKS[0]},
        {"skip_concat_and_flatten", gradient_to_matrices, NULL, NULL,
         (void *)(uintptr_t)&NETWORKS[1]},
    };
    return cmocka_run_group_tests(tests, start_with_golden, stop);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares networks with PyTorch by digests of their gradients (golden file: make_network_golden.py).
 * With Huber's delta = 1, the logits, every tensor's gradient and the pixels' must be within the
 * case's bound of float64. With the plain ReLU, the error of the whole gradient is compared with
 * that of PyTorch's float32. Dropout is off. Header only. */
#ifndef MC_TEST_DIGESTS_H
#define MC_TEST_DIGESTS_H

#include "kernels/cpu/cpu.h"
#include "tests/parity/gradients.h"
#include "tests/unit/builders.h"

enum { PROJECTIONS = 64 };

/* ---- cases ---- */

/* Adds the end of a block network: mean over the pixels, linear layer, loss. */
static inline void ending(struct mc_graph *g, int x)
{
    x = mc_graph_globalpool(g, "avgpool", x);
    x = mc_graph_linear(g, "fc", x, g->classes, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, "loss", x, 1, 0);
}

struct test_case {
    const char *name;
    void (*build)(struct mc_graph *g); /* NULL: mc_net_build(name) */
    int images, side, classes;         /* batch, pixels, logits */
    size_t seeds;                      /* number of random networks with the plain ReLU */
    double bound;                      /* relative error to float64 with Huber's delta = 1 */
    int direct;                        /* with Huber's delta: no Winograd, see make_direct */
};

static inline void open_case(struct world *w, const struct test_case *c, float delta)
{
    struct mc_graph *g = NULL;
    struct mc_error err = {0};

    if (c->build) {
        g = mc_graph_new(c->name, 3, c->side, c->side, c->classes, IMAGES_32.mean, IMAGES_32.std);
        assert_non_null(g);
        c->build(g);
        ok(mc_graph_finish(g, &err), &err);
    } else {
        g = net(c->name, c->classes);
    }
    mc_graph_huber(g, delta);
    for (int i = 0; i < g->n_nodes; i++)
        g->nodes[i].drop = 0;
    open_world(w, g, (size_t)c->images);
}

/* Replaces the plan's convolutions by direct ones. Huber's activation has no kinks, but max pooling
 * has. A few of googlenet's hundreds of thousands of windows have two values that differ by a
 * millionth. Winograd's rounding may select the other one, and one such choice changes gradients by
 * about 5e-3. So does PyTorch's float32 for most seeds. For the golden seed neither PyTorch nor
 * direct convolutions do. Winograd's own error is bounded in test_winograd, and in test_networks:
 * in resnet20, in googlenet with means instead of maxima, and in googlenet with the plain ReLU. */
static inline void make_direct(struct mc_plan *p)
{
    for (int i = 0; i < p->run.g->n_nodes; i++) {
        struct cpu_node *c = &p->nodes[i];
        struct mc_error err = {0};
        memset(c->fused, 0, sizeof c->fused); /* only our Winograd fuses */
        if (!c->conv)
            continue;
        const struct cpu_conv_shape s = cpu_conv_shape_of(p, c); /* direct by default */
        cpu_conv_free(c->conv);
        c->conv = NULL;
        ok(cpu_conv_new(p->be, &s, &c->conv, &err), &err);
        assert_true(cpu_conv_work(c->conv) <= p->arena.regions[p->work_region].bytes);
    }
}

/* ---- weights, digests ---- */

static inline void step(struct world *w, uint64_t seed)
{
    fill(w, w->point, seed, by_name);
    run(w, stream_of(seed, "", "images"), stream_of(seed, "", "labels"));
    fetch(w->grad, w->host, w->g->P * sizeof(float));
}

/* sums[k] += the sum of all elements, with signs from bit k of each element's hash. */
static inline void project(const float *v, size_t n, const char *name, double *sums)
{
    const uint64_t from = stream_of(0, "sign ", name);
    double plus[PROJECTIONS] = {0}, total = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t z = splitmix(from, i);
        const double x = (double)v[i];
        total += x;
        for (int k = 0; k < PROJECTIONS; k++)
            plus[k] += (double)((z >> k) & 1) * x;
    }
    for (int k = 0; k < PROJECTIONS; k++)
        sums[k] += 2 * plus[k] - total;
}

static inline struct measured against(const char *group, const char *name, const double *sums)
{
    const float *want = find(group, name, PROJECTIONS + 1);
    struct measured r = {0, pow((double)want[PROJECTIONS], 2)};

    for (int k = 0; k < PROJECTIONS; k++)
        r.diff += pow(sums[k] - (double)want[k], 2) / PROJECTIONS;
    return r;
}

/* ---- tests ---- */

static inline void one_tensor(const struct test_case *c, const char *name, const float *v, size_t n,
                              double *worst)
{
    double sums[PROJECTIONS] = {0};

    project(v, n, name, sums);
    const double e = bounded(against(c->name, name, sums));
    if (!(e <= c->bound))
        fail_msg("%s: %s: %g", c->name, name, e);
    *worst = e > *worst ? e : *worst;
}

static inline void every_tensor_with_huber(void **state)
{
    const struct test_case *c = *state;
    const uint64_t seed = (uint64_t) * (const int64_t *)find(c->name, "huber_seed", 1);
    const size_t tensors = 2 + c->seeds + 2; /* pixels, logits, relu%zu, seed and own error */
    struct world w;
    double worst = 0;
    size_t stored = 0;

    open_case(&w, c, 1);
    if (c->direct)
        make_direct(w.plan);
    step(&w, seed);
    for (size_t t = 0; t < w.g->n_params; t++) {
        const struct mc_param *p = &w.g->params[t];
        one_tensor(c, p->tensor.name, w.host + p->offset, p->count, &worst);
    }
    const float *dx = host_copy(w.dx, w.images_n * w.image);
    one_tensor(c, "pixels", dx, w.images_n * w.image, &worst);
    const size_t n_logits = w.images_n * (size_t)c->classes;
    struct mc_buf *logits = buf(n_logits * sizeof(float), NULL);
    be->output(w.plan, MC_OUT_LOGITS, 0, logits);
    one_tensor(c, "logits", host_copy(logits, n_logits), n_logits, &worst);
    for (size_t i = 0; i < golden.n; i++)
        stored += !strncmp(golden.tensors[i].name, c->name, strlen(c->name)) &&
                  golden.tensors[i].name[strlen(c->name)] == '/';
    assert_int_equal(stored, w.g->n_params + tensors); /* PyTorch has no other parameters */
    print_message("%s: worst tensor %.2e\n", c->name, worst);
    close_world(&w);
}

/* A flipped kink, or another choice of a max pool, is a thousand times larger than rounding errors.
 * It occurs at random on both sides, so mean squares over the seeds are compared. */
static inline void whole_gradient_with_relu(void **state)
{
    const struct test_case *c = *state;
    const double *own = find(c->name, "own_error", c->seeds);
    struct world w;
    double squares = 0, torch_squares = 0;

    open_case(&w, c, 0);
    for (size_t seed = 1; seed <= c->seeds; seed++) {
        double sums[PROJECTIONS] = {0};
        char name[32];
        step(&w, seed);
        for (size_t t = 0; t < w.g->n_params; t++) {
            const struct mc_param *p = &w.g->params[t];
            project(w.host + p->offset, p->count, p->tensor.name, sums);
        }
        snprintf(name, sizeof name, "relu%zu", seed);
        const struct measured r = against(c->name, name, sums);
        print_message("%s, seed %zu: error %.2e, PyTorch's float32 %.2e\n", c->name, seed,
                      sqrt(r.diff / r.norm), own[seed - 1]);
        squares += r.diff / r.norm;
        torch_squares += own[seed - 1] * own[seed - 1];
    }
    print_message("%s: ratio %.2f\n", c->name, sqrt(squares / torch_squares));
    assert_true(sqrt(squares / torch_squares) <= 3);
    close_world(&w);
}

static inline int start_with_golden(void **state)
{
    start(state);
    read_golden("network_golden.mcz");
    return 0;
}

/* Writes both tests of each of n cases to tests (2n), and their names to names (2n). */
static inline void enter_cases(const struct test_case *cases, size_t n, struct CMUnitTest *tests,
                               char (*names)[64])
{
    for (size_t i = 0; i < 2 * n; i++) {
        snprintf(names[i], sizeof names[i], "%s_%s", cases[i / 2].name, i % 2 ? "relu" : "huber");
        tests[i] = (struct CMUnitTest){
            .name = names[i],
            .test_func = i % 2 ? whole_gradient_with_relu : every_tensor_with_huber,
            .initial_state = (void *)(uintptr_t)&cases[i / 2]}; /* cmocka's type is not const */
    }
}

#endif

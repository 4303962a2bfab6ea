/* SPDX-License-Identifier: Apache-2.0
 *
 * Fusion and reuse of memory on the CPU change no bit of the results, on any instruction set. A tap on a
 * node prevents its fusion. The linker wraps cpu_arena_place (--wrap). */
#include "kernels/cpu/cpu.h"
#include "kernels/model.h"
#include "tests/unit/kernels/device.h"

#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TAPS = 16 };

/* Two residual blocks, the first with a batch norm on either path. */
static struct mc_graph *residual_net(float huber)
{
    const struct mc_conv_opts wide = {.kernel = 3, .pad = 1};
    struct mc_graph *g = mc_graph_new("residual", 3, 8, 8, 4, MEAN, STD);
    int x = mc_graph_conv(g, NULL, 0, 20, wide);

    for (int block = 0; block < 2; block++) {
        int skip = x;
        x = mc_graph_batchnorm(g, NULL, mc_graph_conv(g, NULL, x, 20, wide), 1e-5f);
        x = mc_graph_conv(g, NULL, mc_graph_relu(g, NULL, x), 20, wide);
        if (!block)
            skip = mc_graph_batchnorm(g, NULL, mc_graph_conv(g, NULL, skip, 20, wide), 1e-5f);
        x = mc_graph_batchnorm(g, NULL, x, 1e-5f);
        x = mc_graph_relu(g, NULL, mc_graph_add(g, NULL, (int[]){skip, x}, 2));
    }
    x = mc_graph_linear(g, NULL, mc_graph_globalpool(g, NULL, x), 4, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, x, 1, 0);
    return finish(g, huber);
}

/* Numbers of batch norms that compute an addition, and that a convolution computes. */
struct fusions {
    int additions, convolutions[MC_N_PASSES];
};

static struct fusions count(const struct mc_plan *p)
{
    struct fusions n = {0};

    for (int i = 0; i < p->run.g->n_nodes; i++) {
        n.additions += p->run.roles[i].sum >= 0;
        for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
            n.convolutions[pass] += p->nodes[i].fused[pass] != NULL;
    }
    return n;
}

/* The pixels' gradient; with the parameters' if `parameters`. */
static float *gradient(struct fixture *f, struct mc_plan *p, int parameters)
{
    forward(f, p, MC_MODE_BATCH);
    be->backward(p, f->d_params, parameters ? f->d_grad : NULL);
    const struct cpu_node *pixels = &p->nodes[0];
    return memcpy(floats(pixels->grad_size), pixels->grad, pixels->grad_size * sizeof(float));
}

static void compare(float huber, int valid)
{
    struct mc_tap_request taps[MAX_TAPS];
    struct fixture f;
    int32_t samples[B];
    size_t n = 0;

    setup(&f, residual_net(huber), 0);
    set_order(&f, valid, samples);
    for (int i = 0; i < f.g->n_nodes; i++)
        if (f.g->nodes[i].op == MC_OP_BATCHNORM)
            taps[n++] = (struct mc_tap_request){.node = i, .count = 8};
    const struct mc_plan_opts o = {.backward = 1, .input_grad = 1};
    struct mc_plan_opts tapped = o;
    tapped.taps = taps;
    tapped.n_taps = n;
    struct mc_plan *p = plan(f.g, o), *q = plan(f.g, tapped);
    const struct fusions fused = count(p), plain = count(q);
    assert_true(fused.additions == 2 && plain.additions == 0);
    const int winograd = strcmp(cpu_of(be)->k->name, "portable") != 0; /* portable: direct */
    assert_true(fused.convolutions[MC_PASS_FORWARD] == 3 * winograd);
    assert_true(fused.convolutions[MC_PASS_DATA] == 3 * winograd);
    assert_true(fused.convolutions[MC_PASS_WEIGHTS] == 4 * winograd);
    assert_true(!plain.convolutions[MC_PASS_FORWARD] && !plain.convolutions[MC_PASS_DATA]);

    const size_t bytes = p->nodes[0].grad_size * sizeof(float);
    const float *x = gradient(&f, p, 1), *params = host_copy(f.d_grad, f.g->P);
    assert_memory_equal(x, gradient(&f, q, 1), bytes);
    assert_memory_equal(params, host_copy(f.d_grad, f.g->P), f.g->P * sizeof *x);
    /* batch norms compute their inputs' gradients if the weights' are not needed */
    assert_memory_equal(x, gradient(&f, p, 0), bytes);
    teardown(&f);
}

static void fused_batch_norms(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        open_cpu(threads);
        compare(0, B);
        compare(0, 4);
        compare(.5f, 4);
        be->close(be);
    }
}

/* ---- reuse of memory ------------------------------------------------------------------------- */

static int separate; /* plans reuse no memory */

int __real_cpu_arena_place(struct cpu_arena *a, struct mc_error *err);
int __wrap_cpu_arena_place(struct cpu_arena *a, struct mc_error *err);
int __wrap_cpu_arena_place(struct cpu_arena *a, struct mc_error *err)
{
    for (size_t i = 1; separate && i < a->n; i++)
        cpu_arena_extend(a, i, 0, SIZE_MAX);
    return __real_cpu_arena_place(a, err);
}

static uint32_t draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % n;
}

enum { WIDTH = 20, MAX_LAYERS = 40 };

static int convolution(struct mc_graph *g, int x, int kernel)
{
    const struct mc_conv_opts o = {.kernel = kernel, .pad = kernel / 2, .bias = kernel == 1};
    return mc_graph_conv(g, NULL, x, WIDTH, o);
}

/* Add one of several layers or blocks to node x. `other`: another node of the same shape. */
static int add_layer(struct mc_graph *g, uint32_t *seed, int x, int other)
{
    switch (draw(seed, 9)) {
    case 0:
    case 1:
        return convolution(g, x, 3);
    case 2:
        return convolution(g, x, 1);
    case 3:
        return mc_graph_batchnorm(g, NULL, x, 1e-5f);
    case 4:
        return mc_graph_relu(g, NULL, mc_graph_batchnorm(g, NULL, x, 1e-5f));
    case 5:
        return mc_graph_dropout(g, NULL, mc_graph_relu(g, NULL, x), .3f);
    case 6:
        return convolution(g, mc_graph_concat(g, NULL, (int[]){x, other}, 2), 3);
    case 7:
        return other == x ? x : mc_graph_add(g, NULL, (int[]){x, other}, 2);
    default:
        x = mc_graph_batchnorm(g, NULL, convolution(g, x, 3), 1e-5f);
        x = mc_graph_batchnorm(g, NULL, convolution(g, mc_graph_relu(g, NULL, x), 3), 1e-5f);
        return mc_graph_relu(g, NULL, mc_graph_add(g, NULL, (int[]){other, x}, 2));
    }
}

static int is_read(const struct mc_graph *g, int node)
{
    for (int j = node + 1; j < g->n_nodes; j++)
        for (int k = 0; k < g->nodes[j].n_in; k++)
            if (g->nodes[j].in[k] == node)
                return 1;
    return 0;
}

/* A network in which each layer reads one of the last four, and two heads. */
static struct mc_graph *random_net(uint32_t seed)
{
    struct mc_graph *g = mc_graph_new("random", 3, 8, 8, 4, MEAN, STD);
    int node[MAX_LAYERS] = {convolution(g, 0, 3)};
    uint32_t n = 1;

    for (const uint32_t layers = 8 + draw(&seed, 20); n < layers; n++) {
        const int x = node[n - 1 - draw(&seed, n < 4 ? n : 4)];
        node[n] = add_layer(g, &seed, x, node[draw(&seed, n)]);
    }
    int x = node[n - 1];
    for (int i = 1, end = g->n_nodes; i < end; i++)
        if (i != x && !is_read(g, i))
            x = mc_graph_add(g, NULL, (int[]){x, i}, 2);
    head(g, mc_graph_globalpool(g, NULL, node[n / 2]), .3f, 1);
    head(g, mc_graph_globalpool(g, NULL, x), 1, 0);
    return finish(g, draw(&seed, 3) ? 0 : .5f);
}

/* Passes that follow a forward pass: none, backward, backward for the pixels alone. */
enum { FORWARD, BACKWARD, PIXELS, N_RUNS };

/* All results of a run: logits, statistics, moments of the batch, gradients. */
static void *results(struct fixture *f, const struct mc_plan_opts *o, enum mc_mode mode, int run,
                     size_t *bytes)
{
    const size_t logits = B * 4, S = f->g->S, P = f->g->P, pixels = B * f->image;
    struct mc_buf *acc = buf((2 * S + 1) * sizeof(double), NULL);
    struct mc_buf *d_logits = buf(logits * sizeof(float), NULL);
    struct mc_buf *dx = buf(pixels * sizeof(float), NULL), *grad = buf(P * sizeof(float), NULL);
    struct mc_plan *p = plan(f->g, *o);

    put_vectors(f);
    be->load(p, &f->source, f->d_ctl);
    be->forward(p, mode, f->d_params, f->d_stats, acc, f->d_ctl);
    be->output(p, MC_OUT_LOGITS, 0, d_logits);
    if (run != FORWARD) {
        be->backward(p, f->d_params, run == BACKWARD ? grad : NULL);
        be->input_grad(p, dx);
    }
    struct mc_buf *const all[] = {d_logits, f->d_stats, acc, grad, dx};
    const size_t size[] = {logits * sizeof(float), S * sizeof(float), (2 * S + 1) * sizeof(double),
                           P * sizeof(float), pixels * sizeof(float)};
    *bytes = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *bytes += size[i];
    unsigned char *to = room(*bytes, 1), *at = to;
    for (size_t i = 0; i < sizeof all / sizeof *all; at += size[i++])
        fetch(all[i], at, size[i]);
    return to;
}

static size_t plan_bytes(const struct mc_graph *g, const struct mc_plan_opts *o)
{
    struct mc_error err;
    size_t bytes = 0;

    assert_int_equal(mc_plan_bytes(be, g, o, &bytes, &err), 0);
    return bytes;
}

static void reused_memory(void **state)
{
    size_t apart = 0, shared = 0; /* bytes of all plans */

    (void)state;
    open_cpu(1);
    for (uint32_t seed = 1; seed <= 24; seed++) {
        struct fixture f;
        int32_t samples[B];
        setup(&f, random_net(seed), 0);
        set_order(&f, seed % 2 ? B : 4, samples);
        for (enum mc_mode mode = MC_MODE_TRAIN; mode <= MC_MODE_EVAL; mode++)
            for (int run = 0; run < N_RUNS; run++) {
                const struct mc_plan_opts o = {.batch = B,
                                               .backward = run != FORWARD,
                                               .input_grad = run != FORWARD,
                                               .train_only = seed % 3 != 0};
                size_t bytes;
                separate = 1;
                const void *expected = results(&f, &o, mode, run, &bytes);
                apart += plan_bytes(f.g, &o);
                separate = 0;
                shared += plan_bytes(f.g, &o);
                assert_memory_equal(results(&f, &o, mode, run, &bytes), expected, bytes);
            }
        teardown(&f);
    }
    assert_true(apart > shared);
    be->close(be);
}

/* oneDNN and the backend choose instructions once per process. */
int main(void)
{
    static const char *const isa[][2] = {
        {"portable", "AVX2"}, {"avx2", "AVX2"}, {"avx512", "AVX512_CORE"}};
    const struct CMUnitTest tests[] = {cmocka_unit_test(fused_batch_norms),
                                       cmocka_unit_test(reused_memory)};
    int failed = 0;

    for (size_t i = 0; i < sizeof isa / sizeof *isa; i++) {
        const pid_t child = fork();
        int status;
        if (!child) {
            setenv("MC_ISA", isa[i][0], 1);
            setenv("ONEDNN_MAX_CPU_ISA", isa[i][1], 1);
            return cmocka_run_group_tests_name(isa[i][0], tests, NULL, NULL);
        }
        failed |= child < 0 || waitpid(child, &status, 0) != child || status;
    }
    return failed;
}

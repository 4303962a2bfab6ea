/* SPDX-License-Identifier: Apache-2.0
 *
 * Fusion on the CPU does not change a bit of the gradients, on any instruction set. A tap on a node
 * prevents its fusion. */
#include "kernels/cpu/cpu.h"
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

    for (int i = 0; i < p->g->n_nodes; i++) {
        n.additions += p->roles[i].sum >= 0;
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

/* oneDNN and the backend choose instructions once per process. */
int main(void)
{
    static const char *const isa[][2] = {
        {"portable", "AVX2"}, {"avx2", "AVX2"}, {"avx512", "AVX512_CORE"}};
    const struct CMUnitTest tests[] = {cmocka_unit_test(fused_batch_norms)};
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

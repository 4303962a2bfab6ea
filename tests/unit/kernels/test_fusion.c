/* SPDX-License-Identifier: Apache-2.0
 *
 * What the CPU fuses does not change a bit of the gradients, on any instruction set: a tap on a
 * node prevents its fusion. */
#include "kernels/roles.h"
#include "tests/unit/kernels/device.h"

#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TAPS = 16, BLOCKS = 2 };

/* Two residual blocks, the first with a batch norm on either path. */
static struct mc_graph *residual_net(float huber)
{
    const struct mc_conv_opts wide = {.kernel = 3, .pad = 1};
    struct mc_graph *g = mc_graph_new("residual", 3, 9, 9, 4, MEAN, STD);
    int x = mc_graph_conv(g, NULL, 0, 20, wide);

    for (int block = 0; block < BLOCKS; block++) {
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

/* The gradients of the parameters and the number of additions that batch norms compute. */
static float *gradient(struct fixture *f, struct mc_plan_opts o, int *fused)
{
    o.backward = 1;
    struct mc_role *roles = mc_roles_new(f->g, &o);
    struct mc_plan *p = plan(f->g, o);

    assert_non_null(roles);
    *fused = 0;
    for (int i = 0; i < f->g->n_nodes; i++)
        *fused += roles[i].sum >= 0;
    free(roles);
    forward(f, p, MC_MODE_BATCH);
    be->backward(p, f->d_params, f->d_grad);
    return host_copy(f->d_grad, f->g->P);
}

static void compare(float huber, int valid)
{
    struct mc_tap_request taps[MAX_TAPS];
    struct fixture f;
    int32_t samples[B];
    size_t n = 0;
    int with, without;

    setup(&f, residual_net(huber), 0);
    set_order(&f, valid, samples);
    for (int i = 0; i < f.g->n_nodes; i++)
        if (f.g->nodes[i].op == MC_OP_BATCHNORM)
            taps[n++] = (struct mc_tap_request){.node = i, .count = 8};
    const float *fused = gradient(&f, (struct mc_plan_opts){0}, &with);
    const float *plain = gradient(&f, (struct mc_plan_opts){.taps = taps, .n_taps = n}, &without);
    assert_true(with == BLOCKS && without == 0);
    assert_memory_equal(fused, plain, f.g->P * sizeof *fused);
    teardown(&f);
}

static void batch_norms_with_additions(void **state)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(batch_norms_with_additions)};
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

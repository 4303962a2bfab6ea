/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of resnet20, googlenet, their blocks and zero-padded shortcuts agree with PyTorch's to
 * 1e-4 (googlenet 1e-3; with means instead of maxima 2e-4), and so do the numbers of parameters. */
#include "libcommon/nets/build.h"
#include "tests/parity/digests.h"

static void block(struct mc_graph *g, int out, int stride)
{
    const int stem = unit_of(g, "stem", 0, 16, 3);
    int skip = stem, x = conv(g, "block.conv1", stem, out, 3, stride);

    x = mc_graph_batchnorm(g, "block.bn1", x, 1e-5f);
    x = mc_graph_relu(g, NULL, x);
    x = conv(g, "block.conv2", x, out, 3, 1);
    x = mc_graph_batchnorm(g, "block.bn2", x, 1e-5f);
    if (stride > 1) {
        skip = conv(g, "block.downsample.0", stem, out, 1, stride);
        skip = mc_graph_batchnorm(g, "block.downsample.1", skip, 1e-5f);
    }
    x = mc_graph_add(g, NULL, (int[]){x, skip}, 2);
    ending(g, mc_graph_relu(g, NULL, x));
}

static void basic_block(struct mc_graph *g)
{
    block(g, 16, 1);
}

static void projection_block(struct mc_graph *g)
{
    block(g, 24, 2);
}

static void inception_block(struct mc_graph *g)
{
    const int x = unit_of(g, "stem", 0, 24, 3);
    int b[4];

    b[0] = unit_of(g, "block.branch1", x, 16, 1);
    b[1] = unit_of(g, "block.branch2.0", x, 12, 1);
    b[1] = unit_of(g, "block.branch2.1", b[1], 20, 3);
    b[2] = unit_of(g, "block.branch3.0", x, 8, 1);
    b[2] = unit_of(g, "block.branch3.1", b[2], 16, 3);
    b[3] = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, x, 3, 1, 1, 0);
    b[3] = unit_of(g, "block.branch4.1", b[3], 24, 1);
    ending(g, mc_graph_concat(g, NULL, b, 4));
}

static void auxiliary_head(struct mc_graph *g)
{
    const int stem = unit_of(g, "stem", 0, 24, 3);
    int x = mc_graph_adaptpool(g, NULL, stem, 4, 4);

    x = unit_of(g, "aux.conv", x, 128, 1);
    x = mc_graph_flatten(g, NULL, x);
    x = mc_graph_linear(g, "aux.fc1", x, 40, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    x = mc_graph_relu(g, NULL, x);
    x = mc_graph_linear(g, "aux.fc2", x, g->classes, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, "aux.loss", x, .3f, 1);
    ending(g, stem);
}

static void max_pool_ceil(struct mc_graph *g)
{
    int x = unit_of(g, "stem", 0, 24, 3);

    x = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, x, 3, 2, 0, 1);
    x = unit_of(g, "middle", x, 16, 3);
    x = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, x, 3, 2, 1, 1);
    x = unit_of(g, "last", x, 32, 1);
    ending(g, mc_graph_pool(g, NULL, MC_OP_MAXPOOL, x, 2, 2, 0, 1));
}

/* Zero-padded shortcuts (option A), tanh, leaky ReLU, padding that counts in an average. */
static void padded(struct mc_graph *g)
{
    static const int around[2][3] = {{0, 0, 1}, {0, 1, 2}}, one[3] = {0, 1, 1};
    int x =
        mc_graph_conv(g, "stem", 0, 12, (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});

    x = mc_graph_pad(g, NULL, mc_graph_plain(g, NULL, MC_OP_TANH, x), around[0], around[1]);
    x = mc_graph_pool(g, NULL, MC_OP_AVGPOOL, mc_graph_pad(g, NULL, x, one, one), 3, 1, 0, 0);
    for (int i = 0; i < 2; i++) {
        const char path[] = {(char)('a' + i), 0};
        const int c = g->nodes[x].c, zeros[] = {c / 2, 0, 0};
        int y = conv(g, named(path, "conv1"), x, 2 * c, 3, 2);
        y = mc_graph_batchnorm(g, named(path, "bn1"), y, 1e-5f);
        y = conv(g, named(path, "conv2"), mc_graph_activation(g, NULL, MC_OP_LEAKYRELU, y, .2f),
                 2 * c, 3, 1);
        y = mc_graph_batchnorm(g, named(path, "bn2"), y, 1e-5f);
        x = mc_graph_pad(g, NULL, mc_graph_pool(g, NULL, MC_OP_AVGPOOL, x, 1, 2, 0, 0), zeros,
                         zeros);
        x = mc_graph_activation(g, NULL, MC_OP_LEAKYRELU, mc_graph_add(g, NULL, (int[]){y, x}, 2),
                                .2f);
    }
    ending(g, x);
}

/* googlenet with means instead of max pooling, whose kinks Huber's activation does not remove. */
static void googlenet_means(struct mc_graph *g)
{
    struct mc_error err = {0};
    int pools = 0;

    ok(mc_net_googlenet(g, NULL, &err), &err);
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == MC_OP_MAXPOOL) {
            g->nodes[i].op = MC_OP_AVGPOOL;
            pools++;
        }
    assert_int_equal(pools, 2 + 9);
}

static const struct test_case CASES[] = {
    {"basic_block", basic_block, 8, 13, 10, 5, 1e-4, 0},
    {"projection_block", projection_block, 8, 13, 10, 5, 1e-4, 0},
    {"inception_block", inception_block, 8, 11, 10, 5, 1e-4, 0},
    {"auxiliary_head", auxiliary_head, 8, 9, 10, 5, 1e-4, 0},
    {"max_pool_ceil", max_pool_ceil, 8, 18, 10, 5, 1e-4, 0},
    {"padded", padded, 8, 13, 10, 5, 1e-4, 0},
    {"resnet20", NULL, 16, 32, 10, 5, 1e-4, 0},
    {"googlenet", NULL, 2, 32, 100, 3, 1e-3, 1},
    {"googlenet_means", googlenet_means, 2, 32, 100, 3, 2e-4, 0},
};

/* The number of parameters that only the training-only loss heads need. */
static size_t only_while_training(const struct mc_graph *g)
{
    char *used = room((size_t)g->n_nodes, 1);
    size_t n = 0;

    for (int i = g->n_nodes - 1; i >= 0; i--) {
        used[i] |= g->nodes[i].op == MC_OP_LOSS && !g->nodes[i].train_only;
        for (int k = 0; used[i] && k < g->nodes[i].n_in; k++)
            used[g->nodes[i].in[k]] = 1;
    }
    for (size_t t = 0; t < g->n_params; t++)
        n += used[g->params[t].node] ? 0 : g->params[t].count;
    return n;
}

static void numbers_of_parameters(void **state)
{
    (void)state;
    size_t checked = 0;

    for (size_t i = 0; i < golden.n; i++) {
        const int64_t *want = golden.data[i];
        char name[32];
        int classes;
        size_t n = 0;
        if (sscanf(golden.tensors[i].name, "count/%31[^:]:%d", name, &classes) != 2)
            continue;
        struct mc_graph *g = net(name, classes);
        for (size_t t = 0; t < g->n_params; t++)
            n += g->params[t].count;
        if (n != (size_t)want[0] || n - only_while_training(g) != (size_t)want[1])
            fail_msg("%s: %zu, %zu of them for training only", name, n, only_while_training(g));
        mc_graph_free(g);
        checked++;
    }
    assert_int_equal(checked, 8);
}

int main(void)
{
    enum { N = sizeof CASES / sizeof *CASES };
    struct CMUnitTest tests[1 + 2 * N] = {cmocka_unit_test(numbers_of_parameters)};
    char names[2 * N][64];

    enter_cases(CASES, N, tests + 1, names);
    return cmocka_run_group_tests(tests, start_with_golden, stop);
}

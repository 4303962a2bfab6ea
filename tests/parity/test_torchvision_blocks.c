/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of blocks of torchvision's later networks agree with PyTorch's to 1e-4. */
#include "tests/parity/digests.h"

#define NONE MC_N_OPS

/* Convolution, batch norm; and an activation. */
static int cba(struct mc_graph *g, const char *path, int in, int out, int kernel, enum mc_op op,
               int stride, int groups)
{
    int x =
        mc_graph_conv(g, named(path, "0"), in, out,
                      (struct mc_conv_opts){
                          .kernel = kernel, .stride = stride, .pad = kernel / 2, .groups = groups});
    x = mc_graph_batchnorm(g, named(path, "1"), x, 1e-5f);
    return op == NONE ? x : mc_graph_plain(g, NULL, op, x);
}

/* conv of kernel 1, with a bias */
static int dense(struct mc_graph *g, const char *name, int in, int out)
{
    return mc_graph_conv(g, name, in, out, (struct mc_conv_opts){.bias = 1});
}

struct squeeze {
    int hidden; /* 0: none */
    enum mc_op op, gate;
};

static int squeeze(struct mc_graph *g, const char *path, int in, struct squeeze s)
{
    char fc1[64], fc2[64];
    int x;

    if (!s.hidden)
        return in;
    snprintf(fc1, sizeof fc1, "%s.se.fc1", path);
    snprintf(fc2, sizeof fc2, "%s.se.fc2", path);
    x = mc_graph_plain(g, NULL, s.op, dense(g, fc1, mc_graph_globalpool(g, NULL, in), s.hidden));
    x = mc_graph_plain(g, NULL, s.gate, dense(g, fc2, x, g->nodes[in].c));
    return mc_graph_mul(g, NULL, in, x);
}

static int inverted(struct mc_graph *g, const char *path, int in, int wide, int out, int kernel,
                    enum mc_op op, int stride, struct squeeze s)
{
    char at[3][64];
    int x;

    for (int i = 0; i < 3; i++)
        snprintf(at[i], sizeof at[i], "%s.%s", path,
                 (const char *const[]){"expand", "deep", "project"}[i]);
    x = cba(g, at[0], in, wide, 1, op, 1, 1);
    x = cba(g, at[1], x, wide, kernel, op, stride, wide);
    x = cba(g, at[2], squeeze(g, path, x, s), out, 1, NONE, 1, 1);
    return stride == 1 && out == g->nodes[in].c ? mc_graph_add(g, NULL, (int[]){x, in}, 2) : x;
}

static int bottleneck(struct mc_graph *g, const char *path, int in, int out, int groups, int stride,
                      struct squeeze s)
{
    char at[4][64];
    int x, skip = in;

    for (int i = 0; i < 4; i++)
        snprintf(at[i], sizeof at[i], "%s.%s", path,
                 (const char *const[]){"a", "b", "c", "proj"}[i]);
    x = cba(g, at[0], in, out, 1, MC_OP_RELU, 1, 1);
    x = cba(g, at[1], x, out, 3, MC_OP_RELU, stride, groups);
    x = cba(g, at[2], squeeze(g, path, x, s), out, 1, NONE, 1, 1);
    if (stride > 1 || out != g->nodes[in].c)
        skip = cba(g, at[3], in, out, 1, NONE, stride, 1);
    return mc_graph_relu(g, NULL, mc_graph_add(g, NULL, (int[]){x, skip}, 2));
}

static int convnext_block(struct mc_graph *g, const char *path, int in)
{
    const int c = g->nodes[in].c;
    int x = mc_graph_conv(g, named(path, "dw"), in, c,
                          (struct mc_conv_opts){.kernel = 7, .pad = 3, .groups = c, .bias = 1});

    x = mc_graph_layernorm(g, named(path, "norm"), x, 1e-6f);
    x = mc_graph_plain(g, NULL, MC_OP_GELU, dense(g, named(path, "up"), x, 4 * c));
    x = mc_graph_plain(g, named(path, "layer_scale"), MC_OP_SCALE,
                       dense(g, named(path, "down"), x, c));
    return mc_graph_add(g, NULL, (int[]){in, x}, 2);
}

static void mobilenet_v2(struct mc_graph *g)
{
    const struct squeeze none = {0};
    int x = cba(g, "stem", 0, 8, 3, MC_OP_RELU6, 2, 1);

    x = inverted(g, "a", x, 24, 6, 3, MC_OP_RELU6, 1, none);
    x = inverted(g, "b", x, 36, 6, 3, MC_OP_RELU6, 1, none);
    ending(g, inverted(g, "c", x, 36, 16, 3, MC_OP_RELU6, 2, none));
}

static void mobilenet_v3(struct mc_graph *g)
{
    int x = cba(g, "stem", 0, 4, 3, MC_OP_HARDSWISH, 2, 1);

    x = inverted(g, "a", x, 16, 10, 5, MC_OP_HARDSWISH, 1,
                 (struct squeeze){8, MC_OP_RELU, MC_OP_HARDSIGMOID});
    x = inverted(g, "b", x, 40, 10, 5, MC_OP_HARDSWISH, 1,
                 (struct squeeze){10, MC_OP_RELU, MC_OP_HARDSIGMOID});
    ending(g, cba(g, "last", x, 30, 1, MC_OP_HARDSWISH, 1, 1));
}

static void efficientnet(struct mc_graph *g)
{
    const struct squeeze s = {2, MC_OP_SILU, MC_OP_SIGMOID};
    int x = cba(g, "stem", 0, 8, 3, MC_OP_SILU, 2, 1);

    x = inverted(g, "a", x, 24, 6, 3, MC_OP_SILU, 1, s);
    x = inverted(g, "b", x, 36, 6, 3, MC_OP_SILU, 1, s);
    ending(g, inverted(g, "c", x, 36, 10, 5, MC_OP_SILU, 2, s));
}

static void convnext(struct mc_graph *g)
{
    int x = mc_graph_conv(g, "stem.0", 0, 24,
                          (struct mc_conv_opts){.kernel = 4, .stride = 4, .bias = 1});

    x = mc_graph_layernorm(g, "stem.1", x, 1e-6f);
    x = convnext_block(g, "b", convnext_block(g, "a", x));
    x = mc_graph_layernorm(g, "down.0", x, 1e-6f);
    x = mc_graph_conv(g, "down.1", x, 48,
                      (struct mc_conv_opts){.kernel = 2, .stride = 2, .bias = 1});
    x = mc_graph_globalpool(g, NULL, convnext_block(g, "c", x));
    ending(g, mc_graph_layernorm(g, "norm", x, 1e-6f));
}

static void resnext(struct mc_graph *g)
{
    const struct squeeze none = {0};
    int x = cba(g, "stem", 0, 16, 3, MC_OP_RELU, 1, 1);

    x = bottleneck(g, "b", bottleneck(g, "a", x, 32, 8, 1, none), 32, 8, 1, none);
    ending(g, bottleneck(g, "c", x, 64, 8, 2, none));
}

static void regnet_y(struct mc_graph *g)
{
    int x = cba(g, "stem", 0, 8, 3, MC_OP_RELU, 2, 1);

    x = bottleneck(g, "a", x, 24, 3, 1, (struct squeeze){2, MC_OP_RELU, MC_OP_SIGMOID});
    ending(g, bottleneck(g, "b", x, 52, 13, 2, (struct squeeze){6, MC_OP_RELU, MC_OP_SIGMOID}));
}

/* Batch norm, ReLU, convolution: PATH.normN, PATH.convN. */
static int preactivated(struct mc_graph *g, const char *path, const char *n, int in, int out,
                        int kernel)
{
    char norm[16], name[16];

    snprintf(norm, sizeof norm, "norm%s", n);
    snprintf(name, sizeof name, "conv%s", n);
    in = mc_graph_relu(g, NULL, mc_graph_batchnorm(g, named(path, norm), in, 1e-5f));
    return conv(g, named(path, name), in, out, kernel, 1);
}

static void densenet(struct mc_graph *g)
{
    int all[5] = {cba(g, "stem", 0, 16, 3, MC_OP_RELU, 1, 1)}, x;

    for (int i = 0; i < 4; i++) {
        const char path[] = {'l', (char)('0' + i), 0};
        x = preactivated(g, path, "1", mc_graph_concat(g, NULL, all, i + 1), 32, 1);
        all[i + 1] = preactivated(g, path, "2", x, 8, 3);
    }
    x = preactivated(g, "down", "", mc_graph_concat(g, NULL, all, 5), 24, 1);
    x = mc_graph_pool(g, NULL, MC_OP_AVGPOOL, x, 2, 2, 0, 0);
    ending(g, mc_graph_relu(g, NULL, mc_graph_batchnorm(g, "norm", x, 1e-5f)));
}

static const struct test_case CASES[] = {
    {"mobilenet_v2", mobilenet_v2, 8, 10, 10, 5, 1e-4, 0},
    {"mobilenet_v3", mobilenet_v3, 8, 10, 10, 5, 1e-4, 0},
    {"efficientnet", efficientnet, 8, 12, 10, 5, 1e-4, 0},
    {"convnext", convnext, 8, 24, 10, 5, 1e-4, 0},
    {"resnext", resnext, 8, 12, 10, 5, 1e-4, 0},
    {"regnet_y", regnet_y, 8, 12, 10, 5, 1e-4, 0},
    {"densenet", densenet, 8, 12, 10, 5, 1e-4, 0},
};

int main(void)
{
    enum { N = sizeof CASES / sizeof *CASES };
    struct CMUnitTest tests[2 * N];
    char names[2 * N][64];

    enter_cases(CASES, N, tests, names);
    return cmocka_run_group_tests(tests, start_with_golden, stop);
}

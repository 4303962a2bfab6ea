/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: shapes, layout and initial weights. */
#include "tests/unit/libcommon/graph/graphs.h"

static const struct mc_param *param(const struct mc_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_params; i++)
        if (!strcmp(g->params[i].tensor.name, name))
            return &g->params[i];
    for (size_t i = 0; i < g->n_stats; i++)
        if (!strcmp(g->stats[i].tensor.name, name))
            return &g->stats[i];
    fail_msg("no tensor %s", name);
    return NULL;
}

TEST(tinyten_matches_the_paper)
{
    struct mc_graph *g = build("tinyten", &CIFAR);
    const struct mc_param *p = NULL;
    struct mc_net_spec wide = CIFAR;

    assert_int_equal(mc_graph_count(g), 86778);
    assert_int_equal(g->n_params, 8 * 4 + 2);
    assert_int_equal(g->n_stats, 8 * 2);
    assert_string_equal(g->params[0].tensor.name, "layers.0.conv.weight");
    assert_string_equal(g->params[3].tensor.name, "layers.0.bn.bias");
    assert_string_equal(g->params[33].tensor.name, "dense.bias");
    assert_string_equal(g->stats[15].tensor.name, "layers.7.bn.running_var");
    p = param(g, "layers.2.conv.weight");
    assert_int_equal(p->tensor.ndim, 4);
    assert_int_equal(p->tensor.shape[0], 32);
    assert_int_equal(p->tensor.shape[1], 16);
    assert_int_equal(p->fan_in, 16 * 9);
    assert_int_equal(p->fan_out, 32 * 9);
    assert_int_equal(g->nodes[mc_graph_find(g, "layers.5.relu")].h, 8);
    assert_int_equal(g->nodes[mc_graph_find(g, "layers.7.relu")].w, 6);
    assert_string_equal(g->nodes[g->logits].name, "dense");
    assert_true(g->nodes[mc_graph_find(g, "layers.5.bn")].eps == 1e-5f);
    /* computed by hand: multiply-adds of the convolutions and the dense layer */
    assert_true(mc_graph_flops(g) ==
                2. * (1024 * (27. * 16 + 144 * 16) + 256 * (144. * 32 + 2 * 288 * 32) +
                      64 * 288. * 64 + 36 * (576. * 64 + 64 * 64) + 640));
    mc_graph_free(g);
    wide.height = wide.width = 64;
    wide.classes = 200;
    g = build("tinyten", &wide);
    assert_int_equal(mc_graph_count(g), 86778 + 190 * 65);
    assert_int_equal(g->nodes[mc_graph_find(g, "layers.7.relu")].w, 14);
    mc_graph_free(g);
}

TEST(mlp_has_the_given_widths)
{
    struct mc_graph *g = build("mlp", &CIFAR);

    assert_int_equal(mc_graph_count(g), 3072 * 512 + 512 + 512 * 512 + 512 + 5120 + 10);
    assert_int_equal(g->n_stats, 0);
    mc_graph_free(g);
    g = build("mlp:bn,20,7", &CIFAR);
    assert_int_equal(mc_graph_count(g), 3072 * 20 + 60 + 140 + 21 + 70 + 10);
    assert_int_equal(param(g, "layers.1.bn.running_mean")->count, 7);
    mc_graph_free(g);
    g = build("mlp:bn", &CIFAR);
    assert_int_equal(g->n_params, 2 * 4 + 2);
    mc_graph_free(g);
}

TEST(unknown_networks_are_usage_errors)
{
    static const char *const bad[] = {"no-such-net",
                                      "",
                                      "tiny",
                                      "tinyten:3",
                                      "mlp:",
                                      "mlp:0",
                                      "mlp:5,",
                                      "mlp:bn,",
                                      "mlp:5x",
                                      "mlp:-5",
                                      "mlp: 5",
                                      "mlp:70000",
                                      "mlp:99999999999999999999"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mc_graph *g = NULL;
        must_fail(mc_net_build(&g, bad[i], &CIFAR, &why), MC_EUSAGE, "");
        assert_null(g);
    }
}

TEST(layout_is_aligned_and_disjoint)
{
    struct mc_graph *g = build("mlp:bn,33,5", &CIFAR);
    size_t end = 0;

    for (size_t i = 0; i < g->n_params; i++) {
        const struct mc_param *p = &g->params[i];
        assert_int_equal(p->offset % 16, 0);
        assert_true(p->offset >= end && p->offset < end + 16);
        assert_int_equal(p->count, mc_tensor_bytes(&p->tensor) / 4);
        end = p->offset + p->count;
    }
    assert_int_equal(g->P, (end + 15) / 16 * 16);
    assert_int_equal(g->nodes[mc_graph_find(g, "layers.1.bn")].running_var.offset,
                     param(g, "layers.1.bn.running_var")->offset);
    mc_graph_free(g);
}

/* PyTorch's window counts; the last column is MaxPool2d's. */
TEST(pooling_shapes_match_pytorch)
{
    static const struct {
        int in, kernel, stride, pad, ceil, out;
    } cases[] = {{32, 3, 2, 0, 1, 16}, {32, 3, 2, 0, 0, 15}, {16, 3, 2, 0, 1, 8},
                 {8, 3, 1, 1, 0, 8},   {5, 2, 2, 1, 1, 3},   {5, 2, 2, 0, 1, 3},
                 {5, 2, 2, 0, 0, 2},   {4, 2, 3, 1, 1, 2},   {7, 1, 3, 0, 1, 3}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mc_graph *g = mc_graph_new("t", 3, cases[i].in, cases[i].in, 2, NULL, NULL);
        int p = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, 0, cases[i].kernel, cases[i].stride,
                              cases[i].pad, cases[i].ceil);
        assert_true(p > 0);
        assert_int_equal(g->nodes[p].h, cases[i].out);
        mc_graph_free(g);
    }
}

TEST(train_only_heads_are_not_computed_in_evaluation)
{
    struct mc_graph *g = zoo();
    unsigned char needed[64];

    finish(g);
    assert_true(g->n_nodes < 64);
    mc_graph_needed(g, 1, needed);
    for (int i = 0; i < g->n_nodes; i++)
        assert_int_equal(needed[i], 1);
    mc_graph_needed(g, 0, needed);
    for (int i = 0; i < g->n_nodes; i++) {
        const char *n = g->nodes[i].name;
        assert_int_equal(needed[i], strcmp(n, "aux") && strcmp(n, "auxl") && strcmp(n, "f") &&
                                        strcmp(n, "ap"));
    }
    /* at 16x12: a with 27 by 8, b with 2 groups of 4 by 4; then the head */
    assert_true(mc_graph_flops(g) == 2. * (192 * (27 * 8 + 32) + 125));
    mc_graph_free(g);
}

TEST(builder_errors_are_kept)
{
    struct mc_graph *g = mc_graph_new("t", 3, 8, 8, 10, NULL, NULL);
    int a = mc_graph_conv(g, "wide", 0, 8, (struct mc_conv_opts){.kernel = 9});

    assert_int_equal(a, -1);
    assert_int_equal(mc_graph_relu(g, NULL, a), -1);
    mc_graph_loss(g, NULL, 0, 1, 0);
    must_fail(mc_graph_finish(g, &why), MC_EINPUT, "\"wide\"");
    mc_graph_free(g);

    g = mc_graph_new("t", 3, 1, 1, 10, NULL, NULL);
    a = mc_graph_linear(g, "l", 0, 10, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_linear(g, "idle", 0, 10, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, "loss", a, 1, 0);
    must_fail(mc_graph_finish(g, &why), MC_EINPUT, "\"idle\":*not lead*loss");
    mc_graph_free(g);

    g = mc_graph_new("t", 3, 1, 1, 10, NULL, NULL);
    a = mc_graph_linear(g, "l", 0, 1 << 24, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    a = mc_graph_linear(g, "m", a, 1 << 24, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    a = mc_graph_linear(g, "n", a, 10, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, "loss", a, 1, 0);
    must_fail(mc_graph_finish(g, &why), MC_EINPUT, "\"m\": weight*too large");
    mc_graph_free(g);

    g = mc_graph_new("t", 3, 1, 1, 10, NULL, NULL);
    a = mc_graph_linear(g, "l", 0, 10, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    a = mc_graph_batchnorm(g, "bn", a, 0);
    mc_graph_loss(g, "loss", a, 1, 0);
    must_fail(mc_graph_finish(g, &why), MC_EINPUT, "\"bn\": \"eps\"*number over 0 (got 0)");
    mc_graph_free(g);

    g = mc_graph_new("t", 3, 8, 8, 10, NULL, NULL);
    a = mc_graph_pad(g, "p", 0, (const int[]){0, 0, 8184}, (const int[]){1, 2, 0});
    assert_true(g->nodes[a].c == 4 && g->nodes[a].h == 10 && g->nodes[a].w == 8192);
    assert_int_equal(mc_graph_pad(g, "q", a, (const int[]){0, 0, 0}, (const int[]){0, 0, 1}), -1);
    must_fail(mc_graph_finish(g, &why), MC_EINPUT, "\"q\": output*empty*too large");
    mc_graph_free(g);

    /* the limit of values per image, and one more row */
    g = mc_graph_new("t", 1, 2048, 2048, 10, NULL, NULL);
    assert_true(mc_graph_dropout(g, "d", 0, .5f) > 0);
    mc_graph_free(g);
    g = mc_graph_new("t", 1, 2048, 2049, 10, NULL, NULL);
    assert_int_equal(mc_graph_dropout(g, "d", 0, .5f), -1);
    must_fail(mc_graph_finish(g, &why), MC_EINPUT, "\"d\": dropout*more*4194304 values per image");
    mc_graph_free(g);
}

/* ---- initial weights ------------------------------------------------------------------------ */

struct spread {
    double mean, sigma, max;
};

static struct spread spread(const struct mc_param *p, const float *v)
{
    struct spread s = {0};
    double squares = 0;

    for (size_t i = 0; i < p->count; i++) {
        double x = (double)v[p->offset + i];
        s.mean += x / (double)p->count;
        squares += x * x / (double)p->count;
        s.max = fmax(s.max, fabs(x));
    }
    s.sigma = sqrt(squares - s.mean * s.mean);
    return s;
}

TEST(initial_weights_have_their_distributions)
{
    struct mc_graph *g = mc_graph_new("t", 3, 8, 8, 10, NULL, NULL);
    struct mc_conv_opts o = {.kernel = 3, .pad = 1, .bias = 1, .bias_init = MC_INIT_UNIFORM_FAN_IN};
    const enum mc_init inits[4] = {MC_INIT_XAVIER_NORMAL, MC_INIT_KAIMING_NORMAL_OUT,
                                   MC_INIT_UNIFORM_FAN_IN, MC_INIT_TRUNCATED_NORMAL_01};
    /* 64 to 128 channels; a normal truncated at 2 sigma keeps .8796 of its deviation */
    const double sigma[4] = {sqrt(2 / (576. + 1152)), sqrt(2 / 1152.), 1 / sqrt(3 * 576.), .008796};
    const double bound[4] = {1, 1, 1 / sqrt(576.), .02};
    float *a = NULL, *b = NULL, *stats = NULL;
    int x = mc_graph_conv(g, "in", 0, 64, o);
    struct spread bias;

    for (int i = 0; i < 4; i++) {
        char name[8] = {(char)('a' + i), 0};
        o.init = inits[i];
        mc_graph_conv(g, name, x, 128, o);
    }
    x = mc_graph_concat(g, NULL, (int[]){2, 3, 4, 5}, 4);
    x = mc_graph_globalpool(g, NULL, mc_graph_batchnorm(g, "bn", x, 1));
    x = mc_graph_linear(g, "head", x, 10, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, x, 1, 0);
    finish(g);
    a = malloc(g->P * sizeof *a);
    b = malloc(g->P * sizeof *b);
    stats = malloc(g->S * sizeof *stats);
    assert_true(a && b && stats);
    memset(a, 0xff, g->P * sizeof *a);
    mc_graph_init(g, 5, a, stats);
    mc_graph_init(g, 5, b, stats);
    assert_memory_equal(a, b, g->P * sizeof *a); /* gaps too */
    for (int i = 0; i < 4; i++) {
        char name[] = {(char)('a' + i), '.', 'w', 'e', 'i', 'g', 'h', 't', 0};
        struct spread s = spread(param(g, name), a);
        assert_true(fabs(s.mean) < 5 * sigma[i] / sqrt(73728));
        assert_true(fabs(s.sigma / sigma[i] - 1) < .012);
        assert_true(s.max <= bound[i] && s.max > 1.7 * s.sigma); /* the uniform has 1.73 */
    }
    bias = spread(param(g, "b.bias"), a);
    assert_true(bias.max <= 1 / sqrt(576.) && bias.max > .9 / sqrt(576.));
    for (size_t i = 0; i < 512; i++) {
        assert_true(a[param(g, "bn.weight")->offset + i] == 1);
        assert_true(a[param(g, "bn.bias")->offset + i] == 0);
        assert_true(stats[param(g, "bn.running_mean")->offset + i] == 0);
        assert_true(stats[param(g, "bn.running_var")->offset + i] == 1);
    }
    mc_graph_init(g, 6, b, stats);
    assert_memory_not_equal(a, b, g->P * sizeof *a);
    free(a);
    free(b);
    free(stats);
    mc_graph_free(g);
}

int main(void)
{
    return run_entered(NULL, NULL);
}

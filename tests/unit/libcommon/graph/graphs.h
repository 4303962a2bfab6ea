/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs for tests: a builder's, and one with every kind of node. Header only. */
#ifndef MC_TEST_GRAPHS_H
#define MC_TEST_GRAPHS_H

#include "libcommon/graph/graph.h"
#include "libcommon/nets/nets.h"
#include "tests/unit/builders.h"
#include "tests/unit/must.h"

static const struct mc_net_spec CIFAR = {
    3, 32, 32, 10, {.4914f, .4822f, .4465f}, {.247f, .243f, .261f}};

static inline struct mc_graph *build(const char *name, const struct mc_net_spec *spec)
{
    struct mc_graph *g = NULL;

    must(mc_net_build(&g, name, spec, &why));
    return g;
}

/* A graph with every kind of node. */
static inline struct mc_graph *zoo(void)
{
    static const float mean[] = {.1f, .2f, 1 / 3.f}, std[] = {.25f, 1, 1e-3f};
    struct mc_graph *g = mc_graph_new("zoo", 3, 16, 12, 5, mean, std);
    int a = mc_graph_conv(g, "a", 0, 8, (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});
    int r = mc_graph_relu(g, "a.relu", mc_graph_batchnorm(g, "a.bn", a, 1e-3f));
    int b = mc_graph_conv(g, "b", r, 8,
                          (struct mc_conv_opts){.groups = 2, .init = MC_INIT_KAIMING_NORMAL_OUT});
    int s = mc_graph_add(g, "sum", (int[]){r, b}, 2);
    int m = mc_graph_pool(g, "m", MC_OP_MAXPOOL, s, 3, 2, 1, 1);
    int v = mc_graph_pool(g, "v", MC_OP_AVGPOOL, s, 3, 2, 1, 1);
    int c = mc_graph_concat(g, "c", (int[]){m, v, m}, 3);
    int f = mc_graph_flatten(g, "f", mc_graph_adaptpool(g, "ap", c, 2, 3));
    int e = mc_graph_plain(
        g, "sc", MC_OP_SCALE,
        mc_graph_layernorm(g, "ln", mc_graph_groupnorm(g, "gn", c, 6, 1e-5f), 1e-6f));

    e = mc_graph_mul(g, "mu", e, mc_graph_globalpool(g, "se", e));
#define EACH(NAME, name, ...) e = mc_graph_activation(g, #name, MC_OP_##NAME, e, .2f);
    MC_EACH_ACTIVATION(EACH)
    e = mc_graph_pad(g, "pad", e, (const int[]){1, 0, 2}, (const int[]){0, 3, 1});
    e = mc_graph_concat(g, "one", &e, 1);
    int d = mc_graph_dropout(g, "d", mc_graph_globalpool(g, "gp", e), .2f);
    int aux =
        mc_graph_linear(g, "auxl", f, 5, 1, MC_INIT_TRUNCATED_NORMAL_01, MC_INIT_UNIFORM_FAN_IN);
    int head = mc_graph_linear(g, "head", d, 5, 0, MC_INIT_UNIFORM_FAN_IN, MC_INIT_ZERO);

    mc_graph_loss(g, "aux", aux, .3f, 1);
    mc_graph_loss(g, "loss", head, 1, 0);
    return g;
}

static inline void finish(struct mc_graph *g)
{
    must(mc_graph_finish(g, &why));
}

#endif

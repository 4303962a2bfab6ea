/* SPDX-License-Identifier: Apache-2.0
 *
 * TinyTen of Tatro et al. */
#include "libcommon/nets/build.h"

#include <stdio.h>
#include <string.h>

int mc_net_tinyten(struct mc_graph *g, const char *args, struct mc_error *err)
{
    static const struct {
        int out, kernel, stride, pad;
    } units[] = {{16, 3, 1, 1}, {16, 3, 1, 1}, {32, 3, 2, 1}, {32, 3, 1, 1},
                 {32, 3, 1, 1}, {64, 3, 2, 1}, {64, 3, 1, 0}, {64, 1, 1, 0}};
    int x = 0;

    const int dropout = args && !strcmp(args, "dropout");

    if (args && !dropout)
        return mc_fail(err, MC_EUSAGE, "tinyten[:dropout] expected (got 'tinyten:%s')", args);
    for (int i = 0; i < (int)(sizeof units / sizeof *units); i++) {
        char conv[32], bn[32], relu[32];
        snprintf(conv, sizeof conv, "layers.%d.conv", i);
        snprintf(bn, sizeof bn, "layers.%d.bn", i);
        snprintf(relu, sizeof relu, "layers.%d.relu", i);
        x = mc_graph_conv(g, conv, x, units[i].out,
                          (struct mc_conv_opts){.kernel = units[i].kernel,
                                                .stride = units[i].stride,
                                                .pad = units[i].pad,
                                                .bias = 1,
                                                .init = MC_INIT_XAVIER_NORMAL});
        x = mc_graph_batchnorm(g, bn, x, MC_NET_BN_EPS);
        x = mc_graph_relu(g, relu, x);
    }
    x = mc_graph_globalpool(g, "pool", x);
    if (dropout)
        x = mc_graph_dropout(g, "dropout", x, .2f);
    x = mc_graph_linear(g, "dense", x, g->classes, 1, MC_INIT_XAVIER_NORMAL, MC_INIT_ZERO);
    mc_graph_loss(g, "loss", x, 1, 0);
    return 0;
}

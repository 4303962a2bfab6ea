/* SPDX-License-Identifier: Apache-2.0
 *
 * Multilayer perceptrons. */
#include "libcommon/nets/build.h"

#include <stdio.h>
#include <string.h>

#define MAX_HIDDEN 64

int mc_net_mlp(struct mc_graph *g, const char *args, struct mc_error *err)
{
    const char *cursor = args ? args : "512,512";
    const int bn = !strncmp(cursor, "bn", 2) && (cursor[2] == ',' || !cursor[2]);
    int widths[MAX_HIDDEN], n = 0, x = 0;

    if (bn)
        cursor = cursor[2] ? cursor + 3 : "512,512";
    if ((n = mc_net_numbers(cursor, widths, MAX_HIDDEN)) < 0)
        return mc_fail(err, MC_EUSAGE,
                       "mlp: up to %d widths from 1 to %d expected, such as mlp:bn,512,256 "
                       "(got '%s')",
                       MAX_HIDDEN, MC_NET_MAX_WIDTH, args);
    x = mc_graph_flatten(g, "flatten", 0);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "layers.%d.linear", i);
        x = mc_graph_linear(g, name, x, widths[i], 1, MC_INIT_XAVIER_NORMAL, MC_INIT_ZERO);
        snprintf(name, sizeof name, "layers.%d.bn", i);
        if (bn)
            x = mc_graph_batchnorm(g, name, x, MC_NET_BN_EPS);
        snprintf(name, sizeof name, "layers.%d.relu", i);
        x = mc_graph_relu(g, name, x);
    }
    x = mc_graph_linear(g, "dense", x, g->classes, 1, MC_INIT_XAVIER_NORMAL, MC_INIT_ZERO);
    mc_graph_loss(g, "loss", x, 1, 0);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Multilayer perceptrons. */
#include "libcommon/nets/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HIDDEN 64

int mc_net_mlp(struct mc_graph *g, const char *args, struct mc_error *err)
{
    const char *cursor = args ? args : "512,512";
    int bn = !strncmp(cursor, "bn", 2) && (cursor[2] == ',' || !cursor[2]), n = 0, x = 0;

    if (bn)
        cursor = cursor[2] ? cursor + 3 : "512,512";
    x = mc_graph_flatten(g, "flatten", 0);
    for (;; n++) {
        char name[32], *end = NULL;
        long width = *cursor >= '0' && *cursor <= '9' ? strtol(cursor, &end, 10) : 0;
        if (!end || (*end && *end != ',') || width < 1 || width > MC_NET_MAX_WIDTH ||
            n == MAX_HIDDEN)
            return mc_fail(err, MC_EUSAGE,
                           "mlp: up to %d widths from 1 to %d expected, such as mlp:bn,512,256 "
                           "(got '%s')",
                           MAX_HIDDEN, MC_NET_MAX_WIDTH, args);
        snprintf(name, sizeof name, "layers.%d.linear", n);
        x = mc_graph_linear(g, name, x, (int)width, 1, MC_INIT_XAVIER_NORMAL, MC_INIT_ZERO);
        snprintf(name, sizeof name, "layers.%d.bn", n);
        if (bn)
            x = mc_graph_batchnorm(g, name, x, MC_NET_BN_EPS);
        snprintf(name, sizeof name, "layers.%d.relu", n);
        x = mc_graph_relu(g, name, x);
        if (!*end)
            break;
        cursor = end + 1;
    }
    x = mc_graph_linear(g, "dense", x, g->classes, 1, MC_INIT_XAVIER_NORMAL, MC_INIT_ZERO);
    mc_graph_loss(g, "loss", x, 1, 0);
    return 0;
}

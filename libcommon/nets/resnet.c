/* SPDX-License-Identifier: Apache-2.0
 *
 * Residual networks for small images: He et al., "Deep Residual Learning for Image Recognition",
 * CVPR 2016, section 4.2. As in Tatro et al., shape changes use 1x1 projections. */
#include "libcommon/nets/build.h"

#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 1166 /* keeps the graph within MC_MAX_NODES */

static int conv(struct mc_graph *g, const char *name, int in, int out, int kernel, int stride)
{
    return mc_graph_conv(g, name, in, out,
                         (struct mc_conv_opts){.kernel = kernel,
                                               .stride = stride,
                                               .pad = kernel / 2,
                                               .init = MC_INIT_KAIMING_NORMAL_OUT});
}

/* conv, batch norm, ReLU, conv, batch norm, plus the input, projected if the shape changes. */
static int basic_block(struct mc_graph *g, const char *path, int in, int out, int stride)
{
    char name[MC_MAX_NODE_NAME];
    int x = in, skip = in;
#define NAMED(suffix) (snprintf(name, sizeof name, "%s.%s", path, suffix), name)

    x = conv(g, NAMED("conv1"), x, out, 3, stride);
    x = mc_graph_batchnorm(g, NAMED("bn1"), x, MC_NET_BN_EPS);
    x = mc_graph_relu(g, NAMED("relu1"), x);
    x = conv(g, NAMED("conv2"), x, out, 3, 1);
    x = mc_graph_batchnorm(g, NAMED("bn2"), x, MC_NET_BN_EPS);
    if (in >= 0 && (stride != 1 || g->nodes[in].c != out)) {
        skip = conv(g, NAMED("downsample.0"), in, out, 1, stride);
        skip = mc_graph_batchnorm(g, NAMED("downsample.1"), skip, MC_NET_BN_EPS);
    }
    x = mc_graph_add(g, NAMED("add"), (const int[]){x, skip}, 2);
    return mc_graph_relu(g, NAMED("relu2"), x);
#undef NAMED
}

int mc_net_resnet(struct mc_graph *g, const char *args, struct mc_error *err)
{
    int size[2] = {32, 16}; /* depth, width */
    const int dropout = args && !strcmp(args, "dropout");

    if ((args && !dropout && mc_net_numbers(args, size, 2) < 0) || size[0] < 8 ||
        size[0] > MAX_DEPTH || size[0] % 6 != 2)
        return mc_fail(err, MC_EUSAGE,
                       "resnet: depth 6n+2 from 8 to %d expected, optionally with a width, such as "
                       "resnet:20,16 (got '%s')",
                       MAX_DEPTH, args);
    int x = conv(g, "conv1", 0, size[1], 3, 1);
    x = mc_graph_batchnorm(g, "bn1", x, MC_NET_BN_EPS);
    x = mc_graph_relu(g, "relu", x);
    for (int stage = 0; stage < 3; stage++)
        for (int block = 0; block < (size[0] - 2) / 6; block++) {
            char path[32];
            snprintf(path, sizeof path, "layer%d.%d", stage + 1, block);
            x = basic_block(g, path, x, size[1] << stage, stage && !block ? 2 : 1);
        }
    x = mc_graph_globalpool(g, "avgpool", x);
    if (dropout) /* for CIFAR-100, as in the authors' code */
        x = mc_graph_dropout(g, "dropout", x, .5f);
    x = mc_graph_linear(g, "fc", x, g->classes, 1, MC_INIT_UNIFORM_FAN_IN, MC_INIT_UNIFORM_FAN_IN);
    mc_graph_loss(g, "loss", x, 1, 0);
    return 0;
}

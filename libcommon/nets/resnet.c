/* SPDX-License-Identifier: Apache-2.0
 *
 * Residual networks for small images: He et al., "Deep Residual Learning for Image Recognition",
 * CVPR 2016, section 4.2, with 1x1 projections where the shape changes, as the paper trains
 * them. */
#include "libcommon/nets/build.h"

#include <stdio.h>

#define MAX_DEPTH 1166 /* of at most MC_MAX_NODES */

static int conv(struct mc_graph *g, const char *name, int in, int out, int kernel, int stride)
{
    return mc_graph_conv(g, name, in, out,
                         (struct mc_conv_opts){.kernel = kernel,
                                               .stride = stride,
                                               .pad = kernel / 2,
                                               .init = MC_INIT_KAIMING_NORMAL_OUT});
}

/* conv, batch norm, ReLU, conv, batch norm; plus the input, projected where the shape changes. */
static int basic_block(struct mc_graph *g, const char *path, int in, int out, int stride)
{
    char name[MC_MAX_NODE_NAME];
    int x = in, skip = in;
#define NAMED(what) (snprintf(name, sizeof name, "%s.%s", path, what), name)

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
    int of[2] = {32, 16}; /* depth, width */

    if ((args && mc_net_numbers(args, of, 2) < 0) || of[0] < 8 || of[0] > MAX_DEPTH ||
        of[0] % 6 != 2)
        return mc_fail(err, MC_EUSAGE,
                       "resnet: '%s' is no depth 6n+2 from 8 to %d, or depth and width, as in "
                       "resnet:20,16",
                       args, MAX_DEPTH);
    int x = conv(g, "conv1", 0, of[1], 3, 1);
    x = mc_graph_batchnorm(g, "bn1", x, MC_NET_BN_EPS);
    x = mc_graph_relu(g, "relu", x);
    for (int stage = 0; stage < 3; stage++)
        for (int block = 0; block < (of[0] - 2) / 6; block++) {
            char path[32];
            snprintf(path, sizeof path, "layer%d.%d", stage + 1, block);
            x = basic_block(g, path, x, of[1] << stage, stage && !block ? 2 : 1);
        }
    x = mc_graph_globalpool(g, "avgpool", x);
    x = mc_graph_linear(g, "fc", x, g->classes, 1, MC_INIT_UNIFORM_FAN_IN, MC_INIT_UNIFORM_FAN_IN);
    mc_graph_loss(g, "loss", x, 1, 0);
    return 0;
}

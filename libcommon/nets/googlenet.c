/* SPDX-License-Identifier: Apache-2.0
 *
 * GoogLeNet for small images: Szegedy et al., "Going Deeper with Convolutions", CVPR 2015. It has
 * batch norm, a stem that keeps the resolution, and no pooling after stage 4. As in torchvision,
 * the branch drawn as 5x5 has a 3x3 convolution. Names and order of parameters are
 * torchvision's. */
#include "libcommon/nets/build.h"

#include <stdio.h>

#define BN_EPS 1e-3f
#define AUX_CHANNELS 128
#define AUX_UNITS 1024
#define AUX_WEIGHT .3f

/* A submodule's name: the module's path and a suffix. */
#define NAMED(suffix) (snprintf(name, sizeof name, "%s.%s", path, suffix), name)

/* Convolution, batch norm, ReLU. */
static int unit(struct mc_graph *g, const char *path, int in, int out, int kernel)
{
    char name[MC_MAX_NODE_NAME];
    int x = mc_graph_conv(g, NAMED("conv"), in, out,
                          (struct mc_conv_opts){.kernel = kernel,
                                                .pad = kernel / 2,
                                                .init = MC_INIT_TRUNCATED_NORMAL_01});
    x = mc_graph_batchnorm(g, NAMED("bn"), x, BN_EPS);
    return mc_graph_relu(g, NAMED("relu"), x);
}

/* Widths in the order of the paper's table 1: 1x1, 3x3 reduce, 3x3, 5x5 reduce, 5x5, projection. */
static int inception(struct mc_graph *g, const char *path, int in, const int w[6])
{
    char name[MC_MAX_NODE_NAME];
    int b[4];

    b[0] = unit(g, NAMED("branch1"), in, w[0], 1);
    b[1] = unit(g, NAMED("branch2.0"), in, w[1], 1);
    b[1] = unit(g, NAMED("branch2.1"), b[1], w[2], 3);
    b[2] = unit(g, NAMED("branch3.0"), in, w[3], 1);
    b[2] = unit(g, NAMED("branch3.1"), b[2], w[4], 3);
    b[3] = mc_graph_pool(g, NAMED("branch4.0"), MC_OP_MAXPOOL, in, 3, 1, 1, 0);
    b[3] = unit(g, NAMED("branch4.1"), b[3], w[5], 1);
    return mc_graph_concat(g, NAMED("concat"), b, 4);
}

static int linear(struct mc_graph *g, const char *name, int in, int out)
{
    return mc_graph_linear(g, name, in, out, 1, MC_INIT_TRUNCATED_NORMAL_01,
                           MC_INIT_UNIFORM_FAN_IN);
}

static void auxiliary(struct mc_graph *g, const char *path, int in)
{
    char name[MC_MAX_NODE_NAME];
    int x = mc_graph_adaptpool(g, NAMED("pool"), in, 4, 4);

    x = unit(g, NAMED("conv"), x, AUX_CHANNELS, 1);
    x = mc_graph_flatten(g, NAMED("flatten"), x);
    x = linear(g, NAMED("fc1"), x, AUX_UNITS);
    x = mc_graph_relu(g, NAMED("relu"), x);
    x = mc_graph_dropout(g, NAMED("dropout"), x, .7f);
    x = linear(g, NAMED("fc2"), x, g->classes);
    mc_graph_loss(g, NAMED("loss"), x, AUX_WEIGHT, 1);
}

int mc_net_googlenet(struct mc_graph *g, const char *args, struct mc_error *err)
{
    static const struct {
        const char *name;
        int w[6];
    } blocks[] = {{"inception3a", {64, 96, 128, 16, 32, 32}},
                  {"inception3b", {128, 128, 192, 32, 96, 64}},
                  {"inception4a", {192, 96, 208, 16, 48, 64}},
                  {"inception4b", {160, 112, 224, 24, 64, 64}},
                  {"inception4c", {128, 128, 256, 24, 64, 64}},
                  {"inception4d", {112, 144, 288, 32, 64, 64}},
                  {"inception4e", {256, 160, 320, 32, 128, 128}},
                  {"inception5a", {256, 160, 320, 32, 128, 128}},
                  {"inception5b", {384, 192, 384, 48, 128, 128}}};
    enum { FIRST_OF_4 = 2, AUX1 = 2, AUX2 = 5 };
    int outputs[sizeof blocks / sizeof *blocks];

    if (args)
        return mc_fail(err, MC_EUSAGE, "googlenet accepts no arguments (got '%s')", args);
    int x = unit(g, "conv1", 0, 64, 7);
    x = unit(g, "conv2", x, 64, 1);
    x = unit(g, "conv3", x, 192, 3);
    x = mc_graph_pool(g, "maxpool2", MC_OP_MAXPOOL, x, 3, 2, 0, 1);
    for (int i = 0; i < (int)(sizeof blocks / sizeof *blocks); i++) {
        if (i == FIRST_OF_4)
            x = mc_graph_pool(g, "maxpool3", MC_OP_MAXPOOL, x, 3, 2, 0, 1);
        x = outputs[i] = inception(g, blocks[i].name, x, blocks[i].w);
    }
    /* after the blocks, so that parameters have torchvision's order */
    auxiliary(g, "aux1", outputs[AUX1]);
    auxiliary(g, "aux2", outputs[AUX2]);
    x = mc_graph_globalpool(g, "avgpool", x);
    x = mc_graph_dropout(g, "dropout", x, .2f);
    x = linear(g, "fc", x, g->classes);
    mc_graph_loss(g, "loss", x, 1, 0);
    return 0;
}

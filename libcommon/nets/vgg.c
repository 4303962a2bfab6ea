/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain deep convolutional networks: Simonyan and Zisserman, "Very Deep Convolutional Networks for
 * Large-Scale Image Recognition", ICLR 2015, table 1. For small images it has one linear layer. */
#include "libcommon/nets/build.h"

#include <stdio.h>
#include <string.h>

#define STAGES 5

int mc_net_vgg(struct mc_graph *g, const char *args, struct mc_error *err)
{
    static const struct {
        int depth, convs[STAGES];
    } kinds[] = {
        {11, {1, 1, 2, 2, 2}}, {13, {2, 2, 2, 2, 2}}, {16, {2, 2, 3, 3, 3}}, {19, {2, 2, 4, 4, 4}}};
    const char *cursor = args ? args : "16";
    int size[2] = {16, 64}; /* depth, width */
    int bn = !strncmp(cursor, "bn", 2) && (cursor[2] == ',' || !cursor[2]), x = 0, n = 0;
    const int *convs = NULL;

    if (bn)
        cursor = cursor[2] ? cursor + 3 : "16";
    if (mc_net_numbers(cursor, size, 2) > 0)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (kinds[i].depth == size[0])
                convs = kinds[i].convs;
    if (!convs)
        return mc_fail(err, MC_EUSAGE,
                       "vgg: depth 11, 13, 16 or 19 expected, optionally with a width, such as "
                       "vgg:bn,16,64 (got '%s')",
                       args);
    for (int stage = 0; stage < STAGES; stage++) {
        char name[32];
#define NUMBERED (snprintf(name, sizeof name, "features.%d", n++), name)
        for (int i = 0; i < convs[stage]; i++) {
            x = mc_graph_conv(
                g, NUMBERED, x, size[1] << (stage < 3 ? stage : 3),
                (struct mc_conv_opts){
                    .kernel = 3, .pad = 1, .bias = 1, .init = MC_INIT_KAIMING_NORMAL_OUT});
            if (bn)
                x = mc_graph_batchnorm(g, NUMBERED, x, MC_NET_BN_EPS);
            x = mc_graph_relu(g, NUMBERED, x);
        }
        x = mc_graph_pool(g, NUMBERED, MC_OP_MAXPOOL, x, 2, 2, 0, 0);
#undef NUMBERED
    }
    x = mc_graph_globalpool(g, "avgpool", x);
    x = mc_graph_linear(g, "classifier", x, g->classes, 1, MC_INIT_TRUNCATED_NORMAL_01,
                        MC_INIT_ZERO);
    mc_graph_loss(g, "loss", x, 1, 0);
    return 0;
}

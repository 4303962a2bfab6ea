/* SPDX-License-Identifier: Apache-2.0
 *
 * Builders of the paper's networks and a few others. */
#ifndef MC_NETS_H
#define MC_NETS_H

#include "libcommon/graph/graph.h"

/* The data for which a network is built: image shape, classes, pixel normalisation. */
struct mc_net_spec {
    int channels, height, width, classes;
    float mean[MC_MAX_CHANNELS_IN], std[MC_MAX_CHANNELS_IN];
};

/* clang-format off */
/* Build by name with optional arguments after a colon.
 *
 *     tinyten                    the paper's network: 86,778 parameters for 10 classes of RGB
 *                                images; Xavier-normal weights, zero biases
 *     tinyten-dropout            the same with a dropout of .2 before the last layer
 *     resnet[:depth[,width]]     He et al.'s network for CIFAR: depth 6n+2 (default 32, at most
 *                                1166), first stage `width` (16) wide; a 3x3 stem, three stages
 *                                of n basic blocks, 1x1 projections; 466,906 parameters for 10
 *                                classes. Kaiming-normal, fan-out
 *     resnet20, 32, 44, 56, 110  aliases for those depths
 *     resnet32-dropout           resnet32 with a dropout of .5 before the last layer
 *     googlenet                  Szegedy et al.'s network in its CIFAR form. Both auxiliary heads
 *                                exist only in training. Truncated normal, sigma .01
 *     vgg[:[bn,]depth[,width]]   Simonyan and Zisserman's convolutions: depth 11, 13, 16 (default)
 *                                or 19, first stage `width` (64) wide, then one linear layer, as
 *                                usual for small images; "bn": batch norm after each convolution.
 *                                Kaiming-normal, fan-out
 *     mlp[:[bn,]width,...]       flatten, then hidden layers of these widths (default 512,512);
 *                                "bn": batch norm after each. Xavier-normal weights, zero biases
 *
 * Parameter names are torchvision's. MC_EUSAGE for an unknown name lists all networks; MC_EINPUT if
 * the image is too small for the network. */
/* clang-format on */
MC_USE_RESULT int mc_net_build(struct mc_graph **out, const char *name,
                               const struct mc_net_spec *spec, struct mc_error *err);
/* The names for messages and help texts. */
#define MC_NET_LIST                                                                                \
    "tinyten, tinyten-dropout, resnet20, resnet32, resnet32-dropout, resnet44, resnet56, "         \
    "resnet110, "                                                                                  \
    "resnet[:DEPTH[,WIDTH]], "                                                                     \
    "googlenet, vgg[:[bn,]DEPTH[,WIDTH]], mlp[:[bn,]WIDTH,...]"

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Builders of the paper's networks, and a few others, that return a graph. */
#ifndef MC_NETS_H
#define MC_NETS_H

#include "libcommon/graph/graph.h"

/* What a network is built for: one image's shape, the classes, the pixels' normalisation. */
struct mc_net_spec {
    int channels, height, width, classes;
    float mean[MC_MAX_CHANNELS_IN], std[MC_MAX_CHANNELS_IN];
};

/* clang-format off */
/* Build by name with optional arguments after a colon.
 *
 *     tinyten                    the paper's: 86,778 parameters for 10 classes of RGB images;
 *                                Xavier-normal weights, zero biases
 *     resnet[:depth[,width]]     He et al.'s for CIFAR, depth 6n+2 (32, at most 1166), first stage
 * `width` (16)
 *                                wide: a 3x3 stem, three stages of n basic blocks, 1x1 projections;
 *                                466,906 parameters for 10 classes. Kaiming-normal, fan-out
 *     resnet20, 32, 44, 56, 110  names for those depths
 *     googlenet                  Szegedy et al.'s in its CIFAR form with both auxiliary heads,
 *                                which exist while training only. Truncated normal, sigma .01
 *     vgg[:[bn,]depth[,width]]   Simonyan and Zisserman's convolutions, depth 11, 13, 16 (default)
 *                                or 19, first stage `width` (64) wide, then one linear layer, the
 *                                usual form for small images; "bn": batch norm after each
 *                                convolution. Kaiming-normal, fan-out
 *     mlp[:[bn,]width,...]       flatten, then hidden layers of these widths (512,512 unless
 *                                given), with batch norm after each where "bn" comes first;
 *                                Xavier-normal weights, zero biases
 *
 * Parameters are named as torchvision names them. An unknown name is MC_EUSAGE and lists what there
 * is; an image too small for the network is MC_EINPUT. */
/* clang-format on */
MC_USE_RESULT int mc_net_build(struct mc_graph **out, const char *name,
                               const struct mc_net_spec *spec, struct mc_error *err);
/* "tinyten, resnet[:depth[,width]] ... FILE.json" for help texts. */
const char *mc_net_list(void);

#endif

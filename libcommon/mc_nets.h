/* SPDX-License-Identifier: Apache-2.0
 *
 * Builders of the paper's networks, and a few others, that return a graph. */
#ifndef MC_NETS_H
#define MC_NETS_H

#include "mc_graph.h"

/* What a network is built for: one image's shape, the classes, the pixels' normalisation. */
struct mc_net_spec {
    int channels, height, width, classes;
    float mean[MC_MAX_CHANNELS_IN], std[MC_MAX_CHANNELS_IN];
};

/* Build by name with optional arguments after a colon.
 *
 *     tinyten                  the paper's: 86,778 parameters for 10 classes of 32x32 RGB images
 *     mlp[:[bn,]width,...]     flatten, then hidden layers of these widths (512,512 unless given),
 *                              with batch norm after each where "bn" comes first
 *
 * Both begin with Xavier-normal weights and zero biases. An unknown name is MC_EUSAGE and lists
 * what there is; an image too small for the network is MC_EINPUT. */
MC_USE_RESULT int mc_net_build(struct mc_graph **out, const char *name,
                               const struct mc_net_spec *spec, struct mc_error *err);
/* "tinyten, mlp[:[bn,]width,...]" for help texts. */
const char *mc_net_list(void);

#endif

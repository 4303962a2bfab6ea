/* SPDX-License-Identifier: Apache-2.0
 *
 * Scaling of pixels to the numbers that a network reads, the same for every backend. */
#ifndef MC_SCALING_H
#define MC_SCALING_H

#include "libcommon/graph/graph.h"

#include <string.h>

/* Byte v of channel c becomes byte[c][v], a float x becomes x * scale[c] + shift[c]. Row MC_TO_UNIT
 * scales bytes to [0,1] and keeps floats: pixels are normalized after their colours change. */
enum { MC_TO_UNIT = MC_MAX_CHANNELS_IN, MC_SCALINGS };
struct mc_scaling {
    float byte[MC_SCALINGS][256], scale[MC_SCALINGS], shift[MC_SCALINGS];
};

/* n: the node of the pixels */
static inline void mc_scaling_of(const struct mc_node *n, struct mc_scaling *s)
{
    memset(s, 0, sizeof *s);
    for (int c = 0; c < n->c && c < MC_MAX_CHANNELS_IN; c++) {
        const double mean = (double)n->mean[c], std = (double)n->std[c];
        for (int v = 0; v < 256; v++)
            s->byte[c][v] = (float)((v / 255.0 - mean) / std);
        s->scale[c] = (float)(1 / std);
        s->shift[c] = (float)(-mean / std);
    }
    for (int v = 0; v < 256; v++)
        s->byte[MC_TO_UNIT][v] = (float)(v / 255.0);
    s->scale[MC_TO_UNIT] = 1;
}

#endif

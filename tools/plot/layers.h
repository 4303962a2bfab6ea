/* SPDX-License-Identifier: Apache-2.0
 *
 * The layers of a signature, as a picture names and joins them. */
#ifndef MC_LAYERS_H
#define MC_LAYERS_H

#include "tools/plot/table.h"

#define MC_LAYER_NAME 200

/* Names along the axis of n layers: each layer's, or those of stages, which are layers that follow
 * each other and share the beginning of their names. */
struct mc_stage {
    char name[MC_LAYER_NAME];
    size_t first, end; /* layers [first, end) */
};

/* Whether a line may join two layers that follow each other in a table: unless their names are
 * those of parallel branches, as "inception3a.branch1.conv" and "inception3a.branch2.conv". */
int mc_layers_joined(const char *before, const char *layer);

/* The names of a signature's layers, or of the stages of many. *out: (*n), free it. */
MC_USE_RESULT int mc_layers_name(struct mc_stage **out, size_t *n, const struct mc_table *t,
                                 struct mc_error *err);

#endif

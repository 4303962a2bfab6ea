/* SPDX-License-Identifier: Apache-2.0
 *
 * Layers of a signature: their names in a picture, and which of them a line joins. */
#ifndef MC_LAYERS_H
#define MC_LAYERS_H

#include "tools/plot/table.h"

#define MC_LAYER_NAME 200

/* A name along the axis: of a layer, or of a stage, which is a run of layers with the same name
 * prefix. */
struct mc_stage {
    char name[MC_LAYER_NAME];
    size_t first, end; /* layers [first, end) */
};

/* Returns 1 if a line may join two consecutive layers of a table: they are not in parallel
 * branches, like "inception3a.branch1.conv" and "inception3a.branch2.conv". */
int mc_layers_joined(const char *before, const char *layer);

/* Name a signature's layers or, if there are many, stages. *out (*n): the caller frees it. */
MC_USE_RESULT int mc_layers_name(struct mc_stage **out, size_t *n, const struct mc_table *t,
                                 struct mc_error *err);
/* Name the rows of a table by the texts of the columns "A,B,...", or of the first column if NULL.
 * MC_EINPUT: a column is missing. *out (*n): the caller frees it, also after an error. */
MC_USE_RESULT int mc_rows_name(struct mc_stage **out, size_t *n, const struct mc_table *t,
                               const char *columns, struct mc_error *err);

#endif

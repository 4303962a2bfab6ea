/* SPDX-License-Identifier: Apache-2.0
 *
 * Networks without a graph: tensors, and rows of text that declare permutation groups
 * (formats/exchange/groups.md). Their struct mc_graph has rows but no nodes and no statistics.
 * mc_symmetry_derive reads the groups from the rows. */
#ifndef MC_GROUP_ROWS_H
#define MC_GROUP_ROWS_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

#define MC_MAX_ROWS_TEXT ((size_t)2 << 20) /* bytes */
#define MC_MAX_DECLARED 65536              /* groups */
#define MC_MAX_DECLARED_NAME 96            /* bytes in a tensor's name, final 0 included */

/* Make a network of these tensors (float32, unique names) with the groups of an untrusted text.
 * Comments and empty lines are dropped. MC_EINPUT: "line 7: ..." for an invalid row, or too many
 * parameters; MC_ENOMEM. */
MC_USE_RESULT int mc_graph_declare(struct mc_graph **out, const char *net,
                                   const struct mc_tensor *tensors, size_t n, const char *text,
                                   size_t bytes, struct mc_error *err);
/* Set *out to the groups that the network declares. */
MC_USE_RESULT int mc_symmetry_of_rows(struct mc_symmetry *out, const struct mc_graph *g,
                                      struct mc_error *err);

#endif

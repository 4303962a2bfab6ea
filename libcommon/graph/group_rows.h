/* SPDX-License-Identifier: Apache-2.0
 *
 * Networks that no graph says: their tensors, and rows that declare what each group permutes
 * (formats/exchange/groups.md). Such a struct mc_graph has no nodes and no statistics, and keeps
 * its rows; mc_symmetry_derive takes the groups from them. */
#ifndef MC_GROUP_ROWS_H
#define MC_GROUP_ROWS_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

#define MC_MAX_ROWS_TEXT ((size_t)1 << 20) /* bytes */
#define MC_MAX_DECLARED 65536              /* groups */
#define MC_MAX_DECLARED_NAME 96            /* bytes of a tensor's name with its final 0 */

/* A network of these tensors (float32, each name once) with the groups of an untrusted text, which
 * is kept without comments and empty lines. MC_EINPUT: "line 7: ..." for what the rows cannot be,
 * or that the tensors are too large together; MC_ENOMEM. */
MC_USE_RESULT int mc_graph_declare(struct mc_graph **out, const char *net,
                                   const struct mc_tensor *tensors, size_t n, const char *text,
                                   size_t bytes, struct mc_error *err);
/* The groups that such a network declares. */
MC_USE_RESULT int mc_symmetry_of_rows(struct mc_symmetry *out, const struct mc_graph *g,
                                      struct mc_error *err);

#endif

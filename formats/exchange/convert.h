/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights to and from foreign files. Names are PyTorch's on both sides, or whatever a map makes of
 * them; formats/exchange/convert.md says what is taken and what is refused. */
#ifndef MC_CONVERT_H
#define MC_CONVERT_H

#include "formats/exchange/foreign.h"
#include "formats/exchange/rename.h"

#define MC_CONVERT_NAMED 3 /* tensors that a message calls by name */

enum mc_convert_format { MC_CONVERT_MCZ, MC_CONVERT_SAFETENSORS, MC_CONVERT_NPZ };

/* What was done beside copying: tensors of each dtype that became float32. */
struct mc_convert_notes {
    size_t converted[MC_N_DTYPES];
    size_t left_out; /* by the map, and counts of batches */
    size_t whole;    /* tensors of integers that a network without a graph does without, */
    char names[260]; /* and the first of them */
};

/* The weights of graph g in a foreign file, which is read to its end. Nothing of P is allocated
 * before the file has shown every tensor of it in the right shape. MC_EINPUT says in one sentence
 * what is missing, left over, or of another shape or dtype. Release *out. */
MC_USE_RESULT int mc_convert_import(struct mc_weights *out, const struct mc_graph *g,
                                    const char *dataset, struct mc_foreign *f,
                                    const struct mc_rename *map, struct mc_convert_notes *notes,
                                    struct mc_error *err);
/* All of tensor i, greater than any before, of a float dtype, row-major; of float64 the nearest
 * float. */
MC_USE_RESULT int mc_convert_floats(struct mc_foreign *f, size_t i, float *dst,
                                    struct mc_error *err);
/* The tensors of a foreign file as a network without a graph, by their names: those of floating
 * point that the map does not leave out, with the groups of an untrusted text of the file `rows`.
 * Integers are buffers, not parameters, and stay out. MC_EINPUT as mc_graph_declare's, which names
 * that file, or for a dtype that is neither. mc_convert_import does the rest. */
MC_USE_RESULT int mc_convert_declare(struct mc_graph **out, const struct mc_foreign *f,
                                     const struct mc_rename *map, const char *rows,
                                     struct mc_error *err);
/* Write them in the order of a PyTorch state_dict: node by node, parameters, then statistics;
 * without a graph, in the weights' own. */
MC_USE_RESULT int mc_convert_export(const struct mc_weights *w, enum mc_convert_format format,
                                    const char *path, const struct mc_rename *map,
                                    struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Convert weights to and from foreign files. Names are PyTorch's on both sides, or those of a map.
 * formats/exchange/convert.md lists what is accepted and refused. */
#ifndef MC_CONVERT_H
#define MC_CONVERT_H

#include "formats/exchange/foreign.h"
#include "formats/exchange/rename.h"

#define MC_CONVERT_NAMED 3 /* tensors that a message names */

enum mc_convert_format { MC_CONVERT_MCZ, MC_CONVERT_SAFETENSORS, MC_CONVERT_NPZ };

struct mc_convert_notes {
    size_t converted[MC_N_DTYPES]; /* tensors of each dtype in the file, except float32 */
    size_t left_out;               /* left out by the map, and batch counters */
    size_t whole;                  /* integer tensors that a network without a graph ignores */
    char names[260];               /* names of the first */
};

/* Read the weights of graph g from a foreign file, to its end. float16 and bfloat16 remain the types
 * of their tensors (mc_weights.types); float64 is rounded to float32. Memory for parameters is allocated
 * only after all tensors are known to have the right shapes. MC_EINPUT lists tensors that are
 * missing, unexpected, or of a wrong shape or dtype. Release *out. */
MC_USE_RESULT int mc_convert_import(struct mc_weights *out, const struct mc_graph *g,
                                    const char *dataset, struct mc_foreign *f,
                                    const struct mc_rename *map, struct mc_convert_notes *notes,
                                    struct mc_error *err);
/* Read all of tensor i, which must follow earlier ones, as row-major float32. It must have a float
 * dtype; float64 is rounded. */
MC_USE_RESULT int mc_convert_floats(struct mc_foreign *f, size_t i, float *dst,
                                    struct mc_error *err);
/* Make a network without a graph from the floating-point tensors of a file that the map keeps. The
 * groups come from the untrusted text of the file `rows`. Integers are buffers and are ignored.
 * MC_EINPUT as for mc_graph_declare, with the name of `rows`, or for dtypes that are neither.
 * mc_convert_import then reads the weights. */
MC_USE_RESULT int mc_convert_declare(struct mc_graph **out, const struct mc_foreign *f,
                                     const struct mc_rename *map, const char *rows,
                                     struct mc_error *err);
/* Write weights in the order of a PyTorch state_dict: node by node, parameters, then statistics.
 * Without a graph, in their own order. Tensors have their types. */
MC_USE_RESULT int mc_convert_export(const struct mc_weights *w, enum mc_convert_format format,
                                    const char *path, const struct mc_rename *map,
                                    struct mc_error *err);

#endif

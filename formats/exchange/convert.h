/* SPDX-License-Identifier: Apache-2.0
 *
 * Convert weights to and from foreign files. Names are PyTorch's on both sides, or those of a map.
 * formats/exchange/convert.md lists what is accepted and refused. */
#ifndef MC_CONVERT_H
#define MC_CONVERT_H

#include "formats/exchange/foreign.h"
#include "formats/exchange/rename.h"
#include "formats/network/values.h"

#define MC_CONVERT_NAMED 3 /* tensors that a message names */

enum mc_convert_format { MC_CONVERT_MCZ, MC_CONVERT_SAFETENSORS, MC_CONVERT_NPZ };

struct mc_convert_notes {
    size_t converted[MC_N_DTYPES]; /* tensors of each dtype in the file, except float32 */
    size_t left_out;               /* left out by the map, and batch counters */
    size_t whole;                  /* integer tensors that a network without a graph ignores */
    char names[260];               /* names of the first */
};

/* The tensors of a network, read value by value: parameters, then statistics. */
struct mc_convert_source {
    const struct mc_graph *graph;
    enum mc_dtype *types; /* (n) of the tensors that are read */
    size_t n;
    /* Read the next n values of tensor i, in its type. Tensors are read in order. MC_EINPUT if a
     * value is not finite. */
    int (*read)(struct mc_convert_source *s, size_t i, void *x, size_t n, struct mc_error *err);
    /* Verify the end. */
    int (*end)(struct mc_convert_source *s, struct mc_error *err);
    void (*close)(struct mc_convert_source *s);
};

/* The tensors of graph g in a foreign file, all of which remain the caller's. float16 and bfloat16
 * keep their types unless f32 is set; float64 is rounded to float32. One piece of a tensor is in
 * memory, or one tensor in Fortran order. MC_EINPUT lists tensors that are missing, unexpected, or
 * of a wrong shape or dtype. */
MC_USE_RESULT int mc_convert_from_foreign(struct mc_convert_source **out, const struct mc_graph *g,
                                          struct mc_foreign *f, const struct mc_rename *map,
                                          int f32, struct mc_convert_notes *notes,
                                          struct mc_error *err);
/* The tensors of open weights. */
MC_USE_RESULT int mc_convert_from_values(struct mc_convert_source **out, struct mc_values *v,
                                         int f32, struct mc_error *err);
/* Read a source to its verified end and write it. A stream has the name of its data set and the
 * history. Foreign files have the order of a PyTorch state_dict: node by node, parameters, then
 * statistics; without a graph, the stream's order. An npz file is assembled in memory; else one
 * piece of a tensor is in memory, and on a pipe the tensors that another order delays. */
MC_USE_RESULT int mc_convert_write(struct mc_convert_source *s, enum mc_convert_format format,
                                   const char *path, const char *dataset,
                                   const struct mc_rename *map, const struct mc_history *h,
                                   struct mc_error *err);
/* Read all of tensor i as row-major float32. It must have a float
 * dtype; float64 is rounded. */
MC_USE_RESULT int mc_convert_floats(struct mc_foreign *f, size_t i, float *dst,
                                    struct mc_error *err);
/* Make a network without a graph from the floating-point tensors of a file that the map keeps. The
 * groups come from the untrusted text of the file `rows`. Integers are buffers and are ignored.
 * MC_EINPUT as for mc_graph_declare, with the name of `rows`, or for dtypes that are neither.
 * mc_convert_from_foreign then reads the weights. */
MC_USE_RESULT int mc_convert_declare(struct mc_graph **out, const struct mc_foreign *f,
                                     const struct mc_rename *map, const char *rows,
                                     struct mc_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * One row per operation: its settings, shape, tensors and symmetry. Rows are in the file of
 * their family (ops/conv.c, ops/norm.c, ...). Checks, permutation groups, readers and the
 * specification are derived from them: nothing else in libcommon, formats or tools lists
 * operations. kernels/cpu/ops and kernels/cuda/ops compute them.
 *
 * A row leaves out what most operations do: keep the input's shape, have no tensors, pass each
 * channel through. So an operation that mixes channels must set `axis`: without it, networks with
 * the operation are permuted wrongly. A learned factor per channel:
 *
 *     const struct mc_op_info mc_op_scale = {
 *         .flags = MC_OP_NORM, MC_ONE_INPUT, .fields = scale_fields,
 *         .out = "each channel times a learned factor", .tensors = scale_tensors}; */
#ifndef MC_OP_H
#define MC_OP_H

#include "libcommon/graph/graph.h"

struct mc_axes;
struct mc_field;

enum mc_op_flag {
    /* Its output is a nonlinear function of one number, and groups are observed there. */
    MC_OP_ACTIVATION = 1,
    /* A weight mixes the input's channels, so the output's channels can be permuted independently.
     * The weight has the axes (out, in, ...). */
    MC_OP_LAYER = 2,
    /* Keeps channels in place and has a factor for each; a shift too if it has a bias. */
    MC_OP_NORM = 4,
    /* Combines its inputs channel by channel. */
    MC_OP_COMBINES = 8,
    /* Its gradient is computed from its input's values, which are kept until then. */
    MC_OP_READS_INPUT = 16,
    /* Its output may replace its input in memory, and its input's gradient its output's. */
    MC_OP_IN_PLACE = 32
};

/* The tensors of a node, in the order of streams. */
struct mc_op_tensors {
    struct {
        struct mc_slot *slot; /* in the node */
        const char *suffix;   /* after the node's name: ".weight" */
        enum mc_init init;
        int is_stat, ndim;
        uint64_t shape[4];
    } list[4];
    int n;
    uint64_t fan_in, fan_out; /* a layer's; at first 1 */
};

struct mc_op_info {
    const char *in, *out; /* its inputs and its output, for graph.md */
    unsigned flags;
    int min_in, max_in;            /* number of inputs */
    const struct mc_field *fields; /* settings in stream order, ended by {0}; NULL: none */
    /* Changes n's c, h and w, which are the first input's unless they are settings. The settings
     * are in range. NULL: no change. Returns -1 with the reason in g->error (mc_graph_fail) if the
     * inputs do not fit. */
    int (*shape)(struct mc_graph *g, struct mc_node *n);
    /* Lists the tensors by mc_op_tensor. NULL: none. */
    void (*tensors)(const struct mc_graph *g, struct mc_node *n, struct mc_op_tensors *t);
    /* Gives node i its axis by the functions of axes.h. NULL: its first input's axis. */
    int (*axis)(struct mc_axes *a, int i, struct mc_error *err);
};

/* By enum mc_op. */
extern const struct mc_op_info *const mc_ops[MC_N_OPS];

#define MC_DECLARE_OP(NAME, name, ...) extern const struct mc_op_info mc_op_##name;
MC_EACH_OP(MC_DECLARE_OP)

/* 1 if the node's operation has one of the flags. */
static inline int mc_op_has(const struct mc_node *n, unsigned flags)
{
    return (mc_ops[n->op]->flags & flags) != 0;
}

/* Keeps the first error: later ones result from it. Is -1. */
#define mc_graph_fail(g, ...)                                                                      \
    ((g)->error.code ? -1 : (mc_fail(&(g)->error, MC_EINPUT, __VA_ARGS__), -1))

#endif

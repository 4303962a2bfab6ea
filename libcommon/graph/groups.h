/* SPDX-License-Identifier: Apache-2.0
 *
 * The permutation groups of a network: what each permutes, where it is seen, and the channel axis
 * of each node.
 *
 * A segment, a use and a tap hold a whole group: start is 0 and count is the group's size. (An axis
 * that could be cut further is tied to nothing that is cut there, so it is one group.) */
#ifndef MC_GROUPS_H
#define MC_GROUPS_H

#include "libcommon/graph/nesting.h"

/* A segment of an axis: `count` channels of `group` from channel `start` of the group on, each
 * taking `repeat` places on the axis; so it covers count * repeat places. */
struct mc_segment {
    int group; /* -1: fixed */
    size_t start, count, repeat;
};

struct mc_axis {
    struct mc_segment *seg;
    size_t n;
};

/* One parameter or statistics axis that a group permutes (declared groups have any axis, and may
 * lie within the units of others: libcommon/graph/uses.h has their order): places [offset, offset +
 * count * repeat) of axis `dim` of the tensor belong to channels [start, start + count) of the
 * group. Axis 1 of a convolution in G groups is counted over all its inputs: a place is in the rows
 * of one group, and there the place modulo inputs / G. */
struct mc_use {
    int is_stat;  /* tensor of graph->stats, not of graph->params */
    size_t index; /* which one */
    int dim;      /* 0: outputs (and vectors), 1: inputs */
    size_t offset, start, count, repeat;
};

/* One place where a group can be observed: channels [offset, offset + count) of node `post` are
 * channels [start, start + count) of the group; `pre` is the input of that ReLU, or `post` itself
 * where there is none.
 *
 * `post` is what a convolution or a linear layer sees of the group, before what only moves or
 * averages it: walking back from the layer through pooling, flatten, dropout, norms and scales to
 * an activation (here called ReLU), that one. An addition, a product or another layer met before
 * any is itself the place (with the norms and scales after it). A concat is walked into, branch by
 * branch. So a residual stage is seen at its stem's ReLU and at each block's last one,
 * pre-activation blocks at the ReLU that begins their branch, inception at each branch's ReLU; what
 * is summed before a ReLU is not seen alone. Each group has at least one tap, each node and offset
 * at most one.
 *
 * Groups that lie alike in the units of another share their taps, which are of the one in unit 0:
 * its count is all units' channels, unit by unit. The group of the blocks itself has none. */
struct mc_tap {
    int group;
    int post, pre;
    size_t offset, start, count;
};

/* What one group permutes. */
struct mc_uses {
    struct mc_use *use;
    size_t n;
};

struct mc_symmetry {
    struct mc_group *groups; /* in the order of the graph */
    struct mc_uses *uses;    /* (n_groups) */
    size_t n_groups;
    struct mc_tap *taps; /* of all groups, in the order of the graph */
    size_t n_taps;
    struct mc_axis *axes; /* (n_nodes): the channel axis of each node's output */
    int n_nodes;
};

/* Room for groups and what they permute, all zero; after an error too, release. */
MC_USE_RESULT int mc_symmetry_alloc(struct mc_symmetry *s, size_t n_groups, struct mc_error *err);
void mc_symmetry_release(struct mc_symmetry *s);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The permutation groups of a network: the axes that each group permutes, the nodes at which it can
 * be observed, and the channel axis of each node. "Channel" and "unit" both mean a member of a
 * group.
 *
 * Segments, uses and taps cover a whole group: count is the group's size. (If an axis could be
 * split further, nothing tied to it is split there, so it is one group.) */
#ifndef MC_GROUPS_H
#define MC_GROUPS_H

#include "libcommon/graph/nesting.h"

/* A segment of an axis: the `count` channels of `group`. Each channel occupies `repeat` entries of
 * the axis, so the segment has count * repeat entries. */
struct mc_segment {
    int group; /* -1: fixed */
    size_t count, repeat;
};

struct mc_axis {
    struct mc_segment *seg;
    size_t n;
};

/* One parameter or statistics axis that a group permutes. Entries [offset, offset + count * repeat)
 * of axis `dim` of the tensor belong to the group's channels. Axis 1 of a convolution in G groups
 * is counted over all its inputs (parts: G): entry e is column e modulo inputs / G in the rows of
 * part e / (inputs / G), one of G equal parts of axis 0. A use stays within one part. Declared
 * groups may use any axis, may count any axis after the first over parts, and may be nested;
 * libcommon/graph/uses.h defines the order in which uses apply. In a declared group that allows
 * signs, some uses may move without them, such as that of SwiGLU's gate. */
struct mc_use {
    int is_stat;  /* the tensor is in graph->stats, not graph->params */
    int no_signs; /* units move by |M|, where M is the group's map of signs */
    size_t index; /* its index there */
    int dim;      /* 0: outputs (and vectors), 1: inputs */
    size_t parts; /* 1, or the number of parts of axis 0 over which axis dim is counted */
    size_t offset, count, repeat;
};

/* A node at which a group can be observed. Channels [offset, offset + count) of node `post` are the
 * group's. If `post` is an activation, `pre` is its input, else `pre` is `post`.
 *
 * `post` is the form in which a convolution or linear layer reads the group, before nodes that only
 * move or average it. To find it, walk back from the layer through pooling, flatten, dropout, norms
 * and scales to an activation (here called ReLU). If an addition, a product or another layer comes
 * first, that node is `post`, with the norms and scales after it. Concats are walked branch by
 * branch. So a residual stage is observed at its stem's ReLU and at each block's last ReLU,
 * pre-activation blocks at the first ReLU of their branch, inception at each branch's ReLU. The
 * terms of a sum before a ReLU are not observed separately. Each group has at least one tap. Each
 * node has at most one tap per offset.
 *
 * Equal groups nested in the units of another group share the taps of the one in unit 0. The count
 * of these taps is the channels of all units, unit by unit. A group of blocks has no taps. */
struct mc_tap {
    int group;
    int post, pre;
    size_t offset, count;
};

/* The axes that one group permutes. */
struct mc_uses {
    struct mc_use *use;
    size_t n;
};

struct mc_symmetry {
    struct mc_group *groups; /* in graph order */
    struct mc_uses *uses;    /* (n_groups) */
    size_t n_groups;
    struct mc_tap *taps; /* all groups, in graph order */
    size_t n_taps;
    struct mc_axis *axes; /* (n_nodes): the channel axis of each node's output */
    int n_nodes;
};

/* Allocate zeroed groups and uses. Release them, also after an error. */
MC_USE_RESULT int mc_symmetry_alloc(struct mc_symmetry *s, size_t n_groups, struct mc_error *err);
void mc_symmetry_release(struct mc_symmetry *s);

#endif

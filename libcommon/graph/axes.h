/* SPDX-License-Identifier: Apache-2.0
 *
 * The channel axes of a graph's nodes while groups are derived. An axis is a list of segments;
 * channels of one set move together. An operation's row (op.h) gives its node an axis: new sets
 * for channels that a weight mixes, copies of its input's segments for channels that it passes
 * through, ties where two inputs meet. symmetry.c then numbers the sets.
 *
 * A node's axis is what its function appends, or another node's (mc_axes_share). A concatenation:
 *
 *     for (int k = 0; k < n->n_in && !rc; k++)
 *         rc = mc_axes_copy(a, n->in[k], 1, err); */
#ifndef MC_AXES_H
#define MC_AXES_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/union_find.h"

struct mc_axes {
    const struct mc_graph *g;
    struct mc_union_find ties;
    struct mc_uf_segment *segments; /* the segments of all axes */
    size_t n;
    struct {
        size_t first, n;
    } * axis; /* (n_nodes) into segments */
};

/* Gives every node its axis. MC_EINPUT names the node whose axis has too many segments. */
MC_USE_RESULT int mc_axes_make(struct mc_axes *a, const struct mc_graph *g, struct mc_error *err);
void mc_axes_release(struct mc_axes *a);
/* MC_EINPUT if n segments are too many for a graph. */
MC_USE_RESULT int mc_axes_check(size_t n, struct mc_error *err);

/* ---- for the operations ---------------------------------------------------------------------- */
/* Append `count` new sets of `size` channels each. Channels of a fixed set stay in place. */
MC_USE_RESULT int mc_axes_new(struct mc_axes *a, int count, int size, int fixed,
                              struct mc_error *err);
/* Append node `from`'s axis, each entry `times` times. */
MC_USE_RESULT int mc_axes_copy(struct mc_axes *a, int from, size_t times, struct mc_error *err);
/* Give node i the axis of node `of`. */
void mc_axes_share(struct mc_axes *a, int i, int of);
/* Let the channels of two nodes of the same size move together. */
MC_USE_RESULT int mc_axes_tie(struct mc_axes *a, int one, int other, struct mc_error *err);
/* Keep the channels of a node in place. */
MC_USE_RESULT int mc_axes_fix(struct mc_axes *a, int node, struct mc_error *err);
/* Cut a node's axis into `parts` equal parts: channels stay within theirs. */
MC_USE_RESULT int mc_axes_cut(struct mc_axes *a, int node, int parts, struct mc_error *err);

#endif
